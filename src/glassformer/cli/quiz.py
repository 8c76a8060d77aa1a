"""The command `quiz`: make papers and keys, take a quiz in the terminal, grade a class."""

from __future__ import annotations

import sys
from typing import Literal

import click

import glassformer as gf
from glassformer.api.quizzes import FORMATS, MOST_SEED, MOST_VARIANTS
from glassformer.cli.options import FORMS, Named, OneOf, forms, to_json
from glassformer.errors import GlassformerError, nearest, shown


class _Commands(click.Group):
    """A group whose error for an unknown subcommand is one line."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise GlassformerError(
                f"quiz has no subcommand '{shown(args[0])}'.{nearest(args[0], self.commands)} Use make, take, grade or list."
            )
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, invoke_without_command=True)
@click.pass_context
def quiz(ctx: click.Context) -> None:
    """Make problem sets with answer keys, practise or take an exam in the terminal, and grade a class.

    \b
    glassformer quiz list
    glassformer quiz make parameters --seed 7 --students class.csv --variants 3 --out papers
    glassformer quiz take self-attention
    glassformer quiz grade papers answers.csv
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


seed_option = click.option(
    "--seed", type=click.IntRange(0, MOST_SEED), help="Random seed for the numbers in the questions.  [default: 0]"
)
students_option = click.option(
    "--students",
    metavar="FILE|N",
    help="The class: a file with one name per line, a CSV with a column 'student', a gradebook exported from Canvas or Moodle, "
    "or a number of students.",
)
variants_option = click.option(
    "--variants",
    type=click.IntRange(1, MOST_VARIANTS),
    metavar="K",
    help="Number of variants, assigned evenly to the students.  [default: different numbers for each student]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@quiz.command("list")
@json_option
def list_sets(as_json: bool) -> None:
    """List the built-in sets.

    \b
    glassformer quiz list
    """
    from glassformer.show.quiz import listed
    from glassformer.show.terminal import show_on_terminal

    sets = gf.quiz_sets()
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
    "--out", type=Named(), metavar="DIR", required=True, help="New folder for students/, key/, question banks and answers.csv."
)
@click.option("--format", "formats", default=FORMATS, show_default=True, help="Formats to write.")
@json_option
def make(what: str, seed: int | None, students: str | None, variants: int | None, out: str, formats: str, as_json: bool) -> None:
    """Write papers, and keys with worked solutions. SET is a name from 'quiz list', or a TOML file.

    All students get the same paper, one of K variants, or different numbers for each student.

    \b
    glassformer quiz make parameters --seed 7 --out papers
    glassformer quiz make parameters --seed 7 --students class.csv --variants 3 --out papers
    glassformer quiz make my-set.toml --students 30 --format html,moodle --out papers
    """
    made = gf.make_quiz(what, out, seed=seed or 0, students=students, variants=variants, formats=formats)
    if as_json:
        sys.stdout.write(to_json(made.to_dict()) + "\n")
        return
    found, roster = made.quiz, made.roster
    who = f"{len(roster)} students" if len(roster) else "everyone"
    who += f" in {len(roster.variants)} variants" if roster.variants else ""
    sys.stdout.write(f"{found.title}: {len(found.questions)} questions for {who}, {len(made.files)} files in {made.folder}\n")


@quiz.command()
@click.argument("what", metavar="SET")
@seed_option
@click.option("--exam", is_flag=True, help="Exam mode: no hints, no feedback before the end, each answer saved immediately.")
@click.option("--student", metavar="NAME", help="Who takes the exam; with a folder of papers, this student's variant is used.")
@click.option("--minutes", type=click.FloatRange(0.1, 1440), metavar="M", help="Time limit; a restart does not reset it.")
@click.option("--answers", type=Named(), metavar="FILE.CSV", help="File in which exam answers are saved, for 'quiz grade'.")
@json_option
def take(
    what: str, seed: int | None, exam: bool, student: str | None, minutes: float | None, answers: str | None, as_json: bool
) -> None:
    """Take a quiz, one question at a time. A wrong answer gives a hint, then names the mistake and shows the derivation.

    Type 'hint' for a hint, 'skip' to see the answer, 'quit' to stop. With --exam there are no hints, and the result is shown
    at the end; after a crash or 'quit', the same command continues where it stopped.

    \b
    glassformer quiz take self-attention
    glassformer quiz take worked-head --seed 3
    glassformer quiz take papers --exam --student "Ada Lovelace" --minutes 45 --answers ada.csv
    """
    out = sys.stderr if as_json else sys.stdout
    if not exam:
        if student is not None or minutes is not None or answers is not None:
            raise GlassformerError("--student, --minutes and --answers are only for exams: add --exam.")
        document = gf.take_quiz(what, seed=seed or 0, out=out)
    elif student is None or answers is None:
        raise GlassformerError("an exam needs --student NAME and --answers FILE.CSV: the answers are saved under that name.")
    else:
        document = gf.take_exam(what, student, answers, seed=seed, minutes=minutes, out=out)
    if as_json:
        sys.stdout.write(to_json(document) + "\n")


@quiz.command()
@click.argument("what", metavar="SET")
@click.argument("answers", metavar="ANSWERS")
@seed_option
@students_option
@variants_option
@click.option("--again", metavar="OLD.JSON", help="An earlier --json report: show old and new marks, and why they differ.")
@click.option(
    "--gradebook", type=OneOf(["canvas", "moodle"]), help="Print a CSV file for import into this system, instead of the report."
)
@forms(
    {
        **{form: FORMS[form] for form in ("json", "markdown", "html")},
        "csv": "Print a CSV with one row per answer; formulas are escaped for spreadsheets.",
    }
)
def grade(
    what: str, answers: str, seed: int | None, students: str | None, variants: int | None, again: str | None,
    gradebook: Literal["canvas", "moodle"] | None, form: str | None,
) -> None:  # fmt: skip
    """Grade a class: marks, error-carried-forward credit, the mistake behind each wrong answer, and the most common mistakes.

    SET is the folder that 'quiz make' wrote, or a set with the --seed, --students and --variants it was made with.
    ANSWERS is a CSV, or a folder of CSV files, with a column 'student' and a column for each question, or with the columns
    student, question, answer. Names match regardless of accents, case and extra spaces; ambiguous names are not guessed.
    Exits with 1 if any answer is not right.

    \b
    glassformer quiz grade papers answers.csv
    glassformer quiz grade papers submissions/ --gradebook canvas --students canvas-export.csv > import.csv
    glassformer quiz grade papers answers.csv --again old-report.json
    """
    from glassformer.answers.quiz.regrading import Regraded
    from glassformer.show import present

    result = gf.grade_quiz(what, answers, seed=seed, students=students, variants=variants, again=again)
    graded = result.graded if isinstance(result, Regraded) else result
    if gradebook is not None:
        from glassformer.show.quiz.gradebooks import gradebook_csv

        text = gradebook_csv(graded, gradebook)
    else:
        text = to_json(result.to_dict()) if form == "json" else getattr(present(result), form or "text")()
    sys.stdout.write(text + "\n")
    if graded.wrong:
        sys.exit(1)
