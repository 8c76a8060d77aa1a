"""The commands `card` and `compare`: one model in figures, and several side by side."""

from __future__ import annotations

import click

import glassformer as gf
from glassformer.cli.options import Named, as_option, complete_words, format_options, give, one_spec, words_argument
from glassformer.configs.reading import only_fields, request, split_specs, split_words
from glassformer.errors import GlassformerError


@click.command()
@words_argument
@as_option
@click.option("--out", type=Named(), metavar="FILE", help="Write the card to a new file that ends in .md or .html.")
@format_options
def card(words: tuple[str, ...], as_class: str | None, out: str | None, form: str | None) -> None:
    """Write a model card: parameters by part, FLOPs and memory at usual lengths, the largest batch on common GPUs, the attention
    pattern, and for a folder also its tokenizer and licence.

    \b
    glassformer card path/to/checkpoint --out MODEL_CARD.md
    glassformer card path/to/config.json --as BertForMaskedLM --markdown
    glassformer card bert-base --out bert-base.html
    """
    ((what, fields),) = split_words(one_spec(words), count=1)
    found = gf.card(what, out=out, as_class=as_class, **only_fields(fields))
    if out is None:
        give(found, form)
    else:
        click.echo(f"card: {out}")


@click.command()
@click.argument("words", nargs=-1, metavar="SPEC [field=value …] SPEC [field=value …] …", shell_complete=complete_words)
@click.option(
    "--t",
    type=click.IntRange(min=1),
    metavar="N",
    help="Length of the inputs in tokens. [default: 512, or the model's maximum if shorter]",
)
@click.option("--speed", is_flag=True, help="Also measure the speed on this machine, with random weights.")
@format_options
def compare(words: tuple[str, ...], t: int | None, speed: bool, form: str | None) -> None:
    """Compare models side by side: parameters, FLOPs per position, memory, longest input, attention, and optionally speed.

    \b
    glassformer compare bert-base modernbert-base
    glassformer compare bert-base bert-base layers=6 minilm-l6 --t 128 --markdown
    glassformer compare bert-base path/to/checkpoint --speed
    """
    specs = split_specs(words)
    if len(specs) < 2:
        raise GlassformerError("compare needs at least two specs, as in 'glassformer compare bert-base modernbert-base'.")
    requested = [request(name, as_class=fields.pop("as", None), decoders=True, **only_fields(fields)) for name, fields in specs]
    give(gf.compare(*requested, t=t, speed=speed), form)
