"""Multi-head attention as the paper writes it (Vaswani et al. 2017, section 3.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from glassformer.program.axes import Axis, Tensor
from glassformer.program.global_token import GlobalToken
from glassformer.program.landmarks import by_landmarks, with_neighbours
from glassformer.program.operations import (
    Add,
    Cap,
    Contract,
    Gate,
    Mask,
    Multiply,
    PatchBias,
    PickByDistance,
    Pointwise,
    RelativeBias,
    Rotate,
    RotateByLength,
    RotateByPatch,
    RotateByTable,
    RotateScaled,
    Scale,
    Share,
    Softmax,
    Split,
    Total,
)
from glassformer.program.page import apart
from glassformer.program.parts import CONTRACT, linear, norm
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import BiasPlace, EncoderSpec
from glassformer.spec.rotary_scales import COMPUTED, pair_divisors

SOFTMAX = Softmax("s")


class Turn(NamedTuple):
    """Rotary positions of one layer: the base of their angles, and sines and cosines where a table stores them."""

    base: float
    waves: Tensor | None = None


def attention(  # noqa: PLR0913
    write: Writer,
    spec: EncoderSpec,
    queries: Tensor,
    memory: Tensor,
    *,
    values: Tensor | None = None,
    real: Tensor | None = None,
    by_distance: Tensor | None = None,
    mask: Mask | None = None,
    turn: Turn | None = None,
) -> Tensor:
    """Each position of `queries` (`t`, or `u` in a decoder over an encoder) reads the positions `s` of `memory`.

    `memory` may be another sequence. The values are computed from `values`, by default the same as `memory`.

    `real` marks the keys that are not padding (True = attend); `mask` is the rule for which query may attend to which key.
    `by_distance` is a bias for the scores or, with disentangled attention, a vector for each bucket of distances.
    `turn` is the rotation of queries and keys by their positions, or None.
    """
    q, k, v = _projected(write, spec, queries, (memory, memory if values is None else values), turn)
    if spec.landmarks is not None:
        return _concatenated(write, spec, by_landmarks(write, spec, (q, k, v), real), v)
    head, d_v = q.axes[-2], v.axes[-1]
    batch, t, s = memory.axes[0], queries.axes[-2], memory.axis("s")
    square = (batch, head, t, s)
    product = _scaled_product(spec, spec.score_terms if by_distance is not None else 1)
    whole = GlobalToken(write, spec, queries, memory, product) if mask and spec.global_attention != "none" else None
    scores = whole.scores(q, k, square) if whole else write.step("scores", "scores", product, q, k, axes=square)
    if spec.score_cap is not None:
        scores = write.step("capped", "capped scores", Cap(spec.score_cap), scores)
    if by_distance is not None:
        terms = _disentangled(write, spec, by_distance, q, k, product) if spec.disentangled else [by_distance]
        if spec.relative_gate:
            terms = [_gated(write, spec, queries, by_distance, square)]
        scores = write.step("biased", "biased scores", Add(), scores, *terms)
    if mask is not None or real is not None:
        padding = () if real is None else (real,)
        scores = write.step("masked", "masked scores", mask or Mask(), scores, *padding)
    weights = write.step("weights", "weights", SOFTMAX, scores)
    mixed = (batch, t, head, d_v)
    mix = whole.mix(weights, v, mixed) if whole else write.step("mix", "mix", CONTRACT, weights, v, axes=mixed)
    return _concatenated(write, spec, mix, v)


def _concatenated(write: Writer, spec: EncoderSpec, mix: Tensor, v: Tensor) -> Tensor:
    """The heads side by side, projected."""
    head, d_v = mix.axes[-2:]
    if spec.value_kernel is not None:
        mix = with_neighbours(write, spec, mix, v)
    into = Axis("d_model" if spec.bottleneck is None else "d_bottleneck", spec.inner_width)
    bias, groups = spec.bias("output"), spec.groups_of("output")
    return linear(write, "out", "attention output", mix, "O", (into,), bias=bias, over=(head, d_v), groups=groups)


def _projected(
    write: Writer, spec: EncoderSpec, queries: Tensor, memory: tuple[Tensor, Tensor], turn: Turn | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of each head; `memory` holds the inputs of the keys and of the values.

    Grouped-query attention (Ainslie et al. 2023) has fewer heads of keys and values, each used by several query heads.
    """
    head, d_k, d_v = Axis("head", spec.heads), Axis("d_k", spec.head_k), Axis("d_v", spec.head_v)
    shared = spec.group > 1
    kv_head = Axis("kv_head", spec.key_heads) if shared else head
    q = _normed(write, spec, "q", "query", queries, (head, d_k))
    k = _normed(write, spec, "k", "key", memory[0], (kv_head, d_k))
    v = linear(write, "v", "value", memory[1], "V", (kv_head, d_v), bias=spec.bias("v"), groups=spec.groups_of("v"))
    if turn is not None:
        q, k, v = _rotated(write, spec, turn, q, k, v)
    if shared:
        k = write.step("k_shared", "shared key", Share("kv_head", head), k)
        v = write.step("v_shared", "shared value", Share("kv_head", head), v)
    return q, k, v


