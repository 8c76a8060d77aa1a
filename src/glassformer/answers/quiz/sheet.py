"""One student's answers, marked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glassformer.answers.quiz.marking import Marked
from glassformer.answers.quiz.roster import Student


@dataclass(frozen=True)
class Sheet:
    """One student's answers, marked."""

    student: Student
    answers: tuple[Marked, ...]

    @property
    def marks(self) -> Fraction:
        return sum((answer.marks for answer in self.answers), Fraction(0))

    @property
    def of(self) -> Fraction:
        return sum((answer.of for answer in self.answers), Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        variant = {"variant": self.student.variant} if self.student.variant else {}
        return {
            "student": self.student.name,
            **variant,
            "marks": float(self.marks),
            "of": float(self.of),
            "answers": [answer.to_dict() for answer in self.answers],
        }
