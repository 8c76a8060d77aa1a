"""The command `algebra`: the shapes of a formula, and its traps."""

from __future__ import annotations

import sys

import click

import glassformer as gf
from glassformer.cli.options import format_options, give


@click.command()
@click.argument("formula")
@click.argument("shapes", nargs=-1, metavar="[NAME=SHAPE …]")
@format_options
def algebra(formula: str, shapes: tuple[str, ...], form: str | None) -> None:
    """Derive every shape in a formula; report a product that does not fit, or a formula that fits but means something else.

    Separate statements with ';', write products side by side and transposes as K^T; LaTeX works too. Sizes are numbers or
    symbols. '-' reads the formula from standard input.

    \b
    glassformer algebra "Q = W_Q X; K = W_K X; Q K^T" X=768x6 W_Q=768x768 W_K=768x768
    glassformer algebra "softmax(Q K^T / sqrt(d_k)) V" Q=5x64 K=7x64 V=7x32
    glassformer algebra "softmax(Q^T K / sqrt(d_k)) V^T" "Q=d_k x t" "K=d_k x t" "V=d_v x t" d_k=32 d_v=16 t=32
    """
    from glassformer.expressions.limits import FORMULA_CHARACTERS

    text = sys.stdin.read(FORMULA_CHARACTERS + 1) if formula == "-" else formula
    give(gf.check_formula(text, shapes), form)