def _normed(write: Writer, spec: EncoderSpec, symbol: str, role: Role, x: Tensor, into: tuple[Axis, Axis]) -> Tensor:
    """Queries or keys, with an optional norm over each head (Qwen3) or over all heads together (OLMo 2)."""
    place: BiasPlace = "q" if symbol == "q" else "k"
    index, bias = symbol.upper(), spec.bias(place)
    if spec.query_key_norm != "all":
        made = linear(write, symbol, role, x, index, into, bias=bias, groups=spec.groups_of(place))
        return norm(write, spec, f"{symbol}_norm", made) if spec.query_key_norm == "head" else made
    wide = Axis(f"d_{symbol}", into[0].size * into[1].size)
    made = norm(write, spec, f"{symbol}_norm", linear(write, symbol, role, x, index, (wide,), bias=bias))
    return write.step(f"{symbol}_heads", "heads", Split(wide.name, into), made)


def _rotated(write: Writer, spec: EncoderSpec, turn: Turn, *qkv: Tensor) -> Iterator[Tensor]:
    """Queries and keys rotated by their positions, and values too if the spec says so."""
    base, waves = turn
    names: tuple[tuple[str, Role], ...] = (("q", "rotated query"), ("k", "rotated key"), ("v", "rotated value"))
    for (symbol, role), x in zip(names, qkv, strict=True):
        along = x.axes[1].name
        stored = () if waves is None else (waves.seen(**{waves.axes[0].name: along}),)
        turns = symbol != "v" or spec.rotary_values
        yield write.step(f"{symbol}_rotated", role, _rotation(spec, along, base), x, *stored) if turns else x


def _rotation(spec: EncoderSpec, along: str, base: float) -> Rotate:
    """Rotary positions of a sequence or of image patches, which may follow other tokens."""
    if spec.position == "rotary_2d":
        return RotateByPatch(along, base, spec.patch_grid, spec.class_tokens + spec.registers)
    rule = spec.rotary_scaling
    if rule in COMPUTED:
        divisors = tuple(pair_divisors(spec, base, spec.rotary_width or spec.head_k))
        return RotateScaled(along, base, rule, divisors, width=spec.rotary_width, amplitude=spec.rotary_amplitude)
    if rule != "none":
        return RotateByLength(along, base, rule, width=spec.rotary_width)
    adjacent = spec.rotary_pairs == "adjacent"
    if spec.stores_rotation:
        return RotateByTable(along, base, adjacent=adjacent)
    return Rotate(along, base, divisor=spec.rotary_divisor, width=spec.rotary_width, adjacent=adjacent)


