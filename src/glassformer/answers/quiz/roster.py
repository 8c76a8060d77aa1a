"""A class: the students' names, their identifiers in learning platforms, and their variants."""

from __future__ import annotations

import csv
import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_text

MOST_STUDENTS = 5_000
MOST_ROWS = 200_000
MOST_FIELDS = 40
MOST_NAME = 80
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME = ("student", "name", "students", "student name", "full name", "student id", "id", "username", "user")
FIRST, LAST = ("first name", "given name"), ("last name", "surname", "family name")
IDENTITIES = ("id", "sis user id", "sis login id", "id number", "username", "email address", "email", "student id")
NOT_NAMES = ("points possible", "student, test")  # rows of a gradebook that are not students
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # characters that start a formula in a spreadsheet
WITHOUT_ACCENT = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})


@dataclass(frozen=True)
class Student:
    """One student: the letter of the variant (empty for individual numbers), and the columns of the class list."""

    name: str
    variant: str = ""
    fields: Mapping[str, str] = field(default_factory=dict, compare=False)

    def field(self, *titles: str) -> str:
        """Return the first of these columns that has a value for this student."""
        known = {" ".join(title.lower().split()): value for title, value in self.fields.items()}
        return next((known[title.lower()] for title in titles if known.get(title.lower())), "")

    @property
    def drawn_for(self) -> str:
        """The name for which this student's numbers are drawn."""
        return f"variant {self.variant}" if self.variant else self.name

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "variant": self.variant, "fields": dict(self.fields)}


@dataclass(frozen=True)
class Roster:
    """The students of a class, in the order of the list. `same` if all have the same paper."""

    students: tuple[Student, ...] = ()
    same: bool = False

    @classmethod
    def of(cls, *names: str) -> Roster:
        return cls(tuple(Student(name) for name in names))

    def __iter__(self) -> Iterator[Student]:
        return iter(self.students)

    def __len__(self) -> int:
        return len(self.students)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(student.name for student in self.students)

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(sorted({student.variant for student in self.students if student.variant}))

    def student(self, name: str) -> Student:
        return next((student for student in self.students if student.name == name), Student(name))

    def dealt(self, count: int, seed: int) -> Roster:
        """Return the class with `count` variants assigned evenly, independent of the order of the list."""
        if not self.students:
            raise GlassformerError(f"--variants {count} needs a class: add --students with a file of names or a number.")
        order = sorted(self.students, key=lambda student: hashlib.sha256(f"{seed}\x1f{student.name}".encode()).digest())
        letters = {student.name: LETTERS[place % count] for place, student in enumerate(order)}
        return Roster(tuple(replace(student, variant=letters[student.name]) for student in self.students))

    def known_as(self, listed: Roster) -> Roster:
        """Return the class with the columns of another list, for the students that it names unambiguously."""
        columns: dict[str, Mapping[str, str]] = {}
        for student in listed:
            names = self.find(student.name)
            if len(names) == 1:
                columns[names[0]] = student.fields
        return Roster(tuple(replace(one, fields={**one.fields, **columns.get(one.name, {})}) for one in self.students))

    def find(self, cell: str) -> tuple[str, ...]:
        """Return the students that a cell may refer to: one, several if it is ambiguous, or none."""
        name = plain_name(cell)
        if name in self.names:
            return (name,)
        return self._known.get(folded(name), ())

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for student in self.students:
            for word in filter(None, (student.name, *(student.field(title) for title in IDENTITIES))):
                found.setdefault(folded(word), {}).setdefault(student.name)
        return {word: tuple(names) for word, names in found.items()}


def numbered(count: int) -> Roster:
    """Return a class of `student-01` to `student-30`."""
    return Roster.of(*(f"student-{number:0{max(2, len(str(count)))}d}" for number in range(1, count + 1)))


def read_roster(path: Path) -> Roster:
    """Read a class list: one name per line, or a CSV with a column `student` or `name`, or first and last names."""
    text = read_text(path, most_bytes=1_000_000)
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    named = bool(lines) and _named(_titles(next(rows(lines[0], path.name))))
    listed = _columns(text, path.name) if named else (Student(plain_name(line)) for line in lines)
    students = [student for student in listed if student.name and student.name.lower() not in NOT_NAMES]
    if not 0 < len(students) <= MOST_STUDENTS:
        wanted = f"expected 1 to {MOST_STUDENTS:,}, one per line or in a column 'student'"
        raise GlassformerError(f"{shown(path.name)} contains {len(students):,} names: {wanted}.")
    twice, count = Counter(student.name for student in students).most_common(1)[0]
    if count > 1:
        raise GlassformerError(f"{shown(path.name)} contains '{twice}' twice: every student needs a unique name.")
    return Roster(tuple(students))


def roster_from(document: Any) -> Roster | None:
    """Return a class from the `to_dict` documents of its students; None if the list is invalid."""
    if not isinstance(document, list) or len(document) > MOST_STUDENTS:
        return None
    try:
        students = [Student(row["name"], row["variant"][:1], dict(row["fields"])) for row in document]
        words = [word for one in students for word in (one.name, one.variant, *one.fields.values())]
    except (KeyError, TypeError, ValueError):
        return None
    return Roster(tuple(students)) if all(isinstance(word, str) for word in words) else None


def rows(text: str, name: str) -> Iterator[list[str]]:
    """Yield the rows of a CSV, with the separator found in its header; an invalid or huge file is a one-line error."""
    first = text.lstrip("\ufeff\r\n").partition("\n")[0]
    separator = max(",;\t", key=first.count)
    lines = csv.reader(text.lstrip("\ufeff").splitlines(keepends=True), delimiter=separator)
    try:
        for number, row in enumerate(line for line in lines if line):
            if number > MOST_ROWS:
                raise GlassformerError(f"{shown(name)} has more than {MOST_ROWS:,} rows, which is too many.")
            yield row
    except csv.Error as error:
        where = f"line {lines.line_num}: {shown(str(error))}"
        raise GlassformerError(f"{shown(name)} is not a valid CSV file, {where}.") from None


def plain_name(cell: str) -> str:
    """Return a name on one line, of limited length."""
    return " ".join(shown(unquoted(cell.strip()), limit=MOST_NAME).split())


def unquoted(cell: str) -> str:
    """Return a cell without the apostrophe that keeps a spreadsheet from running it as a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in FORMULA else cell


def folded(name: str) -> str:
    """Return a name without accents, case and extra spaces, with `Last, First` in order."""
    last, comma, first = name.partition(",")
    if comma and first.strip() and "," not in first:
        name = f"{first} {last}"
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(sign))
    return " ".join(bare.translate(WITHOUT_ACCENT).split())


def _columns(text: str, name: str) -> Iterator[Student]:
    lines = rows(text, name)
    header = [" ".join(title.split()) for title in next(lines)][:MOST_FIELDS]
    for row in lines:
        filled = [(title, cell.strip()) for title, cell in zip(header, row, strict=False) if cell.strip()]
        student = Student("", fields={title: shown(cell, limit=MOST_NAME) for title, cell in filled})
        parts = " ".join(filter(None, (student.field(*FIRST), student.field(*LAST))))
        yield replace(student, name=plain_name(student.field("student") or parts or student.field(*NAME)))


def _titles(header: Sequence[str]) -> set[str]:
    return {" ".join(title.lower().split()) for title in header}


def _named(titles: set[str]) -> bool:
    return bool(titles & set(NAME)) or bool(titles & set(FIRST) and titles & set(LAST))
