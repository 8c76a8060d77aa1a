"""The explain command: traces one number of a run down to its arithmetic."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

import glassformer as gf
from glassformer.cli.options import as_option, input_options, to_json
from glassformer.configs.reading import is_there, only_fields, split_words
from glassformer.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.numbers import Run


@click.command()
@click.argument("words", nargs=-1, metavar="CHECKPOINT|SPEC [field=value …] NAME [axis=index …]")
@input_options
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Random seed of the weights, for a spec without weights (small, readable numbers).  [default: 0]",
)
@as_option
@click.option("--depth", default=1, show_default=True, type=click.IntRange(0, 12), help="Number of levels to expand.")
@click.option("--digits", default=4, show_default=True, type=click.IntRange(1, 17), help="Decimals to show.")
@click.option("--terms", default=8, show_default=True, type=click.IntRange(2, 10_000), help="Terms of a long sum to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def explain(words: tuple[str, ...], depth: int, digits: int, terms: int, as_json: bool, **given: Any) -> None:
    """Trace one number of a run down to its arithmetic.

    \b
    glassformer explain layer d_model=4 heads=2 d_ff=8 t=3 layers.0.attention.weights head=1 t=0 s=2
    glassformer explain path/to/checkpoint layers.3.attention.scores head=0 t=1 s=2 --text "a river bank"
    glassformer explain path/to/image-classifier head.logits class=2 --picture photo.png
    glassformer explain path/to/opus-mt-en-fr decoder.layers.0.cross.weights head=0 u=1 s=2 --text "A cat." --target "Un chat."
    glassformer explain bert-tiny vocab=50 layers.1.out t=1 d_model=7 --tokens 5,9,12 --depth 3
    """
    if sum("=" not in word or is_there(word) for word in words) < 2:
        raise GlassformerError(
            "no cell is given: name a model, then a tensor with the indices of a cell, as in "
            "'layer d_model=4 heads=2 t=3 layers.0.attention.weights head=1 t=0 s=2'. 'glassformer shapes' lists the names."
        )
    (what, fields), (name, cell) = split_words(words, count=2)
    run = run_of(what, fields, **given)
    opened = run.explain(name, **{axis: _index(axis, index) for axis, index in cell.items()})
    if as_json:
        sys.stdout.write(to_json(opened.to_dict(depth=depth, most=terms)) + "\n")
    else:
        sys.stdout.write(opened.text(depth=depth, digits=digits, most=terms) + "\n")


def run_of(
    what: str, fields: dict[str, str], *, tokens: str | None = None, target_tokens: str | None = None, **given: Any
) -> Run:
    """Run a checkpoint, or a spec with seeded readable weights, on text, token ids, an image or audio."""
    ids = _ids("tokens", tokens) if tokens is not None else None
    target_ids = _ids("target_tokens", target_tokens) if target_tokens is not None else None
    return gf.run(what, tokens=ids, target_tokens=target_ids, **given, **only_fields(fields))


def _ids(name: str, text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if len(text) > 1_000_000 or not all(word.isdecimal() and len(word) < 12 for word in words):
        raise GlassformerError(f"--{name.replace('_', '-')} {shown(text)} is not a list of token ids: write 101,7592,102.")
    return [int(word) for word in words]


def _index(axis: str, text: str) -> int:
    if not text.lstrip("-").isdecimal() or len(text) > 12:
        raise GlassformerError(f"{shown(axis)}={shown(text)} is not allowed: an index is a whole number, counted from 0.")
    return int(text)
