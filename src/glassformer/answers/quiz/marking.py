"""Marking: the verdict on an answer, its share of the marks, and one sentence for the student."""

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

Own: TypeAlias = Fraction | Cells  # a student's own earlier answer, from which errors are carried forward
Section: TypeAlias = tuple[str, tuple[str, ...]]  # a heading and its lines


class Wrong(NamedTuple):
    """A wrong answer that a known mistake gives: its text, its value, the mistake, and what was done."""

    text: str
    value: Any
    mistake: Mistake
    what: str = ""

    @property
    def code(self) -> str:
        return self.mistake.code


@dataclass(frozen=True)
class Marked:
    """A marked answer. Each of several findings explains it alone; several mistakes in one finding were made together."""

    judged: Judged
    credit: Fraction  # the share of the marks
    says: str
    of: Fraction = Fraction(1)

    @property
    def verdict(self) -> Verdict:
        return self.judged.verdict

    @property
    def right(self) -> bool:
        """Whether the answer is right, or carried forward from an earlier mistake; another convention does not count."""
        return self.verdict in ("right", "carried")

    @property
    def missing(self) -> bool:
        return not self.judged.claim

    @property
    def unexplained(self) -> bool:
        """Whether the answer is wrong and no mistake explains it yet."""
        return self.verdict == "wrong" and not self.judged.findings and not self.credit

    @property
    def marks(self) -> Fraction:
        return self.credit * self.of

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """All mistakes that may explain the answer, each once."""
        return tuple({one.code: one for finding in self.judged.findings for one in finding.mistakes}.values())

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(mistake.code for mistake in self.mistakes)

    @property
    def mistake(self) -> str:
        """The mistake for statistics: `no_scaling`, `a or b` if it is ambiguous, `a and b` for two at once."""
        return " or ".join(" and ".join(finding.codes) for finding in self.judged.findings)

    def about(self, question: str, claim: str, truth: str, of: Fraction) -> Marked:
        """Return the same mark for an answer to a question."""
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
    """Create a mark for an answer whose question is not set yet."""
    return Marked(Judged("", "?", verdict, "", convention, tuple(findings)), Fraction(credit), says)


RIGHT = marked("right", 1, "right")
MISSING = marked("unclear", 0, "no answer")
BY_HAND = marked("unclear", 0, "cannot be graded automatically")


def unread(wanted: str) -> Marked:
    """Return the mark of an answer that cannot be read."""
    return marked("unclear", 0, f"this cannot be read as an answer; expected {wanted}")


def explained(wrongs: Iterable[Wrong], credit: Fraction = Fraction(0), says: str = "") -> Marked:
    """Return the mark of a wrong answer with the mistakes that give exactly this value, each once; `says` is appended."""
    first: dict[str, Wrong] = {}
    for wrong in wrongs:
        first.setdefault(wrong.code, wrong)
    return diagnosed([Finding((one.mistake,), (one.what,), one.value) for one in first.values()], credit, says)


def diagnosed(findings: Sequence[Finding], credit: Fraction = Fraction(0), says: str = "") -> Marked:
    """Return the mark of a wrong answer with its possible explanations, if there are any."""
    said = []
    for finding in findings:
        what = "; ".join(filter(None, finding.what)) + (", nearly" if finding.near else "")
        said.append(" and ".join(mistake.name for mistake in finding.mistakes) + (f" ({what})" if what else ""))
    why = f"wrong: {'; or '.join(said)}" if said else "wrong, and no known mistake gives this answer"
    return marked("wrong", credit, f"{why}; {says}" if says else why, findings)


def simplest(findings: Sequence[Finding]) -> Marked | None:
    """Return the mark of a wrong answer after a longer search: two mistakes together, or single ones; None if none was found."""
    together = findings[:1] if findings and len(findings[0].codes) > 1 else ()
    chosen = together or [finding for finding in findings if len(finding.codes) == 1]
    return diagnosed(chosen) if chosen else None


class Key(ABC):
    """The right answer to one question with its numbers."""

    wanted: str  # the expected notation

    @property
    @abstractmethod
    def text(self) -> str:
        """The right answer as text."""

    @property
    @abstractmethod
    def value(self) -> Any:
        """The right answer as a value; options with different values are different."""

    @abstractmethod
    def judge(self, claim: str) -> Marked:
        """Mark a claim by itself."""

    @abstractmethod
    def solution(self) -> tuple[Section, ...]:
        """Return the derivation of the right answer."""

    @abstractmethod
    def mistaken(self) -> Iterable[Wrong]:
        """Return the wrong answers of known mistakes, most likely first, none equal to the right one."""

    def wrongs(self) -> tuple[Wrong, ...]:
        """Return the wrong answers of known mistakes, computed once."""
        return self._wrongs

    @cached_property
    def _wrongs(self) -> tuple[Wrong, ...]:
        return tuple(self.mistaken())

    def searched(self, claim: str) -> Marked | None:  # noqa: B027 (a key without a longer search has none)
        """Run a longer search on a wrong claim that no single mistake gives; None without a result."""

    def own(self, claim: str) -> Own | None:  # noqa: B027
        """Return the claim as a value that later answers may follow from; None if it is invalid or degenerate."""

    def carried(self, earlier: Mapping[str, Own], claim: str) -> Marked | None:  # noqa: B027
        """Mark a claim as if the student's own earlier answers were right; None if nothing is carried."""
