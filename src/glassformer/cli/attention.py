"""The attention command: shows attention weights as text, a picture or a page."""

from __future__ import annotations

import sys
from typing import Any

import click

import glassformer as gf
from glassformer.cli.numbers import run_of
from glassformer.cli.options import Named, as_option, input_options, one_spec, to_json
from glassformer.configs.reading import split_words
from glassformer.errors import GlassformerError

FORMATS = ("png", "svg", "html")
MOST_IN_JSON = 2_000_000


@click.command()
@click.argument("words", nargs=-1, metavar="CHECKPOINT|SPEC [field=value …]")
@input_options
@click.option(
    "--cross",
    "kind",
    flag_value="cross",
    help="Cross-attention, from target to source, of an encoder-decoder.  [default for encoder-decoders]",
)
@click.option("--encoder", "kind", flag_value="encoder", help="Self-attention of the encoder, for an encoder-decoder.")
@click.option("--decoder", "kind", flag_value="decoder", help="Self-attention of the decoder, for an encoder-decoder.")
@as_option
@click.option("--layer", type=int, metavar="N", help="Show this layer only, counted from 0; -1 is the last.")
@click.option("--head", type=int, metavar="N", help="Show this head only, counted from 0; -1 is the last.")
@click.option(
    "--out", type=Named(), metavar="FILE", help="Write a picture, FILE.png or FILE.svg, or an interactive page, FILE.html."
)
@click.option("--seed", type=click.IntRange(min=0), help="Random seed of the weights, for a spec without weights.  [default: 0]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def attention(
    words: tuple[str, ...], layer: int | None, head: int | None, kind: Any, out: str | None, as_json: bool, **given: Any
) -> None:
    """Show the attention weights of one head, one layer or all layers, as text or as a picture file.

    \b
    glassformer attention path/to/checkpoint --text "time flies like an arrow" --layer 3 --out layer3.png
    glassformer attention path/to/checkpoint --text "time flies like an arrow" --out all.html
    glassformer attention path/to/opus-mt-en-fr --text "A small cat." --target "Un petit chat." --cross --out cross.png
    glassformer attention layer d_model=16 --text "Tom a été entarté cet été" --seed 3 --head 1
    """
    from glassformer.show.figures import check_format, drawing

    if out is not None and check_format(out, FORMATS) != "html":
        with drawing():  # fail before the run, which may take a while, if matplotlib is missing
            pass
    ((what, fields),) = split_words(one_spec(words), count=1)
    found = run_of(what, fields, **given).attention(layer=layer, head=head, kind=kind)
    if as_json:
        size = len(found.layers) * len(found.heads) * len(found.queries) * len(found.keys)
        if size > MOST_IN_JSON:
            raise GlassformerError(
                f"{size:,} attention weights are too many for JSON: choose --layer and --head, or --out FILE.html."
            )
        sys.stdout.write(to_json(found.to_dict()) + "\n")
    if out is not None:
        path = gf.save_picture(found, out)
        print(f"{found.label}, {found.counted}: {path}", file=sys.stderr if as_json else sys.stdout)
    elif not as_json:
        print(found.text())
