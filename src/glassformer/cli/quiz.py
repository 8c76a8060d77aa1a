"""The commands of the quizzes: make papers and keys, take one in the terminal, grade a class."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from glassformer.cli.options import FORMS, Named, OneOf, forms, to_json
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.files import parse_json, read_text
from glassformer.spec.reading import is_there

if TYPE_CHECKING:
    from glassformer.answers.quiz import QuizSet
    from glassformer.answers.quiz.roster import Roster

MOST_STUDENTS = 1_000
MOST_VARIANTS = 26
MOST_NAME = 40  # letters of a set's name


class _Commands(click.Group):
    """Sub-commands; an unknown one is a mistake in one line."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise GlassformerError(f"quiz has no '{shown(args[0])}'.{nearest(args[0], self.commands)} make, take, grade or list.")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, invoke_without_command=True)
@click.pass_context
def quiz(ctx: click.Context) -> None:
    """Problem sets: papers and keys for a class, practice and exams in the terminal, grading that names each mistake.

    \b
    glassformer quiz list
    glassformer quiz make parameters --seed 7 --students class.csv --variants 3 --out papers
    glassformer quiz take self-attention
    glassformer quiz grade papers answers.csv
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


seed_option = click.option("--seed", type=click.IntRange(0, 10**12), help="Which numbers are drawn.  [default: 0]")
students_option = click.option(
    "--students",
    metavar="FILE|N",
    help="The class: a file with one name a line, a CSV with a column 'student', a gradebook that Canvas or Moodle exported, "
    "or a number of students.",
)
variants_option = click.option(
    "--variants",
    type=click.IntRange(1, MOST_VARIANTS),
    metavar="K",
    help="K variants, dealt to the students in equal numbers.  [default: numbers of their own for each student]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")


@quiz.command("list")
@json_option
def list_sets(as_json: bool) -> None:
    """The sets that ship.

    \b
    glassformer quiz list
    """
    from glassformer.answers.quiz import load_set, shipped
    from glassformer.show.quiz import listed
    from glassformer.show.terminal import show_on_terminal

    sets = [load_set(name) for name in shipped()]
    if as_json:
        documents = [{"set": s.name, "title": s.title, "about": s.about, "questions": [q.id for q in s.questions]} for s in sets]
        sys.stdout.write(to_json(documents) + "\n")
        return
    show_on_terminal(listed([[s.name, str(len(s.questions)), f"{float(s.marks):g}", s.about] for s in sets]))


@quiz.command()
@click.argument("what", metavar="SET")
@seed_option
@students_option
@variants_option
@click.option(
    "--out", type=Named(), metavar="DIR", required=True, help="The new folder to write: students/, key/, banks, answers.csv."
)
@click.option("--format", "formats", default="md,html,latex,moodle,qti,ipynb", show_default=True, help="Which formats.")
@json_option
def make(what: str, seed: int | None, students: str | None, variants: int | None, out: str, formats: str, as_json: bool) -> None:
    """Papers and keys with worked solutions. SET: a name from 'quiz list', or a TOML file.

    All students get the same paper, or K variants are dealt to them, or each student gets numbers of their own.

    \b
    glassformer quiz make parameters --seed 7 --out papers
    glassformer quiz make parameters --seed 7 --students class.csv --variants 3 --out papers
    glassformer quiz make my-set.toml --students 30 --format html,moodle --out papers
    """
    from glassformer.show.quiz import parse_formats, quiz_files

    chosen, found, roster = parse_formats(formats), _set(what), _roster(students, variants, seed or 0)
    folder = _folder(out)
    written = []
    for path, content in quiz_files(found, seed or 0, roster, chosen):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        written.append(path)
    if as_json:
        dealt = [student.to_dict() for student in roster]
        document = {"set": found.name, "seed": seed or 0, "students": dealt, "out": str(folder), "files": written}
        sys.stdout.write(to_json(document) + "\n")
        return
    who = f"{len(roster)} students" if len(roster) else "everybody"
    who += f" in {len(roster.variants)} variants" if roster.variants else ""
    sys.stdout.write(f"{found.title}: {len(found.questions)} questions for {who}, {len(written)} files in {folder}\n")


def _folder(out: str) -> Path:
    """An empty or new folder; what is there is left alone, papers most of all: a class may have been given them."""
    folder = Path(out)
    try:
        if folder.exists() and not folder.is_dir():
            raise GlassformerError(f"--out {shown(out)} is a file: name a folder.")
        if (folder / "quiz.json").is_file():
            raise GlassformerError(f"--out {shown(out)} holds papers already: name a new folder, nothing is overwritten.")
        if folder.is_dir() and any(folder.iterdir()):
            raise GlassformerError(f"--out {shown(out)} holds other files: name an empty or a new folder.")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        if isinstance(error, GlassformerError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise GlassformerError(f"--out {shown(out)} cannot be written: {shown(why)}. Choose another place.") from None
    return folder


def _roster(students: str | None, variants: int | None, seed: int) -> Roster:
    """The class that --students names, dealt into variants where some are wanted."""
    from glassformer.answers.quiz.roster import Roster, numbered, read_roster

    if students is None:
        found = Roster()
    elif students.isascii() and students.isdecimal() and not is_there(students):
        if not 1 <= int(students[:9]) <= MOST_STUDENTS:
            raise GlassformerError(f"--students {shown(students)}: from 1 to {MOST_STUDENTS:,} students, or a file of names.")
        found = numbered(int(students))
    else:
        found = read_roster(Path(students))
    if len(found) > MOST_STUDENTS:
        raise GlassformerError(f"--students lists {len(found):,} students: at most {MOST_STUDENTS:,}.")
    return found if variants is None else found.dealt(variants, seed)


@quiz.command()
@click.argument("what", metavar="SET")
@seed_option
@click.option("--exam", is_flag=True, help="An exam: no hints, no feedback before the end, answers saved as they are given.")
@click.option("--student", metavar="NAME", help="Who sits the exam; with a folder of papers, this student's variant is asked.")
@click.option("--minutes", type=click.FloatRange(0.1, 1440), metavar="M", help="Time limit; a restart does not reset it.")
@click.option("--answers", type=Named(), metavar="FILE.CSV", help="Where the answers of an exam are saved, for 'quiz grade'.")
@json_option
def take(
    what: str, seed: int | None, exam: bool, student: str | None, minutes: float | None, answers: str | None, as_json: bool
) -> None:
    """One question at a time: hints on a miss, then the mistake by its name and the derivation; keeps score.

    Type 'hint' for a hint, 'skip' to see the answer, 'quit' to stop. With --exam there are no hints, and the result is shown
    at the end; after a crash or 'quit', the same command goes on where it stopped.

    \b
    glassformer quiz take self-attention
    glassformer quiz take worked-head --seed 3
    glassformer quiz take papers --exam --student "Ada Lovelace" --minutes 45 --answers ada.csv
    """
    from glassformer.answers.quiz import variant

    out = sys.stderr if as_json else sys.stdout
    if not exam:
        if student is not None or minutes is not None or answers is not None:
            raise GlassformerError("--student, --minutes and --answers belong to an exam: add --exam.")
        from glassformer.cli.quiz_session import Session

        session = Session(variant(_set(what), seed or 0), out=out)
        session.run()
        document = session.to_dict()
    else:
        from glassformer.cli.quiz_exam import AnswerFile, Exam

        if student is None or answers is None:
            raise GlassformerError("an exam needs --student NAME and --answers FILE.CSV: the answers are saved under that name.")
        found, made = _set(what), _made(what)
        name, drawn_for = _candidate(student, made.roster if made else None)
        own_seed = seed if seed is not None else made.seed if made else 0
        parts = (found.name, f"seed {own_seed}", drawn_for, f"{minutes:g} minutes" if minutes is not None else "")
        about = ", ".join(filter(None, parts))
        sitting = Exam(variant(found, own_seed, drawn_for), AnswerFile(Path(answers), name, about), out=out, minutes=minutes)
        sitting.run()
        document = sitting.to_dict()
    if as_json:
        sys.stdout.write(to_json(document) + "\n")


def _candidate(student: str, roster: Roster | None) -> tuple[str, str]:
    """The name of who sits an exam, as the class list has it, and the name from which the numbers are drawn."""
    from glassformer.answers.quiz import EVERYBODY
    from glassformer.answers.quiz.roster import plain_name

    if roster is None or not len(roster):
        return plain_name(student), EVERYBODY
    known = roster.find(student)
    if len(known) != 1:
        said = f"may mean {' or '.join(known[:4])}" if known else f"is not in the class.{nearest(student, roster.names)}"
        raise GlassformerError(f"--student '{shown(student)}' {said} Write the name as in the class list.")
    return known[0], roster.student(known[0]).drawn_for


@quiz.command()
@click.argument("what", metavar="SET")
@click.argument("answers", metavar="ANSWERS")
@seed_option
@students_option
@variants_option
@click.option("--again", metavar="OLD.JSON", help="An earlier --json report: shows both marks, and why they differ.")
@click.option("--gradebook", type=OneOf(["canvas", "moodle"]), help="A CSV for this system, instead of the report.")
@forms({**{form: FORMS[form] for form in ("json", "markdown", "html")}, "csv": "CSV, one row an answer; no cell is a formula."})
def grade(
    what: str, answers: str, seed: int | None, students: str | None, variants: int | None, again: str | None,
    gradebook: Literal["canvas", "moodle"] | None, form: str | None,
) -> None:  # fmt: skip
    """Marks, error-carried-forward credit, the mistake behind each wrong answer, and the commonest of the class.

    SET is the folder that 'quiz make' wrote, or a set with the --seed, --students and --variants it was made with.
    ANSWERS is a CSV, or a folder of them, with a column 'student' and a column for each question, or the columns student,
    question, answer. Names match without accents, case and extra spaces; nobody is guessed. Exit 1: something is not right.

    \b
    glassformer quiz grade papers answers.csv
    glassformer quiz grade papers submissions/ --gradebook canvas --students canvas-export.csv > import.csv
    glassformer quiz grade papers answers.csv --again old-report.json
    """
    from glassformer.answers.quiz.grading import grade as grade_class
    from glassformer.answers.quiz.submissions import read_submissions
    from glassformer.show import present

    found, made = _set(what), _made(what)
    own_seed = seed if seed is not None else made.seed if made else 0
    roster = _roster(students, variants, own_seed)
    if made is not None and variants is None:
        roster = made.roster.known_as(roster) if len(made.roster) else replace(roster, same=True)
    graded = grade_class(found, read_submissions(Path(answers), found, roster), seed=own_seed, roster=roster)
    result: Any = graded
    if again is not None:
        from glassformer.answers.quiz.regrading import read_report, regrade

        result = regrade(graded, read_report(Path(again)))
    if gradebook is not None:
        from glassformer.show.quiz.gradebooks import gradebook_csv

        text = gradebook_csv(graded, gradebook)
    else:
        text = to_json(result.to_dict()) if form == "json" else getattr(present(result), form or "text")()
    sys.stdout.write(text + "\n")
    if graded.wrong:
        sys.exit(1)


class _Made(NamedTuple):
    """What the folder of a `quiz make` says of itself: numbers follow from the set's name, the seed and the student."""

    name: str
    roster: Roster
    seed: int


def _made(what: str) -> _Made | None:
    """What `quiz make` wrote into that folder, where it is one."""
    from glassformer.answers.quiz.roster import roster_from

    manifest = Path(what) / "quiz.json"
    if not is_there(str(manifest)):
        return None
    document = parse_json(read_text(manifest), "quiz.json")
    name, seed, roster = document.get("set"), document.get("seed"), roster_from(document.get("students"))
    if not isinstance(name, str) or type(seed) is not int or roster is None or len(name) > MOST_NAME:
        raise GlassformerError(
            "quiz.json is not what 'quiz make' wrote: give the file of the set instead, with --seed, --students and --variants."
        )
    return _Made(shown(name), roster, seed)


def _set(what: str) -> QuizSet:
    """A set; one in a folder that `quiz make` wrote keeps the name that it was made under, or other numbers would be drawn."""
    from glassformer.answers.quiz import load_set

    found, made = load_set(what), _made(what)
    return found if made is None else replace(found, name=made.name)
