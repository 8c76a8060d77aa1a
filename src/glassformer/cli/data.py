"""The data command: lists the built-in datasets and describes one of them or your own data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, get_args

import click

import glassformer as gf
from glassformer.cli.options import Command, OneOf, to_json
from glassformer.errors import GlassformerError, shown


def complete_sets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Complete the names of the built-in datasets."""
    from glassformer.training.data import SETS

    return [name for name in SETS if name.startswith(incomplete)]


def split_shares(ctx: click.Context, param: click.Parameter, text: str) -> tuple[float, ...]:  # noqa: ARG001
    """Parse `0.7,0.1,0.2` as numbers; `load_data` checks that they are valid shares."""
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise GlassformerError(f"--split {shown(text)} is not allowed: give three shares, as in 0.7,0.1,0.2.") from None


split_option = click.option(
    "--split",
    default="0.8,0.1,0.1",
    show_default=True,
    metavar="T,V,T",
    callback=split_shares,
    help="Shares of the training, validation and test splits, if the data is not split already.",
)


target_option = click.option(
    "--target",
    metavar="COLUMN|FILE",
    help="Column with the translations of the texts, or a second plain text file with one per line.",
)


def task_option(command: Command) -> Command:
    """Add `--task`: the type of the task, if the columns do not determine it."""
    from glassformer.training.data.row_options import Goal

    words = "Type of the labels: classes, numbers (regress), several classes per row as a|b (multilabel), or none (embed)."
    return click.option("--task", default="auto", show_default=True, type=OneOf(get_args(Goal)), help=words)(command)


def rows_options(no_label: str) -> Callable[[Command], Command]:
    """Add the options that say how data is read; `no_label` is the help text of --no-label."""
    options = (
        click.option(
            "--text", default="text", show_default=True, metavar="COLUMN", help="Column with the texts, or several: A,B."
        ),
        click.option("--label", default="label", show_default=True, metavar="COLUMN", help="Column with the labels."),
        click.option("--no-label", is_flag=True, help=no_label),
        click.option("--skip-bad", is_flag=True, help="Skip rows and images that cannot be used instead of refusing the data."),
        click.option("--resize", type=int, metavar="PIXELS", help="Resize images to this height and width."),
        split_option,
    )

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


@click.command()
@click.argument("name", required=False, shell_complete=complete_sets)
@click.option("--rows", default=5, show_default=True, type=click.IntRange(0, 1000), help="Number of training rows to show.")
@rows_options(no_label="Treat the data as plain text, for training on masked tokens.")
@task_option
@target_option
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def data(name: str | None, rows: int, as_json: bool, no_label: bool, skip_bad: bool, **options: Any) -> None:
    """List the built-in datasets, or describe one of them or your own data.

    NAME is a built-in dataset, a .csv, .tsv, .json, .jsonl, .parquet, .conll or .txt file, a folder with one subfolder per
    class, or hf:NAME.

    \b
    glassformer data
    glassformer data topic --rows 3
    glassformer data reviews.csv --text review --label stars
    """
    from glassformer.show.data import gallery, sets_table, tables
    from glassformer.show.terminal import show_on_terminal

    if name is None:
        sets = gf.data_sets()
        if as_json:
            sys.stdout.write(to_json(sets) + "\n")
        else:
            show_on_terminal(sets_table(sets))
        return
    if no_label:
        options["label"] = None
    found = gf.data(name, rows=rows, skip_bad=skip_bad, **options)
    if as_json:
        sys.stdout.write(to_json(found.to_dict()) + "\n")
        return
    for number, view in enumerate(tables(found)):
        sys.stdout.write("\n" if number else "")
        show_on_terminal(view)
    for pictures in gallery(found):
        sys.stdout.write(f"\n{pictures}\n")
