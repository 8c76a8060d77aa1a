"""The algebra commands: count, bridge, shapes, cost, notation."""

from __future__ import annotations

from typing import Any, cast, get_args

import click

import glassformer as gf
from glassformer.algebra import parse_bytes
from glassformer.algebra.memory import Dtype, Optimizer
from glassformer.cli.options import OneOf, as_option, format_options, give, one_spec, words_argument
from glassformer.configs.reading import Request, only_fields, request, request_from_words, split_words
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.program.formatter import Convention
from glassformer.spec import EncoderSpec, Seq2SeqSpec

DTYPES = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}

columns_option = click.option("--columns", is_flag=True, help="Show tokens as columns: X is d_model × t, Q = W_Q X.")


@click.command()
@words_argument
@click.option(
    "--without", metavar="PARTS", help="Parts to leave out: output, biases, norms, embeddings, pooler, head, qkv, ffn, …"
)
@click.option("--only", metavar="PARTS", help="Parts to count; all others are left out.")
@as_option
@format_options
def count(words: tuple[str, ...], without: str | None, only: str | None, as_class: str | None, form: str | None) -> None:
    """Count parameters, by part and convention.

    Prints a tree of subtotals: each layer by attention (qkv, output), ffn and norms, each matrix with its bias. The last lines
    name the convention and the largest part.

    \b
    glassformer count bert-base
    glassformer count layer d_model=64 heads=4 d_k=16 d_ff=120 --without output,biases,norms
    glassformer count bert-base head=classify classes=5 --only head
    glassformer count bert-base --only attention --without biases
    glassformer count path/to/config.json --as BertForMaskedLM
    """
    if only is not None and not only.strip(" ,"):
        raise GlassformerError("--only is empty: write --only ffn, or omit it to count everything.")
    requested = request_from_words(one_spec(words), as_class=as_class, decoders=True)
    give(gf.count(requested, without=without, only=only), form)


@click.command()
@click.argument("words", nargs=-1, metavar="SPEC [field=value …] SPEC [field=value …]")
@format_options
def bridge(words: tuple[str, ...], form: str | None) -> None:
    """Explain why two parameter counts differ, line by line; the lines sum exactly to the difference.

    Each spec is followed by its fields; without=… and only=… set its convention, as=… the class of a config.

    \b
    glassformer bridge bert-base bert-base head=pretrain
    glassformer bridge bert-base modernbert-base
    glassformer bridge bert-base without=biases,norms bert-base
    """
    ends = []
    for name, fields in split_words(words, count=2):
        convention = {word: fields.pop(word, None) for word in ("without", "only")}
        requested = request(name, as_class=fields.pop("as", None), decoders=True, **only_fields(fields))
        label = requested.label + "".join(f" {word}={value}" for word, value in convention.items() if value)
        ends.append(gf.count(requested._replace(label=label), **convention))
    give(gf.bridge(*ends), form)


def _context(spec: EncoderSpec, longest: int | None) -> str:
    """Say how many tokens fit, and whether the model was made for as many."""
    if longest == 0:
        return "0, not even one token fits"
    stack = spec.decoder if isinstance(spec, Seq2SeqSpec) else spec
    made_for = "" if stack.positions is None else f"; the model is for positions={stack.positions:,}"
    if longest is None:
        kept = "none is kept" if stack.window is None else f"each layer keeps the last {stack.window // 2 + 1:,} of them"
        return f"any number of tokens, since {kept}{made_for}"
    return f"{longest:,} tokens{made_for if longest > (stack.positions or longest) else ''}"


@click.command()
@words_argument
@columns_option
@click.option("--head", type=int, metavar="N", help="Show this head only, counted from 0.")
@as_option
@format_options
def shapes(words: tuple[str, ...], columns: bool, head: int | None, as_class: str | None, form: str | None) -> None:
    """Show the shape of every tensor of the forward pass, with tokens as rows or as columns.

    \b
    glassformer shapes bert-base batch=1 t=5
    glassformer shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns
    glassformer shapes bert-base t=5 --head 0
    """
    requested = request_from_words(one_spec(words), as_class=as_class, decoders=True)
    convention: Convention = "columns" if columns else "rows"
    give(gf.shapes(requested, convention=convention, head=head), form)


