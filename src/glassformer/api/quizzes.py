"""Functions for quizzes: list the sets, make papers and keys, take a quiz or an exam, grade a class."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from glassformer.arguments import path, whole, words
from glassformer.configs.reading import is_there
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.files.documents import parse_json, read_text

if TYPE_CHECKING:
    from glassformer.answers.quiz import QuizSet
    from glassformer.answers.quiz.grading import Graded
    from glassformer.answers.quiz.regrading import Regraded
    from glassformer.answers.quiz.roster import Roster

MOST_STUDENTS = 1_000
MOST_VARIANTS = 26
MOST_SEED = 10**12
MOST_NAME = 40  # characters in the name of a set
FORMATS = "md,html,latex,moodle,qti,ipynb"


def quiz_sets() -> list[QuizSet]:
    """Return the built-in sets: name, title, description and questions of each."""
    from glassformer.answers.quiz import load_set, shipped

    return [load_set(name) for name in shipped()]


@dataclass(frozen=True)
class Papers:
    """The written papers and keys."""

    quiz: QuizSet
    seed: int
    roster: Roster
    folder: Path
    files: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer quiz make --json`."""
        dealt = [student.to_dict() for student in self.roster]
        about = {"set": self.quiz.name, "seed": self.seed, "students": dealt}
        return {**about, "out": str(self.folder), "files": list(self.files)}


def make_quiz(
    what: str | Path,
    out: str | Path,
    *,
    seed: int = 0,
    students: int | str | Path | None = None,
    variants: int | None = None,
    formats: str | Iterable[str] = FORMATS,
) -> Papers:
    """Write papers and keys to a new folder: `gf.make_quiz("parameters", "papers", students=30, variants=3)`.

    `what` is the name of a built-in set, or a TOML file. `students` is a file with the class list, or a number of students.
    With `variants`, that many variants are assigned evenly; otherwise each student gets different numbers.
    """
    from glassformer.show.quiz import parse_formats, quiz_files

    seed = whole("seed", seed, most=MOST_SEED)
    chosen = parse_formats(",".join(words("formats", formats)))
    found, roster = _set(what), _roster(students, variants, seed)
    folder = _folder(out)
    written = []
    for name, content in quiz_files(found, seed, roster, chosen):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        written.append(name)
    return Papers(found, seed, roster, folder, tuple(written))


def grade_quiz(
    what: str | Path,
    answers: str | Path,
    *,
    seed: int | None = None,
    students: int | str | Path | None = None,
    variants: int | None = None,
    again: str | Path | None = None,
) -> Graded | Regraded:
    """Grade a class: marks, and the mistakes behind wrong answers: `gf.grade_quiz("papers", "answers.csv")`.

    `what` is the folder that `make_quiz` wrote, or a set with the seed, students and variants it was made with. `answers` is a
    CSV file, or a folder of them. `again` is an earlier report as JSON: old and new marks are shown, and why they differ.
    """
    from glassformer.answers.quiz.grading import grade
    from glassformer.answers.quiz.submissions import read_submissions

    found, made = _set(what), _made(what)
    own_seed = seed if seed is not None else made.seed if made else 0
    roster = _roster(students, variants, own_seed)
    if made is not None and variants is None:
        roster = made.roster.known_as(roster) if len(made.roster) else replace(roster, same=True)
    graded = grade(found, read_submissions(path("answers", answers), found, roster), seed=own_seed, roster=roster)
    if again is None:
        return graded
    from glassformer.answers.quiz.regrading import read_report, regrade

    return regrade(graded, read_report(path("again", again)))


def take_quiz(
    what: str | Path, *, seed: int = 0, ask: Callable[[], str] | None = None, out: TextIO | None = None
) -> dict[str, Any]:
    """Practise one question at a time, with hints, the name of each mistake and the derivation; return the score and the answers.

    `ask` reads a line (by default from standard input); an empty line ends the quiz. Questions are written to `out`.
    """
    from glassformer.answers.quiz import variant
    from glassformer.api.quiz_session import Session

    session = Session(variant(_set(what), seed), **_streams(ask, out))
    session.run()
    return session.to_dict()


