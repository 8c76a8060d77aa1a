"""The files that `quiz make` writes: papers, keys, question banks, an empty answer sheet, and a manifest."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from glassformer.answers.quiz.roster import Roster
from glassformer.answers.quiz.template import QuizSet
from glassformer.answers.quiz.variant import EVERYBODY, Variant, variant
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.show.quiz.bank import bank
from glassformer.show.quiz.html_page import html_page
from glassformer.show.quiz.latex import latex_page
from glassformer.show.quiz.markdown import markdown_page
from glassformer.show.quiz.moodle import moodle_xml
from glassformer.show.quiz.notebook import notebook
from glassformer.show.quiz.page import Page, key_page, quiz_page
from glassformer.show.quiz.qti import qti_zip
from glassformer.show.quiz.report import inert

Format = Literal["md", "html", "latex", "moodle", "qti", "ipynb"]
FORMATS: tuple[Format, ...] = get_args(Format)
PAGES: dict[Format, tuple[str, Callable[[Page], str]]] = {
    "md": ("md", markdown_page),
    "html": ("html", html_page),
    "latex": ("tex", latex_page),
}


def parse_formats(text: str) -> tuple[Format, ...]:
    """Parse a list of formats such as `md,html`."""
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in FORMATS:
            raise GlassformerError(f"unknown format '{shown(word)}'. Formats: {', '.join(FORMATS)}.{nearest(word, FORMATS)}")
    return tuple(name for name in FORMATS if name in words) or FORMATS


def quiz_files(quiz: QuizSet, seed: int, roster: Roster, formats: Sequence[Format]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of every file; the same set, seed and class always give the same bytes."""
    drawn_for = tuple(dict.fromkeys(student.drawn_for for student in roster)) or (EVERYBODY,)
    made = [variant(quiz, seed, name) for name in (sorted(drawn_for) if roster.variants else drawn_for)]
    papers = [one.student for one in made if one.student]
    names = [paper.replace(" ", "-") for paper in papers] if roster.variants else file_names(papers)
    for name, own in zip(names, made, strict=True):
        for path, text in _papers(name, own, formats, student="" if roster.variants else own.student):
            yield path, text.encode()
    pools = bank(quiz, made) if {"moodle", "qti"} & set(formats) else []
    if "moodle" in formats:
        yield "moodle.xml", moodle_xml(quiz, pools).encode()
    if "qti" in formats:
        yield "canvas-qti.zip", qti_zip(quiz, pools)
    yield "answers.csv", _answer_sheet(quiz, roster).encode()
    yield "set.toml", quiz.source.encode()
    students = [student.to_dict() for student in roster]
    manifest = {"set": quiz.name, "title": quiz.title, "seed": seed, "students": students, "files": names}
    yield "quiz.json", (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()


def _papers(name: str, variant: Variant, formats: Sequence[Format], *, student: str) -> Iterator[tuple[str, str]]:
    pages = {"students": quiz_page(variant), "key": key_page(variant)}
    for folder, page in pages.items():
        for form in formats:
            if form in PAGES:
                ending, render = PAGES[form]
                yield f"{folder}/{name}.{ending}", render(page)
            elif form == "ipynb":
                yield f"{folder}/{name}.ipynb", notebook(variant, key=folder == "key", student=student)


def file_names(students: Sequence[str]) -> list[str]:
    """Return a safe file name for each student; a name that had to be changed gets a hash to keep it unique."""
    found: list[str] = []
    for student in students or ("quiz",):
        ascii_name = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", ascii_name).strip("-")[:60]
        changed = plain != student or plain.lower() in {name.lower() for name in found}
        found.append(f"{plain or 'student'}-{hashlib.sha256(student.encode()).hexdigest()[:8]}" if changed else plain)
    return found


def _answer_sheet(quiz: QuizSet, roster: Roster) -> str:
    """Return an empty answer sheet for `quiz grade`: a row per student, with the student's variant if there are variants."""
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    titles, empty = [template.id for template in quiz.questions], [""] * len(quiz.questions)
    rows.writerow(["student", *(["variant"] if roster.variants else []), *titles])
    rows.writerows([inert(one.name), *([one.variant] if roster.variants else []), *empty] for one in roster)
    return stream.getvalue()
