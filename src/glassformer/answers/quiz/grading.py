"""Grading of a class: marks with errors carried forward, the mistake behind every wrong answer, and class statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from glassformer.algebra import Result
from glassformer.answers.quiz.marking import Marked
from glassformer.answers.quiz.roster import Roster, Student
from glassformer.answers.quiz.sheet import Sheet
from glassformer.answers.quiz.statistics import Common, QuestionStatistics, Summary, common_mistakes, question_statistics, summary
from glassformer.answers.quiz.submissions import Submissions
from glassformer.answers.quiz.template import QuizSet
from glassformer.answers.quiz.variant import EVERYBODY, Item, Variant, variant

MOST_SEARCHED = 1_000  # answers for which two mistakes at once are searched; each takes about 0.1 s


@dataclass(frozen=True, repr=False)
class Graded(Result):
    """A graded class."""

    quiz: QuizSet
    seed: int
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...]

    @property
    def wrong(self) -> int:
        """The number of answers that are not fully right."""
        return sum(not answer.right for sheet in self.sheets for answer in sheet.answers)

    @property
    def summary(self) -> Summary:
        return summary(self.sheets)

    @property
    def questions(self) -> tuple[QuestionStatistics, ...]:
        return question_statistics(self.sheets)

    @property
    def mistakes(self) -> tuple[Common, ...]:
        """The mistakes of the class, most common first."""
        return common_mistakes(self.sheets)

    def to_dict(self) -> dict[str, Any]:
        return {
            "set": self.quiz.name,
            "title": self.quiz.title,
            "seed": self.seed,
            "summary": asdict(self.summary),
            "students": [sheet.to_dict() for sheet in self.sheets],
            "questions": [question.to_dict() for question in self.questions],
            "mistakes": [asdict(common) for common in self.mistakes],
            "notes": list(self.notes),
        }


def grade(quiz: QuizSet, submitted: Submissions, *, seed: int = 0, roster: Roster | None = None) -> Graded:
    """Judge every answer. With a class, each student has individual numbers or a variant; otherwise all have the same."""
    given = roster or Roster(same=True)
    grader, notes, sheets = _Grader(quiz, seed), list(submitted.notes), []
    for student in given or [Student(name) for name in submitted.answers]:
        sat = submitted.variants.get(student.name, "").upper()
        if given.variants and sat not in ("", student.variant):
            known = sat in given.variants
            why = f"as stated in the answers; assigned was {student.variant}" if known else f"since there is no variant '{sat}'"
            student = replace(student, variant=sat) if known else student
            notes.append(f"{student.name}: graded with variant {student.variant}, {why}.")
        paper = grader.paper(EVERYBODY if given.same else student.drawn_for)
        sheets.append(grader.sheet(paper, student, submitted.answers.get(student.name, {})))
    if grader.searched >= MOST_SEARCHED:
        notes.append(f"only the first {MOST_SEARCHED:,} unexplained answers were searched for two mistakes at once.")
    return Graded(quiz, seed, tuple(sheets), tuple(notes))


class _Grader:
    """Grades papers and limits the number of long searches; equal answers to the same question are searched once."""

    def __init__(self, quiz: QuizSet, seed: int) -> None:
        self.paper = lru_cache(maxsize=None)(lambda name: variant(quiz, seed, name))
        self.searched = 0
        self._known: dict[tuple[str, str, str], Marked | None] = {}

    def sheet(self, own: Variant, student: Student, answers: Mapping[str, str]) -> Sheet:
        judged = own.judge(answers)
        return Sheet(student, tuple(self._explained(own, item, judged[item.id]) for item in own.items))

    def _explained(self, own: Variant, item: Item, found: Marked) -> Marked:
        place = (own.student, item.id, found.judged.claim)
        if found.unexplained and place not in self._known and self.searched < MOST_SEARCHED:
            self._known[place] = item.key.searched(found.judged.claim)
            self.searched += self._known[place] is not None
        longer = self._known.get(place) if found.unexplained else None
        return item.marked(found.judged.claim, longer) if longer else found