@click.command()
@words_argument
@click.option(
    "--train", is_flag=True, help="Cost of a training step: forward, backward, gradients, optimizer state, saved activations."
)
@click.option("--fused", is_flag=True, help="Assume a fused attention kernel, which does not store the scores.")
@click.option(
    "--checkpointing",
    is_flag=True,
    help="With --train, store only the input of each layer and recompute the rest in the backward pass.",
)
@click.option("--dtype", default="fp32", show_default=True, help=f"Number format: {', '.join(DTYPES)}.")
@click.option(
    "--optimizer", default="adamw", show_default=True, type=OneOf(get_args(Optimizer)), help="Optimizer whose state is counted."
)
@click.option("--decode", is_flag=True, help="Cost of one decoding step with a key/value cache, and the bytes of the cache.")
@click.option(
    "--fit",
    metavar="SIZE",
    help="Find the largest batch (with --decode, the longest context) that fits into this much memory: 24GB, 80GiB.",
)
@as_option
@format_options
def cost(  # noqa: PLR0913 - one argument for each option
    words: tuple[str, ...],
    train: bool,
    fused: bool,
    checkpointing: bool,
    dtype: str,
    optimizer: Optimizer,
    decode: bool,
    fit: str | None,
    as_class: str | None,
    form: str | None,
) -> None:
    """Estimate FLOPs by part, memory by use, and the largest batch that fits.

    \b
    glassformer cost bert-base batch=1 t=512
    glassformer cost vit-b16 classes=1000
    glassformer cost bert-base t=512 --train --dtype bf16 --fused --fit 24GB
    glassformer cost llama-3-8b t=8192 --decode --dtype bf16 --fit 24GB
    """
    requested = request_from_words(one_spec(words), as_class=as_class, decoders=True)
    number_format = cast(Dtype, DTYPES.get(dtype, dtype))
    if number_format not in get_args(Dtype):
        raise GlassformerError(f"--dtype {shown(dtype)} is not known: one of {', '.join(DTYPES)}.{nearest(dtype, DTYPES)}")
    if decode:
        if train:
            raise GlassformerError("--train and --decode are two passes: a decoding step trains nothing. Leave one out.")
        _give_decoding(requested, number_format, fit, form)
        return
    how: dict[str, Any] = {"kernel": "fused" if fused else "materialised", "checkpointing": checkpointing}
    how |= {"train": train, "dtype": number_format, "optimizer": optimizer}
    result = gf.cost(requested, **how)
    extra: dict[str, Any] = {}
    notes: list[str] = []
    if fit is not None:
        limit = parse_bytes(fit)
        batch = gf.largest_batch(requested, limit, **how)
        extra = {"fit": {"bytes": limit, "batch": batch}}
        notes = [f"largest batch within {fit} ({limit:,} bytes): {batch}" + ("" if batch else ", not even one input fits")]
    give(result, form, extra, notes)


def _give_decoding(requested: Request, dtype: Dtype, fit: str | None, form: str | None) -> None:
    """Print the cost of a decoding step; with `fit`, the longest context, too."""
    result = gf.decoding(requested, dtype=dtype)
    if fit is None:
        give(result, form)
        return
    limit = parse_bytes(fit)
    longest = gf.longest_context(requested, limit, dtype=dtype)
    note = f"longest context within {fit} ({limit:,} bytes): {_context(requested.spec, longest)}"
    give(result, form, {"fit": {"bytes": limit, "context": longest}}, [note])


@click.command()
@words_argument
@columns_option
@as_option
@format_options
def notation(words: tuple[str, ...], columns: bool, as_class: str | None, form: str | None) -> None:
    """Write the whole forward pass as numbered equations.

    \b
    glassformer notation bert-base t=512
    glassformer notation layer --columns
    glassformer notation vit-b16 --latex
    """
    requested = request_from_words(one_spec(words), as_class=as_class, decoders=True)
    convention: Convention = "columns" if columns else "rows"
    give(gf.notation(requested, convention=convention, latex=form in ("latex", "markdown")), form)
