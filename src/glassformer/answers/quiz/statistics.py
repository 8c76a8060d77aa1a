"""Statistics of a graded class: marks, difficulty and discrimination of each question, most common mistakes."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from glassformer.answers.quiz.marking import Marked
from glassformer.answers.quiz.sheet import Sheet

FEWEST = 5  # the fewest students for a correlation
OUTCOMES = ("answered", "right", "carried", "partly", "wrong", "unread", "missing")


@dataclass(frozen=True)
class Summary:
    """The marks of a class."""

    students: int
    of: float
    mean: float
    median: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class QuestionStatistics:
    """One question: the number of answers by outcome, the share of marks won, and the mistakes.

    `tells_apart` (discrimination) is the correlation of its marks with those of the rest of the set, if defined.
    """

    question: str
    outcomes: dict[str, int]
    share: float
    tells_apart: float | None
    mistakes: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        whole: dict[str, Any] = asdict(self)
        return {"question": self.question, **whole.pop("outcomes"), **whole}


@dataclass(frozen=True)
class Common:
    """A mistake: how often it was made, by how many students, and in which questions."""

    mistake: str
    name: str
    sentence: str
    count: int
    students: int
    questions: tuple[str, ...]


def summary(sheets: Sequence[Sheet]) -> Summary:
    """Return mean, median and range of the marks."""
    marks = [float(sheet.marks) for sheet in sheets] or [0.0]
    of = float(sheets[0].of) if sheets else 0.0
    return Summary(len(sheets), of, statistics.fmean(marks), statistics.median(marks), min(marks), max(marks))


def question_statistics(sheets: Sequence[Sheet]) -> tuple[QuestionStatistics, ...]:
    """Return the statistics of every question, in order."""
    totals, found = [sheet.marks for sheet in sheets], []
    for answers in zip(*(sheet.answers for sheet in sheets), strict=True):
        own = [answer.marks for answer in answers]
        counts = Counter(_outcome(answer) for answer in answers)
        counts["answered"] = len(answers) - counts["missing"]
        possible = sum((answer.of for answer in answers), Fraction(0))
        found.append(
            QuestionStatistics(
                answers[0].judged.name,
                {outcome: counts[outcome] for outcome in OUTCOMES},
                float(sum(own, Fraction(0)) / possible) if possible else 0.0,
                _correlation(own, [total - mark for total, mark in zip(totals, own, strict=True)]),
                dict(_ranked(Counter(answer.mistake for answer in answers if answer.codes))),
            )
        )
    return tuple(found)


def common_mistakes(sheets: Sequence[Sheet]) -> tuple[Common, ...]:
    """Return the mistakes that were made, most common first."""
    made: dict[str, list[tuple[str, Marked]]] = {}
    for sheet in sheets:
        for answer in sheet.answers:
            if answer.codes:
                made.setdefault(answer.mistake, []).append((sheet.student.name, answer))
    found = []
    for mistake, count in _ranked(Counter({mistake: len(pairs) for mistake, pairs in made.items()})):
        first, students = made[mistake][0][1], {student for student, _ in made[mistake]}
        questions = tuple(dict.fromkeys(answer.judged.name for _, answer in made[mistake]))
        name = " or ".join(" and ".join(one.name for one in finding.mistakes) for finding in first.judged.findings)
        found.append(Common(mistake, name, first.mistakes[0].sentence, count, len(students), questions))
    return tuple(found)


def _outcome(answer: Marked) -> str:
    """Return the column in which an answer is counted."""
    if answer.missing or answer.right:
        return "missing" if answer.missing else answer.verdict
    if answer.verdict == "convention" or answer.credit:
        return "partly"
    return "unread" if answer.verdict == "unclear" else "wrong"


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _correlation(one: Sequence[Fraction], other: Sequence[Fraction]) -> float | None:
    if len(one) < FEWEST or len(set(one)) < 2 or len(set(other)) < 2:
        return None
    return round(statistics.correlation([float(x) for x in one], [float(x) for x in other]), 3)
