"""A question as its set states it: text with {parameters}, what is asked, under which convention, for how many marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from glassformer.answers.mistakes.catalogue import Mistake
from glassformer.answers.quiz import arithmetic
from glassformer.spec import GlassformerError, shown

Kind = Literal["quantity", "choice", "worked", "concept"]

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]{1,100})\}")


@dataclass(frozen=True, kw_only=True)
class WrittenOption:
    """An option (or a typed phrase) that the set spells out: what it says, and the mistake that a wrong one is."""

    says: str
    mistake: Mistake | None = None
    why: str = ""

    @property
    def right(self) -> bool:
        return self.mistake is None


@dataclass(frozen=True, kw_only=True)
class NamedMistake:
    """A mistake that the question names; `gives`: the wrong answer that it leads to, as an expression of the set's own."""

    mistake: Mistake
    gives: str = ""

    @property
    def code(self) -> str:
        return self.mistake.code


@dataclass(frozen=True, kw_only=True)
class Template:
    """One question before its parameters are drawn. What a field means is said in docs/quiz.md."""

    id: str
    kind: Kind
    text: str
    marks: Fraction = Fraction(1)
    hints: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[str, ...] = ()
    same_as: str = ""
    # What is asked.
    spec: str = ""
    answer: str = ""
    ask: str = ""
    problem: Mapping[str, Any] | None = None
    cell: tuple[int, ...] = ()
    pick: str = ""
    answers: tuple[str, ...] = ()
    options: tuple[WrittenOption, ...] = ()
    mistakes: tuple[NamedMistake, ...] = ()
    choices: int = 4
    # How it is judged.
    digits: int = 3
    tolerance: Fraction | None = None
    convention_credit: Fraction = Fraction(1, 2)
    depends_on: tuple[str, ...] = ()
    carried: str | Mapping[str, str] = ""
    # Why it is so.
    because: str = ""
    proof: str = ""

    @property
    def codes(self) -> tuple[str, ...]:
        """The mistakes that come first among wrong answers."""
        return tuple(named.code for named in self.mistakes)


@dataclass(frozen=True, kw_only=True)
class QuizSet:
    """A problem set: its name, its title, what it is about, and its questions in order."""

    name: str
    title: str
    about: str
    questions: tuple[Template, ...]
    source: str = field(default="", compare=False, repr=False)  # the file's own text

    @property
    def marks(self) -> Fraction:
        return sum((question.marks for question in self.questions), Fraction(0))

    def question(self, name: str) -> Template:
        return next(question for question in self.questions if question.id == name)


def filled(text: str, drawn: Mapping[str, Any]) -> str:
    """The text with its parameters put in: `{d}`, `{d / h}`, `{vocab:,}`; `{{` is a brace."""

    def put(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        return written(_value(found[1].partition(":")[0], drawn), thousands=found[1].endswith(":,"))

    return _PLACE.sub(put, text)


def filled_in(value: Any, drawn: Mapping[str, Any]) -> Any:
    """A table of a file with its parameters put in; a text that is one parameter becomes its value."""
    if isinstance(value, Mapping):
        return {filled(str(key), drawn): filled_in(item, drawn) for key, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item, drawn) for item in value]
    if not isinstance(value, str):
        return value
    alone = _PLACE.fullmatch(value.strip())
    return _value(alone[1], drawn) if alone and alone[1] else filled(value, drawn)


def written(value: Any, *, thousands: bool = False) -> str:
    """A drawn value as text."""
    if isinstance(value, list):
        return f"[{', '.join(written(item) for item in value)}]"
    return f"{value:,}" if thousands and isinstance(value, int) else str(value)


def placeholders(value: Any) -> set[str]:
    """The names that a text or a table speaks of."""
    if isinstance(value, Mapping):
        return {name for pair in value.items() for item in pair for name in placeholders(item)}
    if isinstance(value, list | tuple):
        return {name for item in value for name in placeholders(item)}
    if not isinstance(value, str):
        return set()
    inside = [found[1].partition(":")[0] for found in _PLACE.finditer(value) if found[1]]
    return {name for text in inside for name in arithmetic.names_used(text)}


def _value(text: str, drawn: Mapping[str, Any]) -> Any:
    if text.strip() in drawn:
        return drawn[text.strip()]
    found = arithmetic.number_of(text, drawn)
    if found.denominator != 1:
        raise GlassformerError(f"{{{shown(text)}}} is {found}: only whole numbers can be put into a text.")
    return int(found)
