"""Grading: marks with errors carried forward, the mistake behind every wrong answer, and what the class got wrong most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glassformer.algebra import Result
from glassformer.answers.quiz.keys import Judgement
from glassformer.answers.quiz.misconceptions import mistake
from glassformer.answers.quiz.statistics import Common, QuestionStatistics, Summary, common_mistakes, question_statistics, summary
from glassformer.answers.quiz.submissions import Submissions
from glassformer.answers.quiz.template import QuizSet
from glassformer.answers.quiz.variant import EVERYBODY, Item, Variant, variant

MOST_SEARCHED = 1_000  # answers for which two mistakes at once are searched for; each takes a tenth of a second


@dataclass(frozen=True)
class Marked:
    """One answer with its judgement and its marks."""

    question: str
    claim: str
    judgement: Judgement
    marks: Fraction
    of: Fraction
    truth: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "answer": self.claim,
            "verdict": self.judgement.verdict,
            "marks": float(self.marks),
            "of": float(self.of),
            "right": self.truth,
            "mistakes": list(self.judgement.codes),
            "says": self.judgement.says,
        }


@dataclass(frozen=True)
class Sheet:
    """One student's answers, marked."""

    student: str
    answers: tuple[Marked, ...]

    @property
    def marks(self) -> Fraction:
        return sum((answer.marks for answer in self.answers), Fraction(0))

    @property
    def of(self) -> Fraction:
        return sum((answer.of for answer in self.answers), Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        return {
            "student": self.student,
            "marks": float(self.marks),
            "of": float(self.of),
            "answers": [answer.to_dict() for answer in self.answers],
        }


@dataclass(frozen=True, repr=False)
class Graded(Result):
    """A class, graded."""

    quiz: QuizSet
    seed: int
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...]

    @property
    def wrong(self) -> int:
        """How many answers are not fully right."""
        return sum(not answer.judgement.right for sheet in self.sheets for answer in sheet.answers)

    @property
    def summary(self) -> Summary:
        return summary(self.sheets)

    @property
    def questions(self) -> tuple[QuestionStatistics, ...]:
        return question_statistics(self.quiz, self.sheets)

    @property
    def mistakes(self) -> tuple[Common, ...]:
        """The mistakes of the class, the commonest first."""
        return common_mistakes(self.sheets)

    def to_dict(self) -> dict[str, Any]:
        return {
            "set": self.quiz.name,
            "title": self.quiz.title,
            "seed": self.seed,
            "summary": self.summary.to_dict(),
            "students": [sheet.to_dict() for sheet in self.sheets],
            "questions": [question.to_dict() for question in self.questions],
            "mistakes": [
                common.to_dict()
                | {"name": " / ".join(mistake(code).name for code in common.codes), "sentence": mistake(common.codes[0]).sentence}
                for common in self.mistakes
            ],
            "notes": list(self.notes),
        }


def grade(quiz: QuizSet, submitted: Submissions, *, seed: int = 0, students: Sequence[str] = ()) -> Graded:
    """Judge every answer. Where students are named, each had a variant of their own; else all had the same questions."""
    everybody = variant(quiz, seed, EVERYBODY) if not students else None
    grader = _Grader()
    sheets = []
    for name in students or submitted.answers:
        own = everybody or variant(quiz, seed, name)
        sheets.append(grader.sheet(own, name, submitted.answers.get(name, {})))
    notes = list(submitted.notes)
    if grader.searched >= MOST_SEARCHED:
        notes.append(f"for two mistakes at once, the first {MOST_SEARCHED:,} unexplained answers were searched, not the others.")
    return Graded(quiz, seed, tuple(sheets), tuple(notes))


@dataclass
class _Grader:
    """Counts the long searches, so that no file can ask for too many; the same answer to the same question is searched once."""

    searched: int = 0

    def __post_init__(self) -> None:
        self._known: dict[tuple[str, str, str], Judgement | None] = {}

    def sheet(self, own: Variant, name: str, answers: Mapping[str, str]) -> Sheet:
        judged = own.judge(answers)
        marked = []
        for item in own.items:
            claim = answers.get(item.id, "").strip()
            found = self._explained(own, item, claim, judged[item.id])
            marked.append(Marked(item.id, claim, found, found.credit * item.marks, item.marks, item.key.text))
        return Sheet(name, tuple(marked))

    def _explained(self, own: Variant, item: Item, claim: str, found: Judgement) -> Judgement:
        if found.verdict != "wrong" or found.codes:
            return found
        place = (own.student, item.id, claim)
        if place not in self._known and self.searched < MOST_SEARCHED:
            self._known[place] = item.key.searched(claim)
            self.searched += self._known[place] is not None
        return self._known.get(place) or found
