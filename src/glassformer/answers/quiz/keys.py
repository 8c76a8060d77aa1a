"""What every kind of key has in common: the right answer as text, wrong ones with their mistakes, a verdict on a claim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

from glassformer.answers.quiz.misconceptions import mistake
from glassformer.answers.quiz.notation import Cells

Verdict = Literal["right", "rounded", "convention", "carried", "wrong", "unread", "missing"]
GOOD: tuple[Verdict, ...] = ("right", "carried")
Own: TypeAlias = Fraction | Cells  # a student's own earlier answer, for what is carried forward from it
Section: TypeAlias = tuple[str, tuple[str, ...]]  # a heading and its lines


class Wrong(NamedTuple):
    """A wrong answer that a known mistake gives: as text, as a value, the mistake's code, and what exactly was done."""

    text: str
    value: Any
    code: str
    what: str


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth: a verdict, the share of the marks, the mistakes that explain it, and one sentence.

    Several `codes` mean that any one of them gives this answer, unless `together`.
    """

    verdict: Verdict
    credit: Fraction
    says: str
    codes: tuple[str, ...] = ()
    together: bool = False

    @property
    def right(self) -> bool:
        return self.verdict in GOOD

    @property
    def mistake(self) -> str:
        """The mistake in one word for statistics: `no_scaling`, `a or b` where it cannot be told, `a and b` for two at once."""
        return (" and " if self.together else " or ").join(self.codes)


RIGHT = Judgement("right", Fraction(1), "right")
MISSING = Judgement("missing", Fraction(0), "no answer")


def unread(wanted: str) -> Judgement:
    """An answer that cannot be read at all."""
    return Judgement("unread", Fraction(0), f"this cannot be read as an answer: {wanted} is wanted")


def explained(wrongs: Sequence[Wrong]) -> Judgement:
    """A wrong answer with the mistakes that give exactly it; with none, that is said plainly."""
    first: dict[str, Wrong] = {}
    for wrong in wrongs:
        first.setdefault(wrong.code, wrong)
    if not first:
        return Judgement("wrong", Fraction(0), "wrong, and no known mistake gives this answer")
    several = "; or ".join(f"{mistake(wrong.code).name} ({wrong.what})" for wrong in first.values())
    return Judgement("wrong", Fraction(0), f"wrong: {several}", tuple(first))


class Key(ABC):
    """The right answer to one question with its numbers put in."""

    wanted: str  # how it is to be written

    @property
    @abstractmethod
    def text(self) -> str:
        """The right answer as it is written in a key."""

    @property
    @abstractmethod
    def value(self) -> Any:
        """The right answer as a value; two options are different where their values are."""

    @abstractmethod
    def judge(self, claim: str) -> Judgement:
        """What a claim is worth, taken by itself."""

    @abstractmethod
    def wrongs(self) -> Sequence[Wrong]:
        """The wrong answers of known mistakes, likeliest first, none of them equal to the right one."""

    @abstractmethod
    def solution(self) -> tuple[Section, ...]:
        """How the right answer comes about."""

    def searched(self, claim: str) -> Judgement | None:  # noqa: B027 (a key without a longer search has none)
        """What a longer search says of a wrong claim that no single mistake gives; None where there is none to make."""

    def own(self, claim: str) -> Own | None:  # noqa: B027
        """The claim as a value that later questions may be worked from; None where it is none."""

    def carried(self, earlier: Mapping[str, Own]) -> Key | None:  # noqa: B027
        """The key as it would be if the student's own earlier answers were right; None where nothing is carried."""
