"""The command `generate`: continues texts with a decoder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import glassformer as gf
from glassformer.checkpoints.folder import model_folder
from glassformer.cli.model import DTYPES, checkpoint_argument
from glassformer.cli.options import OneOf, to_json
from glassformer.errors import GlassformerError
from glassformer.files.text_lines import GivenTexts, TextLines

Command = TypeVar("Command", bound=Callable[..., Any])


def search_options(command: Command) -> Command:
    """Add the options of the search: device, beams and their scores."""
    for option in (
        click.option("--device", metavar="NAME", help="cpu, cuda, cuda:1, … [default: a GPU if there is one]"),
        click.option("--dtype", type=OneOf(DTYPES), default="float32", show_default=True, help="Number format."),
        click.option(
            "--early-stop", is_flag=True, help="Stop the beam search once the number of finished beams equals its width."
        ),
        click.option(
            "--length-penalty",
            type=float,
            default=1.0,
            show_default=True,
            help="Exponent of the length by which beam scores are divided.",
        ),
        click.option("--beams", type=click.IntRange(1), default=1, show_default=True, help="Width of the beam search."),
    ):
        command = option(command)
    return command


def sampling_options(command: Command) -> Command:
    """Add the options of sampling."""
    for option in (
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed of sampling."),
        click.option(
            "--top-p", type=float, metavar="P", help="Sample from the most probable tokens whose probabilities sum to P."
        ),
        click.option("--top-k", type=click.IntRange(1), metavar="K", help="Sample from the K most probable tokens."),
        click.option(
            "--temperature",
            type=float,
            metavar="X",
            help="Sample from softmax(logits / X); without it (or --top-k, --top-p) decoding is deterministic.",
        ),
    ):
        command = option(command)
    return command


def text_options(command: Command) -> Command:
    """Add the options for input texts."""
    for option in (
        click.option("--column", metavar="NAME", help="Column of a table. [default: text]"),
        click.option("--file", metavar="FILE", help="A file with one text per line, a table, or - for standard input."),
        click.option("--text", "texts", multiple=True, metavar="TEXT", help="A text; may be repeated."),
    ):
        command = option(command)
    return command


def texts_from(texts: tuple[str, ...], file: str | None) -> Any:
    """Return the texts of --text or --file."""
    if bool(texts) == (file is not None):
        raise GlassformerError("no input texts: give either --text (may be repeated) or --file FILE (- for standard input).")
    if file is None:
        return GivenTexts(texts, "--text")
    return TextLines(sys.stdin.buffer, "standard input") if file == "-" else Path(file)


def print_written(found: Any, as_json: bool, text: Callable[[Any], str]) -> None:
    """Print what a model wrote, and its notes to standard error."""
    for note in found.notes:
        print(f"glassformer: {note}", file=sys.stderr)
    if as_json:
        print(to_json(found.to_dict()))
        return
    for one in found:
        print(text(one))


@click.command()
@checkpoint_argument
@text_options
@click.option(
    "--max-new-tokens", type=click.IntRange(1), default=64, show_default=True, metavar="N", help="Maximum number of new tokens."
)
@search_options
@sampling_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def generate(checkpoint: Path, texts: tuple[str, ...], file: str | None, as_json: bool, **options: Any) -> None:
    """Continue each text with a decoder (GPT-2, Llama, …): greedily, by beam search or by sampling.

    \b
    glassformer generate path/to/gpt2 --text "Time flies like"
    glassformer generate path/to/gpt2 --text "Time flies like" --beams 4 --max-new-tokens 20
    glassformer generate path/to/gpt2 --file prompts.txt --temperature 0.8 --top-p 0.9 --seed 7
    """
    model_folder(checkpoint)  # report a misspelt model before anything else
    found = gf.generate(checkpoint, texts_from(texts, file), **options)
    print_written(found, as_json, lambda one: f"{one.prompt}{one.text}")
