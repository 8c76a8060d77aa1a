"""Commands of the algebra: count, bridge, shapes, cost, notation."""

from __future__ import annotations

from typing import Any, cast, get_args

import click

from glassformer import algebra
from glassformer.algebra.memory import Dtype, Kernel, Optimizer
from glassformer.cli.options import OneOf, as_option, format_options, give, one_spec, words_argument
from glassformer.program import Program, build
from glassformer.program.pen import Convention, LatexPen, TextPen
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.reading import Request, only_fields, request, request_from_words, split_words

DTYPES = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}

columns_option = click.option("--columns", is_flag=True, help="Tokens as columns: X is d_model × t, Q = W_Q X.")


@click.command()
@words_argument
@click.option("--without", metavar="PARTS", help="Leave parts out: output, biases, norms, embeddings, pooler, head, qkv, ffn, …")
@click.option("--only", metavar="PARTS", help="Count these parts alone.")
@as_option
@format_options
def count(words: tuple[str, ...], without: str | None, only: str | None, as_class: str | None, form: str | None) -> None:
    """How many parameters, where, under which convention.

    A tree of subtotals: the layers by attention (qkv, output), ffn and norms, each matrix with its bias. The last lines name the
    convention and the largest part.

    \b
    glassformer count bert-base
    glassformer count layer d_model=64 heads=4 d_k=16 d_ff=120 --without output,biases,norms
    glassformer count bert-base head=classify classes=5 --only head
    glassformer count bert-base --only attention --without biases
    glassformer count path/to/config.json --as BertForMaskedLM
    """
    if only is not None and not only.strip(" ,"):
        raise GlassformerError("--only names no part: write --only ffn, or leave it out to count everything.")
    asked = request_from_words(one_spec(words), as_class=as_class)
    give(algebra.count(asked.spec, without=without, only=only, label=asked.label), form)


@click.command()
@click.argument("words", nargs=-1, metavar="SPEC [field=value …] SPEC [field=value …]")
@format_options
def bridge(words: tuple[str, ...], form: str | None) -> None:
    """Why two counts differ, line by line, summing exactly.

    Each spec is followed by its own fields; without=… and only=… set its convention, as=… the class of a config.

    \b
    glassformer bridge bert-base bert-base head=pretrain
    glassformer bridge bert-base modernbert-base
    glassformer bridge bert-base without=biases,norms bert-base
    """
    ends = []
    for name, fields in split_words(words, count=2):
        convention = {word: fields.pop(word, None) for word in ("without", "only")}
        asked = request(name, as_class=fields.pop("as", None), **only_fields(fields))
        label = asked.label + "".join(f" {word}={value}" for word, value in convention.items() if value)
        ends.append(algebra.count(asked.spec, **convention, label=label))
    give(algebra.bridge(*ends), form)


@click.command()
@words_argument
@columns_option
@click.option("--head", type=int, metavar="N", help="One head alone, from 0.")
@as_option
@format_options
def shapes(words: tuple[str, ...], columns: bool, head: int | None, as_class: str | None, form: str | None) -> None:
    """The shape of every tensor of the forward pass, with tokens as rows or as columns.

    \b
    glassformer shapes bert-base batch=1 t=5
    glassformer shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns
    glassformer shapes bert-base t=5 --head 0
    """
    asked = request_from_words(one_spec(words), as_class=as_class)
    convention: Convention = "columns" if columns else "rows"
    give(algebra.shapes(_program(asked), convention=convention, head=head, label=asked.label), form)


@click.command()
@words_argument
@click.option("--train", is_flag=True, help="A training step: forward, backward, gradients, optimizer state, saved activations.")
@click.option("--fused", is_flag=True, help="Assume a fused attention kernel: scores are not kept in memory.")
@click.option("--dtype", default="fp32", show_default=True, help=f"Number format: {', '.join(DTYPES)}.")
@click.option("--optimizer", default="adamw", show_default=True, type=OneOf(get_args(Optimizer)), help="Whose state to hold.")
@click.option("--fit", metavar="SIZE", help="The largest batch that fits into this much memory: 24GB, 80GiB.")
@as_option
@format_options
def cost(
    words: tuple[str, ...],
    train: bool,
    fused: bool,
    dtype: str,
    optimizer: Optimizer,
    fit: str | None,
    as_class: str | None,
    form: str | None,
) -> None:
    """FLOPs by part, bytes by use, and the batch that fits.

    \b
    glassformer cost bert-base batch=1 t=512
    glassformer cost vit-b16 classes=1000
    glassformer cost bert-base t=512 --train --dtype bf16 --fused --fit 24GB
    """
    asked = request_from_words(one_spec(words), as_class=as_class)
    number_format = cast(Dtype, DTYPES.get(dtype, dtype))
    if number_format not in get_args(Dtype):
        raise GlassformerError(f"--dtype {shown(dtype)} is not known: one of {', '.join(DTYPES)}.{nearest(dtype, DTYPES)}")
    kernel: Kernel = "fused" if fused else "materialised"
    result = algebra.cost(
        _program(asked),
        which="training" if train else "forward",
        kernel=kernel,
        dtype=number_format,
        optimizer=optimizer,
        label=asked.label,
    )
    extra: dict[str, Any] = {}
    notes: list[str] = []
    if fit is not None:
        limit = algebra.parse_bytes(fit)
        batch = algebra.largest_batch(
            asked.spec, limit, t=asked.t, training=train, kernel=kernel, dtype=number_format, optimizer=optimizer
        )
        extra = {"fit": {"bytes": limit, "batch": batch}}
        notes = [f"largest batch within {fit} ({limit:,} bytes): {batch}" + ("" if batch else ", not even one input fits")]
    give(result, form, extra, notes)


@click.command()
@words_argument
@columns_option
@as_option
@format_options
def notation(words: tuple[str, ...], columns: bool, as_class: str | None, form: str | None) -> None:
    """The whole forward pass as numbered equations.

    \b
    glassformer notation bert-base t=512
    glassformer notation layer --columns
    glassformer notation vit-b16 --latex
    """
    asked = request_from_words(one_spec(words), as_class=as_class)
    pen = (LatexPen if form in ("latex", "markdown") else TextPen)("columns" if columns else "rows")
    give(algebra.notation(_program(asked), pen, label=asked.label), form)


def _program(asked: Request) -> Program:
    return build(asked.spec, batch=asked.batch, t=asked.t)
