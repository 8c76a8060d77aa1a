"""The key/value cache: its size by kind of attention, the factors of that size, and which of them are often forgotten."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.algebra.decoding import CACHED, keys_seen
from glassformer.answers.quantities.answer import Other, mistaken
from glassformer.answers.quantities.context import Context
from glassformer.program import Axis, Tensor
from glassformer.program.axes import HEADS
from glassformer.spec import DecoderSpec, Seq2SeqSpec

LENGTHS = ("batch", "s")  # the axes of keys and values that count tokens


@dataclass(frozen=True)
class Cached:
    """The keys and values of some layers that store the same: attention, or cross-attention over a source."""

    kind: str
    factors: tuple[tuple[str, int], ...]  # layers, batch, tokens, heads, the width of a key and a value
    keys: int  # of these numbers, those of keys
    kept: int  # tokens kept, of `tokens`: fewer where a window drops earlier ones
    tokens: int
    group: int  # heads of queries that read one head of keys

    @property
    def numbers(self) -> int:
        return math.prod(size for _, size in self.factors)


def cached(context: Context) -> list[Cached]:
    """What a decoder stores of the tokens of the program; of an encoder, what a decoder like it would store."""
    spec, program = context.spec, context.program
    seen = keys_seen(program) if isinstance(spec, DecoderSpec | Seq2SeqSpec) else {}
    pairs: dict[str, list[Tensor]] = {}
    for step in program.steps:
        block = step.block
        here = block.kind in ("attention", "cross") and not (isinstance(spec, Seq2SeqSpec) and block.stack == "encoder")
        if here and step.role in CACHED and context.layer in (None, block.layer):
            pairs.setdefault(block.name, []).append(step.output)
    alike: dict[Cached, int] = {}
    for name, (key, value) in pairs.items():
        held = seen.get(name, key.axis("s").size)
        one = _of_one_layer(context, key, value, held)
        alike[one] = alike.get(one, 0) + 1
    return [_times(one, layers) for one, layers in alike.items()]


def _of_one_layer(context: Context, key: Tensor, value: Tensor, held: int) -> Cached:
    per_token = context.word("per", "", ("token",)) == "token"
    left_out = (*(LENGTHS if per_token else ()), *(HEADS if context.head is not None else ()))
    if key.axes[:-1] != value.axes[:-1]:  # keys that are normed before they are split into heads
        key = value._replace(axes=(*value.axes[:-1], Axis("d_k", context.program.spec_of(value.block).head_k)))
    d_k, d_v = key.axes[-1], value.axes[-1]
    shared = [(axis.name, held if axis.name == "s" else axis.size) for axis in key.axes[:-1] if axis.name not in left_out]
    factors = (*shared, (f"({d_k.name} + {d_v.name})", d_k.size + d_v.size))
    kind, tokens = key.block.kind, key.axis("s").size
    keys = math.prod(size for _, size in shared) * d_k.size
    return Cached(kind, factors, keys, tokens if per_token else held, tokens, context.program.spec_of(key.block).group)


def _times(one: Cached, layers: int) -> Cached:
    return Cached(one.kind, (("layers", layers), *one.factors), layers * one.keys, one.kept, one.tokens, one.group)


def mistaken_caches(context: Context, rows: list[Cached]) -> Iterator[Other]:
    """Yield the numbers of the cache that known mistakes give."""
    value = sum(row.numbers for row in rows)
    layers = max(dict(row.factors)["layers"] for row in rows)
    if layers > 1:
        one = sum(row.numbers // dict(row.factors)["layers"] for row in rows)
        yield mistaken("one_layer_only", "only one layer", one)
    if context.head is None and any(row.group > 1 for row in rows):
        every = sum(row.numbers * row.group for row in rows)
        yield mistaken("grouped_queries_ignored", "keys and values of all query heads", every)
        yield mistaken("grouped_queries_ignored", "one head of keys and values", value // context.spec.key_heads)
    yield mistaken("cache_keys_and_values", "keys without values", sum(row.keys for row in rows))
    yield mistaken("cache_keys_and_values", "keys and values counted twice", 2 * value)
    if context.head is None and context.spec.heads > 1:
        yield mistaken("heads_times_full_width", "keys and values of the full width for each head", value * context.spec.heads)
    squares = sum(row.tokens**2 * dict(row.factors)["layers"] for row in rows)
    for said, times in (("the keys and one for the values", 2), ("each head", context.spec.heads)):
        what = f"in each layer one t × t matrix for {said}"
        yield mistaken("size_replaced", what, squares * times * context.request.batch)
    own = sum(row.numbers for row in rows if row.kind != "cross")
    if own < value:
        yield mistaken("cross_attention_missing", "the keys and values of cross-attention left out", own)
        yield mistaken("cross_attention_missing", "only the keys and values of cross-attention", value - own)
    if any(row.kept < row.tokens for row in rows):
        whole = sum(row.numbers // row.kept * row.tokens for row in rows)
        yield mistaken("window_ignored_in_cache", "every token kept, also where the window drops earlier ones", whole)
    if context.request.batch > 1:
        yield mistaken("batch_forgotten", "one text of the batch", value // context.request.batch)
