"""The report command: writes one HTML file about a spec, a checkpoint or a training run."""

from __future__ import annotations

import sys

import click

import glassformer as gf
from glassformer.api.reports import PARTS
from glassformer.cli.options import Named, as_option, complete_words, one_spec, to_json
from glassformer.configs.reading import only_fields, split_words


@click.command()
@click.argument("words", nargs=-1, metavar="RUN|CHECKPOINT|SPEC [field=value …]", shell_complete=complete_words)
@click.option("--text", help="Sentence whose attention is shown. [default: a built-in sentence]")
@as_option
@click.option(
    "--out",
    type=Named(),
    metavar="FILE",
    help="Output file. [default: RUN/report.html, or NAME-report.html in the current folder]",
)
@click.option("--without", metavar="PARTS", default="", help=f"Parts to leave out: {', '.join(PARTS)}.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: the path and the sections.")
def report(words: tuple[str, ...], out: str | None, without: str, as_json: bool, **given: str | None) -> None:
    """Write a self-contained HTML report about an encoder: ledger, diagram, shapes, cost, equations; for a checkpoint also
    attention and checks; for a run also curves.

    \b
    glassformer report bert-base t=512 --out bert.html
    glassformer report runs/digits-1
    glassformer report path/to/checkpoint --text "time flies like an arrow" --without shapes
    """
    ((what, fields),) = split_words(one_spec(words), count=1)
    found = gf.report(what, out=out, without=without, **given, **only_fields(fields))
    for note in found.notes:
        sys.stderr.write(f"{note}\n")
    if as_json:
        sys.stdout.write(to_json(found.to_dict()) + "\n")
    else:
        sys.stdout.write(f"report: {found.path} ({found.size / 1000:,.0f} kB; {', '.join(found.sections)})\n")
