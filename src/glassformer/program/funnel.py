"""Layers between which the sequence is pooled, and layers that read it at its full length again (Dai et al. 2020)."""

from __future__ import annotations

from typing import NamedTuple

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import (
    Add,
    Contract,
    Distances,
    Mask,
    PickSegment,
    PickShifted,
    PoolPairs,
    PoolReal,
    SkipPairs,
    Softmax,
    Spread,
)
from glassformer.program.parts import CONTRACT, feed_forward, linear, norm
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec

LEAST = 2  # tokens, of which a sequence is not pooled any more


class Side(NamedTuple):
    """The properties of queries or keys other than their vectors: positions, segments, and which are real tokens."""

    places: tuple[int, ...]
    segments: Tensor
    real: Tensor | None

    @property
    def stride(self) -> int:
        return self.places[1] - self.places[0] if len(self.places) > 1 else 1


def funnel(write: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """All layers; the result has the length of the text where the spec has layers after its blocks."""
    whole = Side(tuple(range(x.axes[1].size)), write.input("segments", "input", *x.axes[:2]), real)
    layers, side, number = write.at("layers", "layers"), whole, 0
    states = [x]
    for block, size in enumerate(spec.funnel):
        pooled = block > 0 and x.axes[1].size > LEAST
        for place in range(size):
            for turn in range(spec.funnel_repeats[block]):
                here = layers.layer(number, spec.funnel_owners[number])
                if pooled and place == turn == 0:
                    x, side = _pooling(here, spec, x, side, block)
                else:
                    x = _layer(here, spec, x, x, side, side)
                states.append(x)
                number += 1
    if number == spec.layers:
        return x, side.real
    x = _upsampled(layers.layer(number, number), spec, x, states[spec.funnel[0]])
    for later in range(number, spec.layers):
        x = _layer(layers.layer(later, later), spec, x, x, whole, whole)
    return x, real


def _pooling(write: Writer, spec: EncoderSpec, x: Tensor, side: Side, block: int) -> tuple[Tensor, Side]:
    """The first layer of a block: its queries are means of two tokens each, its keys are all of them."""
    inside = write.at("pooling", "attention")
    short = Axis(x.axes[1].name, (x.axes[1].size + 1) // 2)
    query = inside.step("pooled_pairs", "pooled pairs", PoolPairs(short), x)
    segments = inside.step("pooled_segments", "pooled pairs", SkipPairs(short), side.segments)
    shorter = (-(2**block) + 1, *side.places[1:-1][::2])
    pooled = Side(shorter, segments, side.real)
    x = _layer(write, spec, query, x, pooled, side)
    if side.real is not None:
        keys = Axis("s", short.size)
        pooled = pooled._replace(real=inside.step("pooled_real", "pooled pairs", PoolReal(keys), side.real))
    return x, pooled


def _layer(write: Writer, spec: EncoderSpec, query: Tensor, memory: Tensor, asking: Side, asked: Side) -> Tensor:
    read = _attention(write.at("attention", "attention"), spec, query, memory.seen(t="s"), asking, asked)
    added = write.step("sum_1", "attention residual", Add(), query, read)
    x = norm(write, spec, "norm_1", added)
    out = feed_forward(write.at("ffn", "ffn"), spec, x)
    norm(write, spec, "norm_2", write.step("sum_2", "ffn residual", Add(), x, out))
    return write.hidden("out")


def _attention(write: Writer, spec: EncoderSpec, x: Tensor, memory: Tensor, asking: Side, asked: Side) -> Tensor:
    """Scores by content, by distance and by segment; the first token has no place and no segment."""
    head, d_k = Axis("head", spec.heads), Axis("d_k", spec.head_k)
    q = linear(write, "q", "query", x, "Q", (head, d_k), bias=spec.bias("q"))
    k = linear(write, "k", "key", memory, "K", (head, d_k), bias=spec.bias("k"))
    v = linear(write, "v", "value", memory, "V", (head, Axis("d_v", spec.head_v)), bias=spec.bias("v"))
    batch, t, s = x.axes[0], x.axes[1], memory.axes[1]
    square, product = (batch, head, t, s), Contract(d_k)

    def shifted(name: str) -> Tensor:
        constant = write.parameter(f"c_{name}", "query", head, d_k, kind="scale")
        return write.step(f"q_{name}", "query", Add(), q, constant)

    content = write.step("scores", "scores", product, shifted("content"), k, axes=square)
    step, shift = asked.stride, 1 if asking.places == asked.places else 2
    rows, d_model = Axis("distance", _many(asking, asked, shift)), Axis("d_model", spec.d_model)
    first = asking.places[0] - asked.places[0] + shift * len(asking.places) * step
    waves = write.step("waves", "position", Distances(rows, d_model, first, step))
    weight = write.parameter("c_R", "relative key", d_model, head, d_k)
    keys = write.step("k_relative", "relative key", CONTRACT, waves, weight, axes=(rows, head, d_k))
    every = write.step("to_distances", "content to buckets", product, shifted("place"), keys, axes=(batch, head, t, rows))
    by_place = write.step("by_distance", "content to position", PickShifted(t, s, shift), every)
    same = Axis("same", 2)
    table = write.parameter("E_same", "relative table", same, head, d_k, kind="table")
    both = write.step("to_segments", "content to buckets", product, shifted("segment"), table, axes=(batch, head, t, same))
    seen = asked.segments.seen(t="s")
    by_segment = write.step("by_segment", "content to position", PickSegment(s), both, asking.segments, seen)
    scores = write.step("biased", "biased scores", Add(), content, by_place, by_segment)
    if asked.real is not None:
        scores = write.step("masked", "masked scores", Mask(), scores, asked.real)
    weights = write.step("weights", "weights", Softmax("s"), scores)
    mix = write.step("mix", "mix", CONTRACT, weights, v, axes=(batch, t, head, v.axes[-1]))
    return linear(write, "out", "attention output", mix, "O", (d_model,), bias=spec.bias("output"), over=(head, v.axes[-1]))


def _many(asking: Side, asked: Side, shift: int) -> int:
    """How many distances there are from queries to keys, and as many again beyond the largest."""
    largest = asking.places[0] - asked.places[0] + shift * len(asking.places) * asked.stride
    return (largest - (asking.places[0] - asked.places[-1])) // asked.stride + 1


def _upsampled(write: Writer, spec: EncoderSpec, x: Tensor, first: Tensor) -> Tensor:
    """Each pooled token in the places that it stands for, plus what the first block gave there."""
    inside = write.at("spread", "attention")
    spread = inside.step("spread", "spread", Spread(first.axes[1], 2 ** (len(spec.funnel) - 1)), x)
    inside.step("sum", "spread", Add(), spread, first)
    return inside.hidden("out")
