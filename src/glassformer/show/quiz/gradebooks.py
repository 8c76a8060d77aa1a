"""Marks as CSV files for Canvas and Moodle, without cells that a spreadsheet would run as formulas."""

from __future__ import annotations

import csv
import io
from typing import Literal

from glassformer.answers.quiz.grading import Graded
from glassformer.answers.quiz.sheet import Sheet
from glassformer.errors import GlassformerError, shown
from glassformer.show.quiz.report import inert, points

System = Literal["canvas", "moodle"]
# Column in the file -> the columns of a class list that it is filled from. Canvas needs all of its columns, in this order.
CANVAS = {
    "Student": ("student", "student name", "name", "full name"),
    "ID": ("id", "canvas user id"),
    "SIS User ID": ("sis user id", "student id", "id number"),
    "SIS Login ID": ("sis login id", "login", "username", "email", "email address"),
    "Section": ("section", "group"),
}
MOODLE = {
    "ID number": ("id number", "student id", "sis user id"),
    "Username": ("username", "login", "sis login id"),
    "Email address": ("email address", "email"),
}
WANTED = {
    "canvas": "Canvas identifies students by ID, SIS User ID or SIS Login ID: give a gradebook exported from it as --students",
    "moodle": "Moodle identifies students by ID number, username or email address: give a CSV with such a column as --students",
}


def gradebook_csv(graded: Graded, system: System) -> str:
    """Return the marks of a class as CSV. A student that the system could not identify is an error, not left out."""
    columns = CANVAS if system == "canvas" else MOODLE
    found = [{title: sheet.student.field(*names) for title, names in columns.items()} for sheet in graded.sheets]
    identities = [title for title in columns if title not in ("Student", "Section")]
    unknown = [s.student.name for s, row in zip(graded.sheets, found, strict=True) if not any(row[i] for i in identities)]
    if unknown:
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise GlassformerError(f"--gradebook {system}: {shown(unknown[0])}{more} cannot be imported. {WANTED[system]}.")
    titles = list(columns) if system == "canvas" else [title for title in columns if any(row[title] for row in found)]
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow([*titles, inert(graded.quiz.title)])
    if system == "canvas":
        possible = points(graded.quiz.marks)
        rows.writerow(["    Points Possible", *[""] * (len(titles) - 1), possible])
    for sheet, row in zip(graded.sheets, found, strict=True):
        rows.writerow([inert(_cell(sheet, row, title)) for title in titles] + [points(sheet.marks)])
    return stream.getvalue().rstrip("\n")


def _cell(sheet: Sheet, row: dict[str, str], title: str) -> str:
    return row[title] or (sheet.student.name if title == "Student" else "")
