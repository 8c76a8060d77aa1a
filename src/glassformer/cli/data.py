"""The command of the data: which sets are built in, and what stands in one, or in a file of your own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from glassformer.cli.options import Command, to_json
from glassformer.spec import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.show import Table
    from glassformer.training.data.description import Description

INK = " ░▒▓█"
WIDEST_PICTURE = 32
ACROSS = 96  # characters that pictures side by side may take
LONGEST_TEXT = 90


def complete_sets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Shell completion: the built-in sets."""
    from glassformer.training.data import SETS

    return [name for name in SETS if name.startswith(incomplete)]


def split_shares(ctx: click.Context, param: click.Parameter, text: str) -> tuple[float, ...]:  # noqa: ARG001
    """`0.7,0.1,0.2` as numbers; whether they are shares is checked where data is loaded."""
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise GlassformerError(f"--split {shown(text)} is not allowed: three shares as in 0.7,0.1,0.2.") from None


split_option = click.option(
    "--split",
    default="0.8,0.1,0.1",
    show_default=True,
    metavar="T,V,T",
    callback=split_shares,
    help="Shares of train, validation and test, where they are not given.",
)


def rows_options(no_label: str) -> Callable[[Command], Command]:
    """How data is read, the same wherever data is named; `no_label` is the help of --no-label."""
    options = (
        click.option("--text", default="text", show_default=True, metavar="COLUMN", help="The column that holds the text."),
        click.option("--label", default="label", show_default=True, metavar="COLUMN", help="The column that holds the label."),
        click.option("--no-label", is_flag=True, help=no_label),
        click.option("--skip-bad", is_flag=True, help="Leave out rows and images that cannot be used, instead of refusing them."),
        click.option("--resize", type=int, metavar="PIXELS", help="Bring images to this height and width."),
        split_option,
    )

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


