"""The commands of the quizzes: make papers and keys, take one in the terminal, grade a class."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from glassformer.cli.options import FORMS, Named, forms, to_json
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.files import parse_json, read_text
from glassformer.spec.reading import is_there

if TYPE_CHECKING:
    from glassformer.answers.quiz import QuizSet, Variant

MOST_STUDENTS = 1_000
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
    """Problem sets: variants for a class with keys, practice in the terminal, grading that names each mistake.

    \b
    glassformer quiz list
    glassformer quiz make parameters --seed 7 --students 30 --out papers
    glassformer quiz take self-attention
    glassformer quiz grade papers answers.csv
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


seed_option = click.option("--seed", type=click.IntRange(0, 10**12), help="Which numbers are drawn.  [default: 0]")
students_option = click.option(
    "--students", type=click.IntRange(1, MOST_STUDENTS), metavar="N", help="A variant for each of N students."
)
names_option = click.option("--names", metavar="FILE", help="A variant for each name in the file, one a line.")
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
@names_option
@click.option(
    "--out", type=Named(), metavar="DIR", required=True, help="The new folder to write: students/, key/, banks, answers.csv."
)
@click.option("--format", "formats", default="md,html,latex,moodle,qti,ipynb", show_default=True, help="Which formats.")
@json_option
def make(what: str, seed: int | None, students: int | None, names: str | None, out: str, formats: str, as_json: bool) -> None:
    """Papers and keys with worked solutions: the same for all, or a variant for each student. SET: a name or a TOML file.

    \b
    glassformer quiz make parameters --seed 7 --students 30 --out papers
    glassformer quiz make my-set.toml --names class.txt --format html,moodle --out papers
    """
    from glassformer.show.quiz import parse_formats, quiz_files

    chosen, found, roster = parse_formats(formats), _set(what), _roster(students, names)
    folder = _folder(out)
    written = []
    for path, content in quiz_files(found, seed or 0, roster, chosen):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        written.append(path)
    if as_json:
        document = {"set": found.name, "seed": seed or 0, "students": list(roster), "out": str(folder), "files": written}
        sys.stdout.write(to_json(document) + "\n")
        return
    who = f"{len(roster)} students" if roster else "everybody"
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


def _roster(students: int | None, names: str | None) -> tuple[str, ...]:
    if students is not None and names is not None:
        raise GlassformerError("give --students or --names, not both.")
    if names is not None:
        from glassformer.answers.quiz.submissions import read_names

        found = read_names(Path(names))
        if len(found) > MOST_STUDENTS:
            raise GlassformerError(f"--names lists {len(found):,} students: at most {MOST_STUDENTS:,}.")
        return found
    width = len(str(students or 0))
    return tuple(f"student-{number:0{max(width, 2)}d}" for number in range(1, (students or 0) + 1))


@quiz.command()
@click.argument("what", metavar="SET")
@seed_option
@json_option
def take(what: str, seed: int | None, as_json: bool) -> None:
    """One question at a time: hints on a miss, then the mistake by its name and the derivation; keeps score.

    Type 'hint' for a hint, 'skip' to see the answer, 'quit' to stop.

    \b
    glassformer quiz take self-attention
    glassformer quiz take worked-head --seed 3
    """
    from glassformer.answers.quiz import variant
    from glassformer.cli.quiz_session import Session

    own: Variant = variant(_set(what), seed or 0)
    session = Session(own, out=sys.stderr if as_json else sys.stdout)
    session.run()
    if as_json:
        sys.stdout.write(to_json(session.to_dict()) + "\n")


@quiz.command()
@click.argument("what", metavar="SET")
@click.argument("answers", metavar="ANSWERS.CSV")
@seed_option
@students_option
@names_option
@forms({**{form: FORMS[form] for form in ("json", "markdown", "html")}, "csv": "CSV, one row an answer; no cell is a formula."})
def grade(what: str, answers: str, seed: int | None, students: int | None, names: str | None, form: str | None) -> None:
    """Marks, error-carried-forward credit, the mistake behind each wrong answer, and the commonest of the class.

    SET is the folder that 'quiz make' wrote, or a set with the --seed and the --students or --names it was made with.
    ANSWERS.CSV has a column 'student' and a column for each question, or the columns student, question, answer.
    Exit 1: something is not right.

    \b
    glassformer quiz grade papers answers.csv
    glassformer quiz grade parameters answers.csv --seed 7 --students 30 --csv
    """
    from glassformer.answers.quiz.grading import grade as grade_class
    from glassformer.answers.quiz.submissions import read_submissions
    from glassformer.show import present

    found = _set(what)
    roster, own_seed = _roster(students, names), seed
    made = _made(what)
    if not roster and seed is None and made is not None:
        roster, own_seed = made.students, made.seed
    graded = grade_class(found, read_submissions(Path(answers), found, roster), seed=own_seed or 0, students=roster)
    text = to_json(graded.to_dict()) if form == "json" else getattr(present(graded), form or "text")()
    sys.stdout.write(text + "\n")
    if graded.wrong:
        sys.exit(1)


class _Made(NamedTuple):
    """What the folder of a `quiz make` says of itself: numbers follow from the set's name, the seed and the student."""

    name: str
    students: tuple[str, ...]
    seed: int


def _made(what: str) -> _Made | None:
    """What `quiz make` wrote into that folder, where it is one."""
    manifest = Path(what) / "quiz.json"
    if not is_there(str(manifest)):
        return None
    document = parse_json(read_text(manifest), "quiz.json")
    name: Any = document.get("set")
    students: Any = document.get("students")
    seed = document.get("seed")
    words = [name, *students] if isinstance(students, list) else [None]
    if not all(isinstance(word, str) for word in words) or type(seed) is not int or len(name) > MOST_NAME:
        raise GlassformerError(
            "quiz.json is not what 'quiz make' wrote: give the file of the set instead, with --seed and --students or --names."
        )
    return _Made(shown(name), tuple(students[:MOST_STUDENTS]), seed)


def _set(what: str) -> QuizSet:
    """A set; one in a folder that `quiz make` wrote keeps the name that it was made under, or other numbers would be drawn."""
    from glassformer.answers.quiz import load_set

    found, made = load_set(what), _made(what)
    return found if made is None else replace(found, name=made.name)
