"""What an answer is worth: the verdict on it, its share of the marks, and one sentence for the student."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from glassformer.answers.mistakes.catalogue import Mistake
from glassformer.answers.quiz.claims import Cells
from glassformer.answers.verdicts import Finding, Judged, Verdict

Own: TypeAlias = Fraction | Cells  # a student's own earlier answer, for what is carried forward from it
Section: TypeAlias = tuple[str, tuple[str, ...]]  # a heading and its lines


class Wrong(NamedTuple):
    """A wrong answer that a known mistake gives: as text, as a value, the mistake, and what exactly was done."""

    text: str
    value: Any
    mistake: Mistake
    what: str = ""

    @property
    def code(self) -> str:
        return self.mistake.code


@dataclass(frozen=True)
class Marked:
    """An answer, marked. Several findings mean that each of them explains it; two mistakes of one finding were both made."""

    judged: Judged
    credit: Fraction  # the share of the marks
    says: str
    of: Fraction = Fraction(1)

    @property
    def verdict(self) -> Verdict:
        return self.judged.verdict

    @property
    def right(self) -> bool:
        """Right by itself, or carried forward from an earlier mistake; another convention is not what was asked for."""
        return self.verdict in ("right", "carried")

    @property
    def missing(self) -> bool:
        return not self.judged.claim

    @property
    def unexplained(self) -> bool:
        """Wrong, and worth a longer search for the mistakes behind it."""
        return self.verdict == "wrong" and not self.judged.findings and not self.credit

    @property
    def marks(self) -> Fraction:
        return self.credit * self.of

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """Every mistake that may be behind the answer, each once."""
        return tuple({one.code: one for finding in self.judged.findings for one in finding.mistakes}.values())

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(mistake.code for mistake in self.mistakes)

    @property
    def mistake(self) -> str:
        """For statistics: `no_scaling`, `a or b` where it cannot be told, `a and b` for two at once."""
        return " or ".join(" and ".join(finding.codes) for finding in self.judged.findings)

    def about(self, question: str, claim: str, truth: str, of: Fraction) -> Marked:
        """The same for an answer to that question."""
        return replace(self, judged=replace(self.judged, name=question, claim=claim, truth=truth), of=of)

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.judged.name,
            "answer": self.judged.claim,
            "verdict": "missing" if self.missing else self.verdict,
            "marks": float(self.marks),
            "of": float(self.of),
            "right": self.judged.truth,
            "mistakes": list(self.codes),
            "says": self.says,
        }


def marked(verdict: Verdict, credit: Fraction | int, says: str, findings: Sequence[Finding] = (), convention: str = "") -> Marked:
    """A mark for an answer whose question is not named yet."""
    return Marked(Judged("", "?", verdict, "", convention, tuple(findings)), Fraction(credit), says)


RIGHT = marked("right", 1, "right")
MISSING = marked("unclear", 0, "no answer")
BY_HAND = marked("unclear", 0, "cannot be graded automatically")


def unread(wanted: str) -> Marked:
    """An answer that cannot be read."""
    return marked("unclear", 0, f"this cannot be read as an answer; expected: {wanted}")


def explained(wrongs: Iterable[Wrong], credit: Fraction = Fraction(0), says: str = "") -> Marked:
    """A wrong answer with the mistakes that give exactly this value, each once; `says` follows."""
    first: dict[str, Wrong] = {}
    for wrong in wrongs:
        first.setdefault(wrong.code, wrong)
    return diagnosed([Finding((one.mistake,), (one.what,), one.value) for one in first.values()], credit, says)


def diagnosed(findings: Sequence[Finding], credit: Fraction = Fraction(0), says: str = "") -> Marked:
    """A wrong answer: what explains it, alternatives apart; or that nothing does."""
    said = []
    for finding in findings:
        what = "; ".join(filter(None, finding.what)) + (", nearly" if finding.near else "")
        said.append(" and ".join(mistake.name for mistake in finding.mistakes) + (f" ({what})" if what else ""))
    why = f"wrong: {'; or '.join(said)}" if said else "wrong, and no known mistake gives this answer"
    return marked("wrong", credit, f"{why}; {says}" if says else why, findings)


def simplest(findings: Sequence[Finding]) -> Marked | None:
    """A wrong answer after a longer search: two mistakes made together, else single ones; None where nothing was found."""
    together = findings[:1] if findings and len(findings[0].codes) > 1 else ()
    chosen = together or [finding for finding in findings if len(finding.codes) == 1]
    return diagnosed(chosen) if chosen else None


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
    def judge(self, claim: str) -> Marked:
        """What a claim is worth, taken by itself."""

    @abstractmethod
    def solution(self) -> tuple[Section, ...]:
        """How the right answer comes about."""

    @abstractmethod
    def mistaken(self) -> Iterable[Wrong]:
        """The wrong answers of known mistakes, likeliest first, none of them equal to the right one."""

    def wrongs(self) -> tuple[Wrong, ...]:
        """The same, worked out once."""
        return self._wrongs

    @cached_property
    def _wrongs(self) -> tuple[Wrong, ...]:
        return tuple(self.mistaken())

    def searched(self, claim: str) -> Marked | None:  # noqa: B027 (a key without a longer search has none)
        """What a longer search says of a wrong claim that no single mistake gives; None where there is none to make."""

    def own(self, claim: str) -> Own | None:  # noqa: B027
        """The claim as a value that later questions may be worked from; None where it is none, or a degenerate one."""

    def carried(self, earlier: Mapping[str, Own], claim: str) -> Marked | None:  # noqa: B027
        """What a claim is worth if the student's own earlier answers were right; None where nothing is carried."""
