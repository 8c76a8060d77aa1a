"""The command `translate`: translates texts with an encoder-decoder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

import glassformer as gf
from glassformer.checkpoints.folder import model_folder
from glassformer.cli.generate import print_written, sampling_options, search_options, text_options, texts_from
from glassformer.cli.model import checkpoint_argument


@click.command()
@checkpoint_argument
@text_options
@click.option(
    "--max-new-tokens",
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of new tokens. [default: 200, or as many as the decoder has positions]",
)
@search_options
@sampling_options
@click.option(
    "--alignment", is_flag=True, help="For each token, also print the source token with the largest cross-attention weight."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def translate(checkpoint: Path, texts: tuple[str, ...], file: str | None, as_json: bool, **options: Any) -> None:
    """Translate each text with an encoder-decoder (T5, BART, Marian, …): greedily, by beam search or by sampling.

    \b
    glassformer translate path/to/opus-mt-en-fr --text "A small house."
    glassformer translate path/to/opus-mt-en-fr --text "A small house." --beams 4 --alignment
    glassformer translate runs/translation-en-fr --file sentences.txt --beams 4 --length-penalty 0.6
    """
    model_folder(checkpoint)  # report a misspelt model before anything else
    found = gf.translate(checkpoint, texts_from(texts, file), **options)
    print_written(found, as_json, with_alignment)


def with_alignment(one: Any) -> str:
    """The translation, followed by its alignment table."""
    return str(one.text) if one.alignment is None else f"{one.text}\n{table(one.alignment.looks)}"


def table(looks: Iterable[tuple[str, str, float]]) -> str:
    """Each generated token, the source token with the largest cross-attention weight, and that weight."""
    from glassformer.show.table import Column, Table

    columns = Column("  token"), Column("looked at"), Column("weight", right=True)
    rows = [(f"  {target}", source, f"{weight:.2f}") for target, source, weight in looks]
    return Table("", columns, rows).text()
