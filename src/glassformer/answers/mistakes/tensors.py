"""Mistakes in the shapes of tensors: the shapes that known misconceptions give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

from glassformer.answers.mistakes.other_sizes import sizes_of
from glassformer.program import Sizes
from glassformer.program.axes import HEADS
from glassformer.spec import EncoderSpec

Shape = tuple[int | str, ...]
Sides = tuple[tuple[str, int], ...]  # the name and the size of each axis
Wrong = tuple[str, str, Shape]  # code, what was done, the shape it gives

KEYS_AND_VALUES = ("k", "v", "W_K", "W_V", "b_K", "b_V")
OF_VALUES, OF_KEYS = ("mix", "v", "W_V", "W_O", "b_V", "concat"), ("q", "k", "W_Q", "W_K", "b_Q", "b_K")
PROJECTIONS = ("W_Q", "W_K", "W_V", "W_O")


class Form(NamedTuple):
    """One way to write the shape of a tensor, with the name of each axis."""

    said: str
    sides: Sides

    @property
    def shape(self) -> Shape:
        return tuple(size for _, size in self.sides)

    def put(self, place: int, size: int) -> Shape:
        return (*self.shape[:place], size, *self.shape[place + 1 :])

    @property
    def words(self) -> str:
        return f", {self.said}" if self.said else ""


@dataclass(frozen=True)
class Written:
    """A tensor, the usual ways to write its shape, and whether one head was asked for."""

    symbol: str
    forms: tuple[Form, ...]
    spec: EncoderSpec
    sizes: Sizes
    one_head: bool

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(form.shape for form in self.forms)

    @property
    def heads(self) -> int:
        return self.spec.key_heads if self.symbol in KEYS_AND_VALUES else self.spec.heads


def shape_mistakes(tensor: Written) -> Iterator[Wrong]:
    """Yield the shapes that known misconceptions give."""
    spec, symbol = tensor.spec, tensor.symbol
    if symbol in ("scores", "weights"):
        yield from _square_of_features(tensor)
        yield from _keys_by_queries(tensor)
        yield from _scores_of_key_heads(tensor) if spec.group > 1 else ()
        yield from _one_for_all_heads(tensor) if spec.heads > 1 and not tensor.one_head else ()
    if symbol == "concat" and spec.heads > 1:
        for shape, place in _places(tensor, spec.heads * spec.head_v):
            yield "one_head_vs_all_heads", "the width of one head", (*shape[:place], spec.head_v, *shape[place + 1 :])
    if spec.reads == "image" and spec.class_tokens:
        yield from _patches_alone(tensor)
    if spec.head_k != spec.head_v:
        yield from _mixed_widths(tensor)
    if spec.group > 1 and symbol in KEYS_AND_VALUES:
        yield from _keys_of_all_heads(tensor)
    if symbol in ("mix", "q", "k", "v") and spec.heads > 1:
        yield from _full_width_heads(tensor)
    if tensor.one_head and symbol in PROJECTIONS and spec.heads > 1:
        yield from _matrices_of_all_heads(tensor)
    yield from _other_axes(tensor)


def _other_axes(tensor: Written) -> Iterator[Wrong]:
    """Yield the shape with its axes in another order, and the usual shapes with one size taken for another."""
    whole = tensor.shapes[0]
    if tensor.symbol.endswith("ᵀ"):
        for form in tensor.forms:
            yield "axes_exchanged", f"not transposed{form.words}", (*form.shape[:-2], *form.shape[:-3:-1])
    for shape in permutations(whole) if len(whole) > 2 else ():
        yield "axes_exchanged", f"{' × '.join(map(str, whole))} in another order", shape
    named = {**sizes_of(tensor.spec, tensor.sizes.t), **({"u": tensor.sizes.u} if tensor.sizes.u else {})}
    for form in tensor.forms:
        for place, (label, right) in enumerate(form.sides):
            for name, size in named.items():
                if size not in (right, 1):
                    yield "size_replaced", f"{name} ({size:,}) taken for {label}{form.words}", form.put(place, size)


def _one_for_all_heads(tensor: Written) -> Iterator[Wrong]:
    for form in tensor.forms:
        left = tuple(size for label, size in form.sides if label not in HEADS)
        if len(left) < len(form.sides):
            yield "one_head_vs_all_heads", f"one matrix for all heads{form.words}", left


def _scores_of_key_heads(tensor: Written) -> Iterator[Wrong]:
    for form in tensor.forms:
        for place, (label, _) in enumerate(form.sides):
            if label in HEADS:
                what = f"scores of only {tensor.spec.key_heads} key heads{form.words}"
                yield "grouped_queries_ignored", what, form.put(place, tensor.spec.key_heads)


def _patches_alone(tensor: Written) -> Iterator[Wrong]:
    """Yield the shapes without the learned tokens."""
    length, patches = tensor.sizes.t, tensor.spec.patches
    for shape in tensor.shapes:
        if length in shape:
            yield "vit_tokens_or_patch", "the class token left out", tuple(patches if size == length else size for size in shape)


def _square_of_features(tensor: Written) -> Iterator[Wrong]:
    spec, batch, t = tensor.spec, tensor.sizes.batch, tensor.sizes.t
    prefixes: list[Shape] = [(), (batch,), (spec.heads,), (batch, spec.heads)]
    for prefix in prefixes:
        for width, text in ((spec.d_model, "d_model × d_model"), (spec.head_k, "d_k × d_k")):
            if width != t:
                yield "feature_by_feature", text, (*prefix, width, width)


def _keys_by_queries(tensor: Written) -> Iterator[Wrong]:
    """Yield the scores of cross-attention with keys as rows, or with one length twice."""
    for shape in tensor.shapes:
        t, s = shape[-2:] if len(shape) > 1 else (0, 0)
        if t != s:
            yield "queries_keys_transposed", "keys × queries", (*shape[:-2], s, t)
            yield "queries_keys_transposed", "the length of the queries twice", (*shape[:-2], t, t)
            yield "queries_keys_transposed", "the length of the keys twice", (*shape[:-2], s, s)


def _mixed_widths(tensor: Written) -> Iterator[Wrong]:
    d_k, d_v = tensor.spec.head_k, tensor.spec.head_v
    pairs = [(d_v, d_k)] if tensor.symbol in OF_VALUES else [(d_k, d_v)] if tensor.symbol in OF_KEYS else []
    for right, wrong in [*pairs, *((tensor.heads * right, tensor.heads * wrong) for right, wrong in pairs)]:
        for shape, place in _places(tensor, right):
            width = "d_k" if tensor.symbol in OF_VALUES else "d_v"
            yield (
                "dv_dk_mixed",
                f"{width} used: {wrong} features instead of {right}",
                (*shape[:place], wrong, *shape[place + 1 :]),
            )


def _keys_of_all_heads(tensor: Written) -> Iterator[Wrong]:
    """Yield the shapes with all heads for keys and values, which have fewer heads with grouped queries."""
    spec = tensor.spec
    width = spec.head_k if tensor.symbol in OF_KEYS else spec.head_v
    for size in (spec.key_heads, spec.key_heads * width):
        for shape, place in _places(tensor, size):
            wrong = (*shape[:place], size * spec.group, *shape[place + 1 :])
            yield "grouped_queries_ignored", "keys and values with all heads", wrong


def _full_width_heads(tensor: Written) -> Iterator[Wrong]:
    spec, batch, t = tensor.spec, tensor.sizes.batch, tensor.sizes.t
    prefixes: list[Shape] = [(), (batch,)]
    for prefix in prefixes:
        yield "one_head_vs_all_heads", "the full width given to one head", (*prefix, t, spec.heads, spec.d_model)
        if tensor.one_head:
            yield "one_head_vs_all_heads", "all heads together", (*prefix, t, spec.d_model)
    if tensor.one_head:
        yield "one_head_vs_all_heads", "all heads together, tokens as columns", (spec.d_model, t)


def _matrices_of_all_heads(tensor: Written) -> Iterator[Wrong]:
    """Yield the shapes of W_Q, W_K, W_V or W_O of all heads, if one head was asked for."""
    wide = tensor.heads * (tensor.spec.head_k if tensor.symbol in OF_KEYS else tensor.spec.head_v)
    for shape in ((tensor.spec.d_model, wide), (wide, tensor.spec.d_model)):
        yield "one_head_vs_all_heads", "the matrix of all heads together", shape


def _places(tensor: Written, size: int) -> Iterator[tuple[Shape, int]]:
    """Yield the positions of a size in the shapes."""
    for shape in tensor.shapes:
        for place, found in enumerate(shape):
            if found == size:
                yield shape, place
