"""Answers of a class from a CSV file, wide (a column a question) or long (a row an answer), from whoever wrote it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.answers.quiz.notation import MOST_CHARACTERS
from glassformer.answers.quiz.template import QuizSet
from glassformer.spec import GlassformerError, shown
from glassformer.spec.files import read_text

MOST_BYTES = 40_000_000
MOST_ROWS = 200_000
MOST_COLUMNS = 400
MOST_STUDENTS = 5_000
MOST_NAMED = 5  # strangers named in a note; the others are counted
STUDENT = ("student", "name", "students", "student name", "student id", "id", "username", "user")
QUESTION = ("question", "question id", "item")
ANSWER = ("answer", "response", "claim", "value")


@dataclass
class Submissions:
    """student -> question -> answer, in the order of the file, and what had to be left out, a line each."""

    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def put(self, student: str, question: str, answer: str) -> bool:
        """Whether this is the first answer of the student to the question; the last one counts."""
        own = self.answers.setdefault(student, {})
        first = question not in own
        own[question] = answer[: 4 * MOST_CHARACTERS + 1]
        return first


def read_names(path: Path) -> tuple[str, ...]:
    """A class list: one name a line."""
    names = [_plain(line) for line in read_text(path, most_bytes=1_000_000).splitlines()]
    names = [name for name in names if name]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None) if len(names) <= MOST_STUDENTS else ""
    if not names or len(names) > MOST_STUDENTS:
        raise GlassformerError(
            f"{shown(path.name)} holds {len(names):,} names: from 1 to {MOST_STUDENTS:,} are wanted, one a line."
        )
    if twice:
        raise GlassformerError(f"{shown(path.name)} names '{twice}' twice: every student needs a name of their own.")
    return tuple(names)


def read_submissions(path: Path, quiz: QuizSet, students: Sequence[str] = ()) -> Submissions:
    """The answers in a CSV file. `students`: who is expected; anybody where none are named."""
    text = read_text(path, most_bytes=MOST_BYTES)
    if text.strip("\ufeff \t\r\n") == "":
        raise GlassformerError(f"{shown(path.name)} is empty: a header with a column 'student' is wanted.")
    rows = _rows(text, shown(path.name))
    header = [" ".join(cell.lower().split()) for cell in next(rows)]
    student = _column(header, STUDENT)
    if student is None or len(header) > MOST_COLUMNS:
        titles = shown(", ".join(header))
        raise GlassformerError(f"{shown(path.name)} needs a column 'student' (and at most {MOST_COLUMNS}), found {titles}.")
    question, answer = _column(header, QUESTION), _column(header, ANSWER)
    reader = _Reader(quiz, {_folded(name): name for name in students}, Submissions())
    if question is not None and answer is not None:
        reader.long(rows, student, question, answer)
    else:
        reader.wide(rows, student, header)
    if len(reader.found.answers) > MOST_STUDENTS:
        raise GlassformerError(f"{shown(path.name)} holds answers of more than {MOST_STUDENTS:,} students: it was not graded.")
    reader.tell()
    if not reader.found.answers:
        reader.found.notes.append("nothing was graded: the file holds no answer of a known student to a known question.")
    return reader.found


@dataclass
class _Reader:
    quiz: QuizSet
    roster: dict[str, str]  # folded name -> name
    found: Submissions
    strangers: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    repeated: int = 0

    def long(self, rows: Iterator[list[str]], student: int, question: int, answer: int) -> None:
        names = {**{template.id.lower(): template.id for template in self.quiz.questions}, **self._numbered()}
        for row in rows:
            who = self.student(_at(row, student))
            asked = names.get(_at(row, question).strip().lower())
            if asked is None and _at(row, question).strip():
                self.unknown.setdefault(shown(_at(row, question)))
            if who and asked:
                self.repeated += not self.found.put(who, asked, _at(row, answer))

    def wide(self, rows: Iterator[list[str]], student: int, header: list[str]) -> None:
        names = {**{template.id.lower(): template.id for template in self.quiz.questions}, **self._numbered()}
        columns = {place: names[title] for place, title in enumerate(header) if title in names}
        others = {place: title for place, title in enumerate(header) if title and place not in (*columns, student)}
        self.unknown = {shown(title): None for title in others.values()}
        if not columns:
            wanted = ", ".join(template.id for template in self.quiz.questions[:6])
            raise GlassformerError(f"no column is a question of '{self.quiz.name}': {wanted}, …")
        for row in rows:
            who = self.student(_at(row, student))
            if not who:
                continue
            again = who in self.found.answers
            self.repeated += again
            for place, name in columns.items():
                if _at(row, place).strip() or not again:
                    self.found.put(who, name, _at(row, place))

    def student(self, cell: str) -> str:
        name = _plain(cell)
        if not self.roster or not name:
            return name
        known = self.roster.get(_folded(name), "")
        if not known:
            self.strangers.setdefault(name)
        return known

    def _numbered(self) -> dict[str, str]:
        """`1`, `q1`, `question 1` for the first question."""
        pairs = [(place, template.id) for place, template in enumerate(self.quiz.questions, start=1)]
        return {word.format(place): name for place, name in pairs for word in ("{}", "q{}", "question {}", "q {}")}

    def tell(self) -> None:
        notes = self.found.notes
        if self.strangers:
            notes.append(f"not in the class, not graded: {_listed(self.strangers)}.")
        if self.unknown:
            notes.append(f"no question of this set, not graded: {_listed(self.unknown)}.")
        if self.repeated:
            notes.append(f"answered more than once, the last counts: {self.repeated:,}.")


def _rows(text: str, name: str) -> Iterator[list[str]]:
    """The rows of a CSV, its separator found in the header; a broken or endless file is one line of error."""
    first = text.lstrip("\ufeff\r\n").partition("\n")[0]
    separator = max(",;\t", key=first.count)
    lines = csv.reader(text.lstrip("\ufeff").splitlines(keepends=True), delimiter=separator)
    try:
        for number, row in enumerate(line for line in lines if line):
            if number > MOST_ROWS:
                raise GlassformerError(f"{name} has more than {MOST_ROWS:,} rows: it was not graded.")
            yield row
    except csv.Error as error:
        raise GlassformerError(f"{name} is not CSV that can be read, line {lines.line_num}: {shown(str(error))}.") from None


def _column(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _at(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _plain(cell: str) -> str:
    return re.sub(r"\s+", " ", shown(cell.strip(), limit=80)).strip()


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _listed(names: dict[str, None]) -> str:
    shown_names = [shown(name, limit=40) for name in list(names)[:MOST_NAMED]]
    more = len(names) - len(shown_names)
    return ", ".join(shown_names) + (f" and {more:,} more" if more else "")
