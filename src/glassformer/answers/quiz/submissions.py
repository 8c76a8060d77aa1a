"""Answers of a class from CSV files, wide (one column per question) or long (one row per answer)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.answers.quiz.claims import MOST_CHARACTERS
from glassformer.answers.quiz.roster import MOST_STUDENTS, NAME, Roster, folded, plain_name, rows, unquoted
from glassformer.answers.quiz.template import QuizSet
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_text

MOST_BYTES = 40_000_000
MOST_COLUMNS = 400
MOST_FILES = 5_000
MOST_NAMED = 5  # names listed in a note; the others are counted
QUESTION = ("question", "question id", "item")
ANSWER = ("answer", "response", "claim", "value")
# Notes on what was not graded, or how, in the order of the report.
REASONS = STRANGER, AMBIGUOUS, ALIKE, UNKNOWN, REPEATED, UNREAD = (
    "not in the class, not graded",
    "ambiguous, not graded; write the name as in the class list",
    "graded as different students, although the names differ only in accents, case or order",
    "not a question of this set, not graded",
    "answered more than once, the last answer counts",
    "files that were not graded",
)


@dataclass
class Submissions:
    """student -> question -> answer, in the order of the file, and one note for each thing that was left out."""

    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    variants: dict[str, str] = field(default_factory=dict)  # student -> the variant stated with the answers

    def put(self, student: str, question: str, answer: str) -> bool:
        """Store an answer, and return whether it is the student's first one to the question; the last one counts."""
        own = self.answers.setdefault(student, {})
        first = question not in own
        own[question] = unquoted(answer)[: 4 * MOST_CHARACTERS + 1]
        return first


def read_submissions(path: Path, quiz: QuizSet, roster: Roster | None = None) -> Submissions:
    """Read the answers in a CSV file, or in all CSV files of a folder. Without a `roster`, any student is accepted."""
    reader = _Reader(quiz, roster or Roster())
    (reader.folder if is_folder(path) else reader.file)(path)
    if len(reader.found.answers) > MOST_STUDENTS:
        raise GlassformerError(f"{shown(path.name)} contains answers of more than {MOST_STUDENTS:,} students, which is too many.")
    reader.tell()
    if not reader.found.answers:
        reader.found.notes.append("nothing was graded: no known student answered a known question.")
    return reader.found


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


class _Reader:
    """Collects answers, and lists what was not graded by reason."""

    def __init__(self, quiz: QuizSet, roster: Roster) -> None:
        self.quiz, self.roster, self.found = quiz, roster, Submissions()
        self.listed: dict[str, dict[str, None]] = {reason: {} for reason in REASONS}
        self.questions = {template.id.lower(): template.id for template in quiz.questions}
        for place, template in enumerate(quiz.questions, start=1):
            self.questions |= {word.format(place): template.id for word in ("{}", "q{}", "question {}", "q {}")}

    def note(self, reason: str, what: str) -> None:
        self.listed[reason].setdefault(what)

    def folder(self, path: Path) -> None:
        """Read every CSV below a folder; unreadable files are listed, and the others are graded."""
        files = sorted(entry for entry in path.rglob("*") if entry.suffix.lower() == ".csv" and entry.is_file())
        if not 0 < len(files) <= MOST_FILES:
            raise GlassformerError(f"{shown(path.name)} contains {len(files):,} CSV files: expected 1 to {MOST_FILES:,}.")
        for file in files:
            try:
                self.file(file)
            except GlassformerError as error:
                self.note(UNREAD, f"{shown(str(file.relative_to(path)))} ({error})")

    def file(self, path: Path) -> None:
        text = read_text(path, most_bytes=MOST_BYTES)
        if text.strip("\ufeff \t\r\n") == "":
            raise GlassformerError(f"{shown(path.name)} is empty: expected a header with a column 'student'.")
        lines = rows(text, path.name)
        header = [" ".join(cell.lower().split()) for cell in next(lines)]
        student = _column(header, NAME)
        if student is None or len(header) > MOST_COLUMNS:
            titles = shown(", ".join(header))
            raise GlassformerError(
                f"{shown(path.name)} needs a column 'student' and at most {MOST_COLUMNS} columns, found {titles}."
            )
        question, answer = _column(header, QUESTION), _column(header, ANSWER)
        if question is not None and answer is not None:
            self.long(lines, student, question, answer)
        else:
            self.wide(lines, student, header)

    def long(self, lines: Iterator[list[str]], student: int, question: int, answer: int) -> None:
        for row in lines:
            who = self.student(_at(row, student))
            asked = self.questions.get(_at(row, question).strip().lower())
            if asked is None and _at(row, question).strip():
                self.note(UNKNOWN, shown(_at(row, question)))
            if who and asked and not self.found.put(who, asked, _at(row, answer)):
                self.note(REPEATED, who)

    def wide(self, lines: Iterator[list[str]], student: int, header: list[str]) -> None:
        columns = {place: self.questions[title] for place, title in enumerate(header) if title in self.questions}
        variant = _column(header, ("variant",))
        for place, title in enumerate(header):
            if title and place not in (*columns, student, variant):
                self.note(UNKNOWN, shown(title))
        if not columns:
            wanted = ", ".join(template.id for template in self.quiz.questions[:6])
            raise GlassformerError(f"no column is a question of '{self.quiz.name}': expected {wanted}, …")
        for row in lines:
            who = self.student(_at(row, student))
            if not who:
                continue
            if variant is not None and _at(row, variant).strip():
                self.found.variants[who] = shown(_at(row, variant).strip(), limit=20)
            again = who in self.found.answers
            if again:
                self.note(REPEATED, who)
            for place, name in columns.items():
                if _at(row, place).strip() or not again:
                    self.found.put(who, name, _at(row, place))

    def student(self, cell: str) -> str:
        """Return the student that a cell names; ambiguous names are noted, not guessed."""
        name = plain_name(cell)
        if not len(self.roster) or not name:
            return name
        known = self.roster.find(name)
        if len(known) == 1:
            return known[0]
        self.note(*((AMBIGUOUS, f"{name} ({' or '.join(known[:4])})") if known else (STRANGER, name)))
        return ""

    def tell(self) -> None:
        alike: dict[str, list[str]] = {}
        for name in self.found.answers if not len(self.roster) else ():
            alike.setdefault(folded(name), []).append(name)
        for names in alike.values():
            if len(names) > 1:
                self.note(ALIKE, " and ".join(names))
        for reason, listed in self.listed.items():
            if listed:
                named = ", ".join(shown(name, limit=160) for name in list(listed)[:MOST_NAMED])
                more = f" and {len(listed) - MOST_NAMED:,} more" if len(listed) > MOST_NAMED else ""
                self.found.notes.append(f"{reason}: {named}{more}.")


def _column(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _at(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""