def take_exam(
    what: str | Path,
    student: str,
    answers: str | Path,
    *,
    seed: int | None = None,
    minutes: float | None = None,
    ask: Callable[[], str] | None = None,
    out: TextIO | None = None,
) -> dict[str, Any]:
    """Take an exam, without hints or feedback before the end. Each answer is saved in the CSV file `answers`, for `grade_quiz`.

    After a crash, the same call continues where it stopped; the time limit is not reset. With a folder that `make_quiz`
    wrote, the student's variant is used.
    """
    from glassformer.answers.quiz import variant
    from glassformer.api.quiz_exam import AnswerFile, Exam

    found, made = _set(what), _made(what)
    name, drawn_for = _candidate(student, made.roster if made else None)
    own_seed = seed if seed is not None else made.seed if made else 0
    parts = (found.name, f"seed {own_seed}", drawn_for, f"{minutes:g} minutes" if minutes is not None else "")
    file = AnswerFile(path("answers", answers), name, ", ".join(filter(None, parts)))
    exam = Exam(variant(found, own_seed, drawn_for), file, minutes=minutes, **_streams(ask, out))
    exam.run()
    return exam.to_dict()


def _streams(ask: Callable[[], str] | None, out: TextIO | None) -> dict[str, Any]:
    return {"out": out or sys.stdout, **({} if ask is None else {"ask": ask})}


def _folder(out: str | Path) -> Path:
    """Create the output folder; an existing one must be empty, so that no papers are overwritten."""
    folder = path("out", out)
    try:
        if folder.exists() and not folder.is_dir():
            raise GlassformerError(f"--out {shown(str(out))} is a file: choose a folder.")
        if (folder / "quiz.json").is_file():
            raise GlassformerError(
                f"--out {shown(str(out))} already contains papers, which are not overwritten: choose a new folder."
            )
        if folder.is_dir() and any(folder.iterdir()):
            raise GlassformerError(f"--out {shown(str(out))} contains other files: choose an empty or new folder.")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        if isinstance(error, GlassformerError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise GlassformerError(f"--out {shown(str(out))} cannot be written: {shown(why)}. Choose another folder.") from None
    return folder


def _roster(given: int | str | Path | None, variants: int | None, seed: int) -> Roster:
    """Return the class that --students names, with variants assigned if --variants is given."""
    from glassformer.answers.quiz.roster import Roster, numbered, read_roster

    students = None if given is None else str(given)
    if students is None:
        found = Roster()
    elif students.isascii() and students.isdecimal() and not is_there(students):
        if not 1 <= int(students[:9]) <= MOST_STUDENTS:
            raise GlassformerError(f"--students {shown(students)} must be 1 to {MOST_STUDENTS:,}, or a file of names.")
        found = numbered(int(students))
    else:
        found = read_roster(Path(students))
    if len(found) > MOST_STUDENTS:
        raise GlassformerError(f"--students lists {len(found):,} students: at most {MOST_STUDENTS:,} are allowed.")
    return found if variants is None else found.dealt(variants, seed)


def _candidate(student: str, roster: Roster | None) -> tuple[str, str]:
    """Return the student's name as in the class list, and the name from which the numbers are drawn."""
    from glassformer.answers.quiz import EVERYBODY
    from glassformer.answers.quiz.roster import plain_name

    if roster is None or not len(roster):
        return plain_name(student), EVERYBODY
    known = roster.find(student)
    if len(known) != 1:
        said = f"may mean {' or '.join(known[:4])}" if known else f"is not in the class.{nearest(student, roster.names)}"
        raise GlassformerError(f"--student '{shown(student)}' {said} Write the name as in the class list.")
    return known[0], roster.student(known[0]).drawn_for


class _Made(NamedTuple):
    """The manifest of a folder that `quiz make` wrote: numbers depend on the set's name, the seed and the student."""

    name: str
    roster: Roster
    seed: int


def _made(what: str | Path) -> _Made | None:
    """Read the manifest of a folder that `quiz make` wrote; None if it is not one."""
    from glassformer.answers.quiz.roster import roster_from

    manifest = Path(what) / "quiz.json"
    if not is_there(str(manifest)):
        return None
    document = parse_json(read_text(manifest), "quiz.json")
    name, seed, roster = document.get("set"), document.get("seed"), roster_from(document.get("students"))
    if not isinstance(name, str) or type(seed) is not int or roster is None or len(name) > MOST_NAME:
        raise GlassformerError(
            "quiz.json was not written by 'quiz make': give the file of the set instead, with --seed, --students and --variants."
        )
    return _Made(shown(name), roster, seed)


def _set(what: str | Path) -> QuizSet:
    """Load a set; in a folder that `quiz make` wrote, it keeps its original name, since the numbers depend on it."""
    from glassformer.answers.quiz import load_set

    found, made = load_set(what if isinstance(what, str) else path("set", what)), _made(what)
    return found if made is None else replace(found, name=made.name)
