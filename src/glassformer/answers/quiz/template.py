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


@dataclass(frozen=True)
class Option:
    """An option of a multiple choice, or a typed phrase: what it says and, where it is wrong, the mistake behind it."""

    text: str
    mistake: Mistake | None = None
    what: str = ""  # what exactly was done
    letter: str = ""

    @property
    def right(self) -> bool:
        return self.mistake is None

    @property
    def code(self) -> str:
        return self.mistake.code if self.mistake else ""


@dataclass(frozen=True)
class NamedMistake:
    """A mistake that the question names; `gives`: the wrong answer that it leads to, as an expression of the set's own."""

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
    # What is asked.
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


def filled(text: str, drawn: Mapping[str, Any]) -> str:
    """The text with its parameters put in: `{d}`, `{d / h}`, `{vocab:,}`; `{{` is a brace."""

    def put(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        value = _value(found[1].partition(":")[0], drawn)
        return f"{value:,}" if found[1].endswith(":,") and isinstance(value, int) else arithmetic.as_text(value)

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


def placeholders(value: Any) -> set[str]:
    """The names between braces in a text or a table."""
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
        raise GlassformerError(f"{{{shown(text)}}} is {found}: only whole numbers can be put into a text.")
    return int(found)
