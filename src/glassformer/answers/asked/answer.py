"""What an answer is: the value, its convention, its derivation, the other usual conventions, and the values of known mistakes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from glassformer.algebra import Result
from glassformer.answers.questions import Question
from glassformer.spec.reading import Request

if TYPE_CHECKING:
    from glassformer.answers.asked.growth import Growth


class Numbers(tuple[Any, ...]):
    """A vector, or the rows of a matrix: numbers that were worked out, and no sizes of a tensor."""


Value: TypeAlias = int | float | tuple[int, ...] | Numbers


@dataclass(frozen=True)
class Line:
    """One step of a derivation: symbols, numbers put in, result."""

    what: str
    symbols: str
    numbers: str
    value: Value

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "symbols": self.symbols, "numbers": self.numbers, "value": plain_value(self.value)}


@dataclass(frozen=True)
class Other:
    """The value under another usual convention; `excuses`: a claim of this value is right, once the convention is said."""

    convention: str
    value: Value
    excuses: bool = True
    code: str = ""  # the mistake that it would be to give this value without saying so

    def to_dict(self) -> dict[str, Any]:
        return {"convention": self.convention, "value": plain_value(self.value)}


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """The answer to a question about an encoder."""

    question: Question
    asked: Request
    value: Value
    unit: str
    convention: str
    lines: tuple[Line, ...]
    others: tuple[Other, ...]
    wrongs: tuple[Other, ...] = ()  # values that a known mistake gives: `code` says which, `convention` what was done
    growth: Growth | None = None  # of a complexity: its class, and the same as others write it
    other_growths: tuple[tuple[str, Growth], ...] = ()
    assumed: tuple[str, ...] = ()  # sizes that a question without a spec leaves unsaid, and that are usual
    reading: Literal["whole", "lenient", "partial"] = "whole"  # how much of the question was left out to understand it
    family: tuple[str, ...] = ()  # encoders that a name without a size may mean, where they differ in this
    also: Request | None = None  # another encoder with the sizes that such a question says: what is made up is told by it

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question.text,
            "label": self.asked.label,
            "spec": self.asked.spec.to_dict(),
            "value": plain_value(self.value),
            "total": plain_value(self.value),
            "unit": self.unit,
            "convention": self.convention,
            "rows": [line.to_dict() for line in self.lines],
            "left_out": [],
            "others": [other.to_dict() for other in self.others],
        }


def made(
    question: Question,
    asked: Request,
    value: Value,
    unit: str,
    convention: str,
    lines: Iterable[Line],
    others: Iterable[Other],
    wrongs: Iterable[Other] = (),
) -> Answer:
    """An answer whose other conventions are those that give another value, each value once."""
    unique: dict[Value, Other] = {}
    for other in others:
        if other.value != value:
            unique.setdefault(other.value, other)
    mistaken = tuple(wrong for wrong in wrongs if wrong.value not in (value, *unique))
    return Answer(question, asked, value, unit, convention, tuple(lines), tuple(unique.values()), mistaken)


def plain_value(value: Value) -> Any:
    """As JSON has it."""
    return [plain_value(part) for part in value] if isinstance(value, tuple) else value


def mistaken(code: str, what: str, value: Value) -> Other:
    """The value that a known mistake gives, and what exactly was done."""
    return Other(what, value, excuses=False, code=code)
