"""The command `work`: a problem worked by hand."""

from __future__ import annotations

import sys

import click

import glassformer as gf
from glassformer.cli.options import format_options, to_json
from glassformer.errors import GlassformerError


@click.command()
@click.argument("file")
@click.option("--digits", type=int, metavar="N", help="Decimals to show; by default 4, or as set in the file.")
@click.option("--rounded", type=int, metavar="K", help="Round every intermediate result to K decimals, as when working by hand.")
@click.option("--ask", metavar="NAMES", help="Results to compute instead of those requested in the file: weights,output.")
@format_options
def work(file: str, digits: int | None, rounded: int | None, ask: str | None, form: str | None) -> None:
    """Work a problem by hand: every step with its rule, numbers and result.

    FILE is a TOML or JSON file with a few vectors and matrices; docs/by-hand.md describes the format.

    \b
    glassformer work examples/flying.toml
    glassformer work examples/flying.toml --rounded 2
    glassformer work examples/layer-norm.toml --digits 6 --json
    """
    from glassformer.show.work import worksheet

    for name, value in (("digits", digits), ("rounded", rounded)):
        if value is not None and not 0 <= value <= 15:
            raise GlassformerError(f"--{name} {value} is not allowed: use 0 to 15 decimals.")
    solution = gf.work(file, ask=ask)
    digits = solution.problem.option("digits", 4) if digits is None else digits
    sheet = worksheet(solution, digits, rounded)
    if form == "json":
        document = sheet.solution.to_dict(sheet.digits)
        if rounded is not None:
            document |= {"rounded": rounded, "moved": solution.moved(sheet.solution)}
        sys.stdout.write(to_json(document) + "\n")
        return
    sys.stdout.write(getattr(sheet, form or "text")() + "\n")
