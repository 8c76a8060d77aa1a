"""The command of the by-hand room: work."""

from __future__ import annotations

import sys

import click

from glassformer.cli.options import format_options, to_json
from glassformer.spec import GlassformerError


@click.command()
@click.argument("file")
@click.option("--digits", type=int, metavar="N", help="Decimals that are shown: 4, or what the file says.")
@click.option("--rounded", type=int, metavar="K", help="Carry K decimals only, like a person with a pocket calculator.")
@click.option("--ask", metavar="NAMES", help="What to work out, instead of what the file asks: weights,output.")
@format_options
def work(file: str, digits: int | None, rounded: int | None, ask: str | None, form: str | None) -> None:
    """A problem worked by hand: every step with its rule, its numbers and its result.

    FILE is TOML or JSON with a few vectors and matrices; docs/by-hand.md describes it.

    \b
    glassformer work examples/flying.toml
    glassformer work examples/flying.toml --rounded 2
    glassformer work examples/layer-norm.toml --digits 6 --json
    """
    from glassformer.numbers.by_hand import load_problem, solve
    from glassformer.show.work import worksheet

    for name, value in (("digits", digits), ("rounded", rounded)):
        if value is not None and not 0 <= value <= 15:
            raise GlassformerError(f"--{name} {value} is not allowed: from 0 to 15 decimals.")
    problem = load_problem(file)
    digits = problem.option("digits", 4) if digits is None else digits
    if ask is not None:
        problem = problem.replace(ask=tuple(word.strip() for word in ask.split(",") if word.strip()))
    solution = solve(problem)
    sheet = worksheet(solution, digits, rounded)
    if form == "json":
        document = sheet.solution.to_dict(sheet.digits)
        if rounded is not None:
            document |= {"rounded": rounded, "moved": solution.moved(sheet.solution)}
        sys.stdout.write(to_json(document) + "\n")
        return
    sys.stdout.write(getattr(sheet, form or "text")() + "\n")
