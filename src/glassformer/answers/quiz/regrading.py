"""Regrading after a correction of the key: both marks for each student and question, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.algebra import Result
from glassformer.answers.quiz.grading import Graded
from glassformer.answers.quiz.marking import Marked
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json, read_text

MOST_BYTES = 100_000_000


class Before(NamedTuple):
    """An answer in an earlier report."""

    answer: str
    right: str
    says: str
    marks: Fraction
    of: Fraction


class Change(NamedTuple):
    """One answer in both gradings; `why` is empty if nothing changed."""

    student: str
    now: Marked
    before: Before | None
    why: str

    @property
    def moved(self) -> bool:
        return self.before is None or self.before.marks != self.now.marks

    def to_dict(self) -> dict[str, Any]:
        before = float(self.before.marks) if self.before else None
        question, answer = self.now.judged.name, self.now.judged.claim
        both = {"before": before, "now": float(self.now.marks), "changed": self.moved, "why": self.why}
        return {"student": self.student, "question": question, "answer": answer, **both}


@dataclass(frozen=True, repr=False)
class Regraded(Result):
    """A class with the marks of two gradings."""

    graded: Graded
    changes: tuple[Change, ...]  # every student and question, in the order of the new grading
    gone: tuple[str, ...]  # students who are only in the earlier report

    @property
    def moved(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.moved)

    def to_dict(self) -> dict[str, Any]:
        again = {"changed": len(self.moved), "answers": [change.to_dict() for change in self.changes], "gone": list(self.gone)}
        return self.graded.to_dict() | {"again": again}


def read_report(path: Path) -> dict[str, dict[str, Before]]:
    """Read an earlier report of `quiz grade --json`: student -> question -> answer."""
    document = parse_json(read_text(path, most_bytes=MOST_BYTES), path.name)
    try:
        return {sheet["student"]: {row["question"]: _before(row) for row in sheet["answers"]} for sheet in document["students"]}
    except (KeyError, TypeError, ValueError):
        wanted = "give the output of an earlier 'quiz grade --json'"
        raise GlassformerError(f"--again {shown(path.name)} is not a report: {wanted}.") from None


def regrade(graded: Graded, earlier: Mapping[str, Mapping[str, Before]]) -> Regraded:
    """Compare a new grading with an earlier one."""
    changes = []
    for sheet in graded.sheets:
        for answer in sheet.answers:
            before = earlier.get(sheet.student.name, {}).get(answer.judged.name)
            changes.append(Change(sheet.student.name, answer, before, _why(answer, before)))
    present = {change.student for change in changes}
    return Regraded(graded, tuple(changes), tuple(name for name in earlier if name not in present))


def _before(row: Mapping[str, Any]) -> Before:
    marks, of = (Fraction(float(row[key])).limit_denominator(10_000) for key in ("marks", "of"))
    return Before(str(row["answer"]), str(row["right"]), str(row["says"]), marks, of)


def _why(now: Marked, before: Before | None) -> str:
    """Return what changed between two gradings of an answer, and why its mark changed."""
    if before is None:
        return "not in the earlier report"
    was, said = shown(before.right, limit=40), shown(before.says, limit=80)
    reasons = [
        (now.judged.claim != before.answer, f"the answer changed; it was '{shown(before.answer, limit=40)}'"),
        (now.judged.truth != before.right, f"the key was {was} and is now {shown(now.judged.truth, limit=40)}"),
        (now.of != before.of, f"the question was worth {float(before.of):g} and is now worth {float(now.of):g}"),
        (now.marks != before.marks and now.says != before.says, f"the verdict changed; it was '{said}'"),
        (now.marks != before.marks, "the credit for conventions changed"),
    ]
    plain = [reason for holds, reason in reasons[:3] if holds]
    return "; ".join(plain or [reason for holds, reason in reasons[3:] if holds][:1])