@click.command()
@click.argument("name", required=False, shell_complete=complete_sets)
@click.option("--rows", default=5, show_default=True, type=click.IntRange(0, 1000), help="How many training rows are shown.")
@rows_options(no_label="Plain text, for training on masked tokens.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Which rows go to which part.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def data(name: str | None, rows: int, as_json: bool, no_label: bool, skip_bad: bool, **options: Any) -> None:
    """What can be learned from: the built-in sets, or a look into one of them or into your own data.

    NAME is a built-in set, a .csv, .tsv, .json, .jsonl, .parquet, .conll or .txt file, a folder with a folder a class, or
    hf:NAME.

    \b
    glassformer data
    glassformer data topic --rows 3
    glassformer data reviews.csv --text review --label stars
    """
    if name is None:
        _list_sets(as_json=as_json)
        return
    from glassformer.training.data import load_data
    from glassformer.training.data.description import describe

    if no_label:
        options["label"] = None
    found = describe(load_data(name, on_bad="skip" if skip_bad else "refuse", **options), rows=rows)
    if as_json:
        sys.stdout.write(to_json(found.to_dict()) + "\n")
        return
    from glassformer.show.terminal import show_on_terminal

    for number, view in enumerate(_views(found)):
        sys.stdout.write("\n" if number else "")
        show_on_terminal(view)
    if found.dataset.task == "image" and found.sample:
        sys.stdout.write("\n" + _gallery(found) + "\n")


def _list_sets(*, as_json: bool) -> None:
    from glassformer.training.data.sets import SETS, card, labels

    document: list[dict[str, Any]] = [
        {
            "name": name,
            "title": card(name).title,
            "task": built_in.task,
            "rows": card(name).rows(name),
            "labels": list(labels(name)),
            "licence": card(name).provenance.licence,
            "source": card(name).provenance.source,
            "baseline": card(name).provenance.baseline,
            "to_beat": built_in.to_beat,
        }
        for name, built_in in SETS.items()
    ]
    if as_json:
        sys.stdout.write(to_json(document) + "\n")
        return
    from glassformer.show.terminal import show_on_terminal

    show_on_terminal(_sets_table(document))


def _sets_table(document: list[dict[str, Any]]) -> Table:
    from glassformer.show import Column, Table

    heads = [Column("set"), Column("task"), *(Column(part, right=True) for part in ("train", "validation", "test"))]
    rows = [
        [
            one["name"],
            one["task"],
            *(f"{one['rows'][part]:,}" for part in ("train", "validation", "test")),
            str(len(one["labels"]) or "·"),
            "·" if one["to_beat"] is None else f"{one['to_beat']:.1f}",
            one["licence"],
        ]
        for one in document
    ]
    notes = [
        "",
        "To beat: test accuracy in percent (rows; of tag, tokens) of a linear model on counts or pixels.",
        "'glassformer data NAME' looks into one. A file or a folder of your own goes where a NAME goes.",
    ]
    columns = [*heads, Column("classes", right=True), Column("to beat", right=True), Column("licence")]
    return Table("", columns, rows, notes)


def _views(found: Description) -> list[Table]:
    from glassformer.show import Column, Table
    from glassformer.training.data.description import picture_size
    from glassformer.training.data.sets import SETS, card

    data = found.dataset
    title = card(data.name).title if data.name in SETS else f"task {data.task}"
    parts = list(found.rows)
    rows = [[label, *(f"{found.labels[part][label]:,}" for part in parts)] for label in data.labels]
    total = ["rows", *(f"{found.rows[part]:,}" for part in parts)]
    kind = "words with the label" if data.task == "tag" else "label"
    about = [f"size: {picture_size(data)} (channels × height × width)"] if data.task == "image" else []
    about += [f"{word}: {getattr(data.provenance, word)}" for word in ("source", "licence", "baseline")]
    about += [f"fingerprint: {data.fingerprint[:16]}", *(f"note: {note}" for note in data.notes)]
    heads = [Column(kind if data.labels else ""), *(Column(part, right=True) for part in parts)]
    gap = [[""] * len(heads)] if rows else []
    counts = Table(f"{data.name}: {title}", heads, [*rows, *gap, total], ["", *about], frozenset([len(rows) + len(gap)]))
    views = [counts]
    if any(found.lengths.values()):
        views.append(_lengths(found))
    if data.task != "image" and found.sample:
        views.append(_sample(found))
    return views


def _lengths(found: Description) -> Table:
    from glassformer.show import Column, Table

    rows = [
        [part, one.unit, str(one.shortest), f"{one.median:g}", f"{one.mean:g}", f"{one.most:g}", str(one.longest)]
        for part, units in found.lengths.items()
        for one in units
    ]
    heads = [Column(name, right=True) for name in ("shortest", "median", "mean", "95%", "longest")]
    return Table("", [Column("length"), Column("in"), *heads], rows)


def _sample(found: Description) -> Table:
    from glassformer.show import Column, Table

    rows = []
    for one, label in found.sample:
        text = " ".join(f"{word}/{tag}" for word, tag in zip(one, label, strict=True)) if isinstance(label, list) else one
        rows.append([*([label] if isinstance(label, str) else []), shown(text, limit=LONGEST_TEXT)])
    labelled = bool(rows) and len(rows[0]) == 2
    return Table("", [*([Column("label")] if labelled else []), Column("first training rows")], rows)


def _gallery(found: Description) -> str:
    """The pictures side by side, each under its label."""
    drawn = [(label, _drawing(image)) for image, label in found.sample if image.shape[2] <= WIDEST_PICTURE]
    if not drawn:
        return f"Pictures wider than {WIDEST_PICTURE} pixels are not drawn."
    width = len(drawn[0][1][0])
    per_line = max(1, ACROSS // (width + 2))
    blocks = []
    for start in range(0, len(drawn), per_line):
        some = drawn[start : start + per_line]
        lines = ["  ".join(label[:width].ljust(width) for label, _ in some)]
        lines += ["  ".join(rows) for rows in zip(*(rows for _, rows in some), strict=True)]
        blocks.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(blocks)


def _drawing(image: Any) -> list[str]:
    """An image in five shades: two characters a pixel, or, of a wide one, a character for two pixels above each other."""
    grey = image.mean(axis=0)
    if grey.shape[1] > 16:
        even = grey.shape[0] // 2 * 2
        grey = (grey[0:even:2] + grey[1:even:2]) / 2
        times = 1
    else:
        times = 2
    top = max(float(grey.max()), 1.0)
    return ["".join(INK[min(len(INK) - 1, int(value / top * len(INK)))] * times for value in row) for row in grey]
