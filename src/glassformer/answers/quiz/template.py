"""Question templates: a text with {parameters}, the subject, the convention and the marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from glassformer.answers.mistakes.catalogue import Mistake
from glassformer.answers.quiz import arithmetic
from glassformer.errors import GlassformerError, shown

Kind = Literal["quantity", "choice", "worked", "concept"]

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]{1,100})\}")


@dataclass(frozen=True)
class Option:
    """A multiple-choice option or a typed phrase: its text and, if it is wrong, the mistake."""

    text: str
    mistake: Mistake | None = None
    what: str = ""  # what was done
    letter: str = ""

    @property
    def right(self) -> bool:
        return self.mistake is None

    @property
    def code(self) -> str:
        return self.mistake.code if self.mistake else ""


@dataclass(frozen=True)
class NamedMistake:
    """A mistake that the question names; `gives` is the expression for its wrong answer, if it is the set's own."""

    mistake: Mistake
    gives: str = ""

    @property
    def code(self) -> str:
        return self.mistake.code


@dataclass(frozen=True, kw_only=True)
class Template:
    """One question before its parameters are drawn. docs/quiz.md explains the fields."""

    id: str
    kind: Kind
    text: str
    marks: Fraction = Fraction(1)
    hints: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[str, ...] = ()
    same_as: str = ""
    # The subject.
    spec: str = ""
    answer: str = ""
    problem: Mapping[str, Any] | None = None
    ask: str = ""
    cell: tuple[int, ...] = ()
    pick: str = ""
    answers: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    mistakes: tuple[NamedMistake, ...] = ()
    choices: int = 4
    # The marking.
    digits: int = 3
    tolerance: Fraction | None = None
    convention_credit: Fraction = Fraction(1, 2)
    depends_on: tuple[str, ...] = ()
    carried: str | Mapping[str, str] = ""
    # The reason.
    because: str = ""
    proof: str = ""

    @property
    def codes(self) -> tuple[str, ...]:
        """The mistakes that come first among wrong answers."""
        return tuple(named.code for named in self.mistakes)


@dataclass(frozen=True, kw_only=True)
class QuizSet:
    """A problem set: its name, title, topics, and questions in order."""

    name: str
    title: str
    about: str
    questions: tuple[Template, ...]
    source: str = field(default="", compare=False, repr=False)  # the text of the file

    @property
    def marks(self) -> Fraction:
        return sum((question.marks for question in self.questions), Fraction(0))


def filled(text: str, drawn: Mapping[str, Any]) -> str:
    """Return a text with its parameters filled in: `{d}`, `{d / h}`, `{vocab:,}`; `{{` is a brace."""

    def put(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        value = _value(found[1].partition(":")[0], drawn)
        return f"{value:,}" if found[1].endswith(":,") and isinstance(value, int) else arithmetic.as_text(value)

    return _PLACE.sub(put, text)


def filled_in(value: Any, drawn: Mapping[str, Any]) -> Any:
    """Return a table with its parameters filled in; a text that is a single parameter becomes its value."""
    if isinstance(value, Mapping):
        return {filled(str(key), drawn): filled_in(item, drawn) for key, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item, drawn) for item in value]
    if not isinstance(value, str):
        return value
    alone = _PLACE.fullmatch(value.strip())
    return _value(alone[1], drawn) if alone and alone[1] else filled(value, drawn)


def placeholders(value: Any) -> set[str]:
    """Return the names between braces in a text or a table."""
    if isinstance(value, Mapping):
        return placeholders([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        return {name for item in value for name in placeholders(item)}
    inside = [found[1].partition(":")[0] for found in _PLACE.finditer(value) if found[1]] if isinstance(value, str) else []
    return {name for text in inside for name in arithmetic.names_used(text)}


def _value(text: str, drawn: Mapping[str, Any]) -> Any:
    if text.strip() in drawn:
        return drawn[text.strip()]
    found = arithmetic.number_of(text, drawn)
    if found.denominator != 1:
        raise GlassformerError(f"{{{shown(text)}}} is {found}: only whole numbers can be inserted into a text.")
    return int(found)
