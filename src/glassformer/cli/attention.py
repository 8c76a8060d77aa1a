"""The command that shows who attends to whom, as text, a picture or a page."""

from __future__ import annotations

import sys
from typing import Any

import click

from glassformer.cli.numbers import run_of
from glassformer.cli.options import Named, as_option, one_spec, to_json
from glassformer.spec import GlassformerError
from glassformer.spec.reading import split_words

FORMATS = ("png", "svg", "html")
MOST_IN_JSON = 2_000_000


@click.command()
@click.argument("words", nargs=-1, metavar="CHECKPOINT|SPEC [field=value …]")
@click.option("--text", help="What goes in (a checkpoint's tokenizer reads it; a spec without one takes words).")
@click.option("--tokens", metavar="IDS", help="What goes in, as token ids: 101,7592,102.")
@click.option("--picture", metavar="FILE", help="What goes in, of an encoder that reads images.")
@click.option("--frames", metavar="FILE", help="What goes in, of an encoder that reads sound: an .npy file, [mel, frame].")
@as_option
@click.option("--layer", type=int, metavar="N", help="One layer alone, from 0; -1 is the last.")
@click.option("--head", type=int, metavar="N", help="One head alone, from 0; -1 is the last.")
@click.option("--out", type=Named(), metavar="FILE", help="A picture, FILE.png or FILE.svg, or a page to explore, FILE.html.")
@click.option("--seed", type=click.IntRange(min=0), help="For a spec without weights.  [default: 0]")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def attention(words: tuple[str, ...], layer: int | None, head: int | None, out: str | None, as_json: bool, **given: Any) -> None:
    """Who attends to whom: one head, the heads of a layer, or all of them; text here, or a picture in a file.

    \b
    glassformer attention path/to/checkpoint --text "time flies like an arrow" --layer 3 --out layer3.png
    glassformer attention path/to/checkpoint --text "time flies like an arrow" --out all.html
    glassformer attention layer d_model=16 --text "Tom a été entarté cet été" --seed 3 --head 1
    """
    from glassformer.show.figures import check_format, drawing

    if out is not None and check_format(out, FORMATS) != "html":
        with drawing():  # is there a matplotlib? Said before the run, which may take a while
            pass
    ((what, fields),) = split_words(one_spec(words), count=1)
    found = run_of(what, fields, **given).attention(layer=layer, head=head)
    if as_json:
        size = len(found.layers) * len(found.heads) * len(found.words) ** 2
        if size > MOST_IN_JSON:
            raise GlassformerError(f"{size:,} weights are too many for JSON: choose --layer and --head, or --out FILE.html.")
        sys.stdout.write(to_json(found.to_dict()) + "\n")
    if out is not None:
        from glassformer.show.pictures import save_attention

        path = save_attention(found, out)
        print(f"{found.label}, {len(found.words)} tokens: {path}", file=sys.stderr if as_json else sys.stdout)
    elif not as_json:
        print(found.text())
