"""An exam, question by question: no feedback before the end; each answer is saved, so it can be resumed."""

from __future__ import annotations

import csv
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

from glassformer.answers.quiz import Item, Variant
from glassformer.answers.quiz.roster import unquoted
from glassformer.api.quiz_session import SKIP, QuizPrompt, Stopped
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_text
from glassformer.show.quiz.page import marks_text
from glassformer.show.quiz.report import inert

HEADER = ["student", "question", "answer", "at"]
MOST_BYTES = 4_000_000


@dataclass
class AnswerFile:
    """The CSV that `quiz grade` reads. Its first row has no question: it stores the exam and its start time."""

    path: Path
    student: str
    exam: str  # set, seed and variant

    def resume(self) -> tuple[dict[str, str], float | None]:
        """Return the saved answers and the start time; empty if there is no file yet."""
        if not self.path.exists():
            return {}, None
        text = read_text(self.path, most_bytes=MOST_BYTES)
        whole = text[: text.rfind("\n") + 1]  # a crash may have cut the last row short
        rows = [row for row in csv.reader(whole.splitlines()) if len(row) == len(HEADER)]
        if not rows or rows[0] != HEADER or len(rows) < 2 or rows[1][1:3] != ["", self.exam] or rows[1][0] != inert(self.student):
            raise GlassformerError(f"--answers {shown(str(self.path))} belongs to another student or exam: choose another file.")
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return {row[1]: unquoted(row[2]) for row in rows[2:]}, datetime.fromisoformat(rows[1][3]).timestamp()

    def begin(self, now: float) -> None:
        self._write("w", [HEADER, self._row("", self.exam, now)])

    def add(self, question: str, answer: str, now: float) -> None:
        self._write("a", [self._row(question, answer, now)])

    def _row(self, question: str, answer: str, now: float) -> list[str]:
        return [inert(self.student), question, inert(answer), datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")]

    def _write(self, mode: str, rows: list[list[str]]) -> None:
        try:
            with self.path.open(mode, newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            why = shown(error.strerror or str(error))
            raise GlassformerError(f"--answers {shown(str(self.path))} cannot be written: {why}. Choose another file.") from None


class Exam(QuizPrompt):
    """One exam, possibly resumed: questions that have an answer are not asked again."""

    def __init__(
        self, variant: Variant, file: AnswerFile, *, out: TextIO, minutes: float | None = None,
        ask: Callable[[], str] | None = None, clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        super().__init__(variant, out=out, **({"ask": ask} if ask else {}))
        self.file, self.minutes, self.clock = file, minutes, clock
        self.won: dict[str, Fraction] = {}

    def run(self) -> None:
        self.answers, began = self.file.resume()
        if began is None:
            began = self.clock()
            self.file.begin(began)
        self.ends = began + 60 * self.minutes if self.minutes is not None else None
        self._greet()
        try:
            waiting = [item for item in self.variant.items if item.id not in self.answers]
            skipped = [item for item in waiting if not self.question(item)]
            for item in skipped if skipped and not self.late() else ():
                self.question(item)
        except Stopped:
            if not self.late():
                self.say(f"\nSaved in {self.file.path}. Run the same command to continue.")
                return
        self.report()

    def late(self) -> bool:
        return self.ends is not None and self.clock() >= self.ends

    def _greet(self) -> None:
        quiz = self.variant.quiz
        limit = f" {self.minutes:g} minutes." if self.minutes is not None else ""
        before = f" {len(self.answers)} answers are already saved." if self.answers else ""
        self.say(
            f"{quiz.title}: {len(quiz.questions)} questions, {marks_text(quiz.marks)}.{limit}{before} "
            "Type skip to return to a question at the end, quit to stop."
        )

    def question(self, item: Item) -> bool:
        """Ask a question and return whether it was answered; a late answer is not counted."""
        if self.late():
            self.say("Time is up.")
            raise Stopped
        self.present(item)
        if self.ends is not None:
            self.say(f"({max(1, round((self.ends - self.clock()) / 60))} minutes left)")
        claim = self.read(item.key.wanted)
        if self.late():
            self.say("Time is up: this answer was too late.")
            raise Stopped
        if not claim or claim.lower() in SKIP:
            return False
        self.answers[item.id] = claim
        self.file.add(item.id, claim, self.clock())
        return True

    def report(self) -> None:
        """Print every question with its marks and mistakes, and the total."""
        judged = self.variant.judge(self.answers)
        self.say("")
        for item in self.variant.items:
            found = judged[item.id]
            found = (item.key.searched(self.answers[item.id]) or found) if found.unexplained else found
            self.won[item.id] = found.credit * item.marks
            self.say(f"{item.number}. {item.id}")
            self.told(found, self.won[item.id])
        self.total(self.won, Counter((one.name, one.code) for found in judged.values() for one in found.mistakes))
        self.say(f"Your answers are in {self.file.path}.")

    def to_dict(self) -> dict[str, Any]:
        return self.document(self.won) | {"file": str(self.file.path)}
