"""Commands of the numbers: explain one number of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glassformer.cli.options import as_option, to_json
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import is_there, only_fields, split_words

if TYPE_CHECKING:
    from glassformer.numbers import Run


@click.command()
@click.argument("words", nargs=-1, metavar="CHECKPOINT|SPEC [field=value …] NAME [axis=index …]")
@click.option("--text", help="What goes in, as text (a checkpoint's tokenizer reads it; a spec without one takes words).")
@click.option("--tokens", metavar="IDS", help="What goes in, as token ids: 101,7592,102.")
@click.option("--picture", metavar="FILE", help="What goes in, of an encoder that reads images.")
@click.option("--frames", metavar="FILE", help="What goes in, of an encoder that reads sound: an .npy file, [mel, frame].")
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="For a spec without weights: small legible numbers from this seed.  [default: 0]",
)
@as_option
@click.option("--depth", default=1, show_default=True, type=click.IntRange(0, 12), help="How many levels to open.")
@click.option("--digits", default=4, show_default=True, type=click.IntRange(1, 17), help="Decimals shown.")
@click.option("--terms", default=8, show_default=True, type=click.IntRange(2, 10_000), help="Terms shown of a long sum.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def explain(words: tuple[str, ...], depth: int, digits: int, terms: int, as_json: bool, **given: Any) -> None:
    """One number of a run, down to its arithmetic.

    \b
    glassformer explain layer d_model=4 heads=2 d_ff=8 t=3 layers.0.attention.weights head=1 t=0 s=2
    glassformer explain path/to/checkpoint layers.3.attention.scores head=0 t=1 s=2 --text "a river bank"
    glassformer explain path/to/image-classifier head.logits class=2 --picture photo.png
    glassformer explain bert-tiny vocab=50 layers.1.out t=1 d_model=7 --tokens 5,9,12 --depth 3
    """
    if sum("=" not in word or is_there(word) for word in words) < 2:
        raise GlassformerError(
            "which number? Name an encoder, then a tensor with the indices of a cell, as in "
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
    what: str,
    fields: dict[str, str],
    *,
    tokens: str | None = None,
    picture: str | None = None,
    frames: str | None = None,
    as_class: str | None = None,
    **given: Any,
) -> Run:
    """A run of a checkpoint folder on text, ids, a picture or sound, or of a spec with legible weights from a seed."""
    from glassformer import api

    ids = _ids(tokens) if tokens is not None else None
    read = {"picture": _pixels(what, picture, as_class), "frames": _sound(frames)}
    return api.run(what, tokens=ids, as_class=as_class, **read, **given, **only_fields(fields))


def _pixels(what: str, picture: str | None, as_class: str | None) -> Any:
    """A picture as the checkpoint reads it."""
    from glassformer.api import holds_weights
    from glassformer.cli.image_files import reading_of
    from glassformer.numbers import open_checkpoint

    if picture is None or not holds_weights(what):
        return picture
    checkpoint = open_checkpoint(what, as_class=as_class)
    return reading_of(checkpoint.spec, checkpoint.folder).pixels([Path(picture)])[0]


def _sound(frames: str | None) -> Any:
    """What a file holds, a number for each mel and frame."""
    from glassformer.cli.array_files import read_array

    if frames is None:
        return None
    found = read_array(Path(frames), wanted="An .npy file of numbers [mel, frame] is wanted.")
    if found.ndim not in (2, 3) or found.dtype.kind not in "fiu":
        raise GlassformerError(
            f"--frames {shown(frames)} has shape {list(found.shape)} and type {found.dtype}: numbers [mel, frame] are wanted."
        )
    return found


def _ids(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if len(text) > 1_000_000 or not all(word.isdecimal() and len(word) < 12 for word in words):
        raise GlassformerError(f"--tokens {shown(text)} is not a list of token ids: write 101,7592,102.")
    return [int(word) for word in words]


def _index(axis: str, text: str) -> int:
    if not text.lstrip("-").isdecimal() or len(text) > 12:
        raise GlassformerError(f"{shown(axis)}={shown(text)} is not allowed: an index is a whole number, counted from 0.")
    return int(text)