def _scaled_product(spec: EncoderSpec, terms: int) -> Contract:
    """The product of queries and keys, divided by the square root that the spec defines."""
    if spec.score_divisor is not None:
        return Contract(Axis("score_divisor", spec.score_divisor), terms)
    divisor = {"d_k": Axis("d_k", spec.head_k), "d_model": Axis("d_model", spec.d_model), "none": None}[spec.scale]
    return Contract(divisor, terms) if divisor else CONTRACT


def _disentangled(write: Writer, spec: EncoderSpec, distances: Tensor, q: Tensor, k: Tensor, product: Contract) -> list[Tensor]:
    """Disentangled attention (He et al. 2021, section 3.1): queries attend to distances, and distances attend to keys."""
    batch, t, s = q.axes[0], q.axis("t"), k.axis("s")
    head, d_k, bucket = Axis("head", spec.heads), Axis("d_k", spec.head_k), distances.axes[0]
    kv_head = Axis("kv_head", spec.key_heads) if spec.group > 1 else head
    pick = PickByDistance(spec.relative_distance, t, s)
    own = "R" if spec.relative_projections == "own" else ""
    terms = []
    if spec.content_to_position:
        keys = linear(write, "k_relative", "relative key", distances, f"K{own}", (kv_head, d_k), bias=spec.bias("k"))
        if spec.group > 1:
            keys = write.step("k_relative_shared", "shared relative key", Share("kv_head", head), keys)
        every = write.step("content_to_buckets", "content to buckets", product, q, keys, axes=(batch, head, t, bucket))
        terms.append(write.step("content_to_position", "content to position", pick, every))
    if spec.position_to_content:
        queries = linear(write, "q_relative", "relative query", distances, f"Q{own}", (head, d_k), bias=spec.bias("q"))
        every = write.step("buckets_to_content", "buckets to content", product, k, queries, axes=(batch, head, s, bucket))
        terms.append(write.step("position_to_content", "position to content", pick, every))
    return terms


def _gated(write: Writer, spec: EncoderSpec, x: Tensor, bias: Tensor, square: tuple[Axis, ...]) -> Tensor:
    """The relative bias times a gate for each token and head, computed from the features of that head (Chi et al. 2022)."""
    head, gate, part = square[1], Axis("gate", 2), Axis("part", 4)
    cut = write.step("features", "head features", Split("d_model", (head, Axis("d_head", spec.d_model // spec.heads))), x)
    scores = linear(write, "gate_scores", "gate scores", cut, "gate", (gate, part), bias=True)
    sums = write.step("gate_sums", "gate sums", Total("part"), scores)
    parts = write.step("gate_parts", "gate parts", Pointwise("sigmoid"), sums)
    constant = write.parameter("c_gate", "gate", head, kind="scale")
    opened = write.step("gate", "gate", Gate("gate"), parts, constant)
    return write.step("gated", "gated bias", Multiply(), bias, opened, axes=square)


def relative_table(write: Writer, spec: EncoderSpec, t: Axis, s: Axis) -> Tensor:
    """A relative position table: the bias that it adds for each head, query and key, or its vectors."""
    rows, head, d_model = Axis("bucket", spec.relative_rows), Axis("head", spec.heads), Axis("d_model", spec.d_model)
    table = write.parameter("E_relative", "relative table", rows, d_model if spec.disentangled else head, kind="table")
    if spec.disentangled:
        return norm(write, spec, "relative_norm", table) if spec.relative_norm else table
    if spec.position.endswith("2d"):
        return write.step("relative", "relative bias", PatchBias(spec.patch_grid, t, s), table)
    by_bucket = RelativeBias(spec.relative_distance, t, s, backward=spec.relative_backward)
    found = [write.step("relative", "relative bias", by_bucket, table), *apart(write, spec, t, s)]
    bias = write.step("relative_sum", "summed bias", Add(), *found) if len(found) > 1 else found[0]
    scale = Scale(1 / math.sqrt(spec.head_k), "1/√d_k")
    return write.step("relative_scaled", "scaled bias", scale, bias) if spec.relative_scaled else bias
