"""Triton kernels for attention within each sequence, with dropout: forward pass, gradients of queries, and of keys and values."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from glassformer.model.fast.attention_dropout import SPARE, lowest_kept
from glassformer.model.fast.operations import operation


class Blocks(NamedTuple):
    """Block sizes, in queries and keys: for the forward pass and the gradient of queries, and for the gradient of keys."""

    forward: tuple[int, int]
    to_queries: tuple[int, int]
    to_keys: tuple[int, int]


# The best of some thirty pairs: for short sequences, for long ones, and for wide heads.
SMALL = Blocks((64, 32), (64, 32), (16, 64))
LARGE = Blocks((64, 64), (64, 64), (32, 64))
WIDE = Blocks((64, 32), (64, 32), (32, 64))


@triton.jit
def sequence_of(BOUNDS, longest, blocks, heads, PACKED: tl.constexpr):
    """The block and the head of this program, and the position of its sequence."""
    program = tl.program_id(0)
    sequence = program // (blocks * heads)
    if PACKED:
        start = tl.load(BOUNDS + sequence)
        length = tl.load(BOUNDS + sequence + 1) - start
    else:
        start, length = sequence * longest, longest
    return program % blocks, program // blocks % heads, start, length


@triton.jit
def rows_of(X, first, tokens, features, stride, length, EVEN: tl.constexpr):
    """Load some tokens of one head, with zeros beyond the end of the sequence."""
    at = X + first * stride + (tokens[:, None] * stride + features[None, :])
    return tl.load(at) if EVEN else tl.load(at, mask=first + tokens[:, None] < length, other=0.0)


@triton.jit
def logs_of(LOGS, first, tokens, length, EVEN: tl.constexpr):
    """Load logarithms of sums, infinite beyond the end of the sequence, so that weights are zero there."""
    at = LOGS + first + tokens
    return tl.load(at) if EVEN else tl.load(at, mask=first + tokens < length, other=float("inf"))


# `attention_dropout.kept` defines which weights dropout keeps. In assembler, since the weights of two neighbours are in one
# thread: one product for both, and one comparison of both halves. The compiler used seven instructions per weight.


@triton.jit
def dropped_in_halves(x, queries, keys, lowest):
    """16-bit weights, [query, key], with zeros where one is dropped."""
    return tl.inline_asm_elementwise(
        "{ .reg .b32 r; mul.lo.s32 r, $2, $4; set.geu.u32.f16x2 r, r, $6; and.b32 $0, $1, r; }",
        "=r,r,r,r,r,r,r,r",
        [x, queries[:, None], keys[None, :], lowest],
        dtype=x.dtype,
        is_pure=True,
        pack=2,
    )


@triton.jit
def left_of_row(x, queries, keys, lowest):
    """The same for 32-bit weights."""
    return tl.inline_asm_elementwise(
        "{ .reg .pred p, q; .reg .b32 r; mul.lo.s32 r, $4, $6; setp.geu.f16x2 p|q, r, $8;"
        " selp.f32 $0, $2, 0f00000000, p; selp.f32 $1, $3, 0f00000000, q; }",
        "=f,=f,f,f,r,r,r,r,r,r",
        [x, queries[:, None], keys[None, :], lowest],
        dtype=tl.float32,
        is_pure=True,
        pack=2,
    )


@triton.jit
def left_of_column(x, queries, keys, lowest):
    """The same with keys as rows and queries as columns; the upper halves of products with `upper` numbers of keys decide."""
    return tl.inline_asm_elementwise(
        "{ .reg .pred p, q; .reg .b32 r, s; mul.lo.s32 r, $4, $6; mul.lo.s32 s, $5, $7; prmt.b32 r, r, s, 0x7632;"
        " setp.geu.f16x2 p|q, r, $8; selp.f32 $0, $2, 0f00000000, p; selp.f32 $1, $3, 0f00000000, q; }",
        "=f,=f,f,f,r,r,r,r,r,r",
        [x, queries[None, :], keys[:, None], lowest],
        dtype=tl.float32,
        is_pure=True,
        pack=2,
    )


@triton.jit
def upper(LOTS, keys):
    """The number that a key shares with its neighbour, shifted up if the lower half of a product belongs to the key."""
    return tl.load(LOTS + keys - keys % 2) << (16 - keys % 2 * 16)


@triton.jit
def attend_kernel(
    Q, K, V, OUT, LOGS, BOUNDS, LOTS, scale, lowest, larger_by, longest, blocks, heads, numbers,
    q_token, q_head, k_token, k_head, v_token, v_head,
    WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, PACKED: tl.constexpr, EVEN: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """Some queries of one head of one sequence: iterates over blocks of keys, rescaling the sum when a larger score occurs."""
    block, head, start, length = sequence_of(BOUNDS, longest, blocks, heads, PACKED)
    if block * QUERIES < length:
        rows = block * QUERIES + tl.arange(0, QUERIES)
        features, columns = tl.arange(0, WIDTH), tl.arange(0, KEYS)
        far = start.to(tl.int64)
        q = rows_of(Q + far * q_token + head * q_head, 0, rows, features, q_token, length, EVEN)
        k_at, v_at = K + far * k_token + head * k_head, V + far * v_token + head * v_head
        statistic = head * numbers + start
        if DROPS:
            mine = tl.load(LOTS + statistic + rows)
        largest = tl.full([QUERIES], -float("inf"), tl.float32)
        total = tl.zeros([QUERIES], tl.float32)
        mix = tl.zeros([QUERIES, WIDTH], tl.float32)
        for at in tl.range(0, length, KEYS, num_stages=3):
            k = rows_of(k_at, at, columns, features, k_token, length, EVEN)
            v = rows_of(v_at, at, columns, features, v_token, length, EVEN)
            scores = tl.dot(q, tl.trans(k))
            if not EVEN:
                scores = tl.where((at + columns < length)[None, :], scores, -float("inf"))
            larger = tl.maximum(largest, tl.max(scores, 1) * scale)
            weights = tl.exp2(scores * scale - larger[:, None])
            shrink = tl.exp2(largest - larger)
            total = total * shrink + tl.sum(weights, 1)
            used = weights.to(v.dtype)
            if DROPS:
                theirs = tl.load(LOTS + heads * numbers + statistic + at + columns)
                used = dropped_in_halves(used, mine, theirs, lowest)
            mix = tl.dot(used, v, mix * shrink[:, None])
            largest = larger
        real = rows < length
        out = OUT + (far + rows[:, None]) * heads * WIDTH + head * WIDTH + features[None, :]
        tl.store(out, (mix * (larger_by / total)[:, None]).to(OUT.dtype.element_ty), mask=real[:, None])
        tl.store(LOGS + statistic + rows, largest + tl.log2(total), mask=real)


@triton.jit
def to_queries_kernel(
    QKV, OUT, G, D, LOGS, MEANS, BOUNDS, LOTS, scale, lowest, smaller_by, q_by, longest, blocks, heads, numbers,
    WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, PACKED: tl.constexpr, EVEN: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """The gradient of some queries and, for the other kernel, each query's mean gradient of a score."""
    block, head, start, length = sequence_of(BOUNDS, longest, blocks, heads, PACKED)
    if block * QUERIES < length:
        rows = block * QUERIES + tl.arange(0, QUERIES)
        features, columns = tl.arange(0, WIDTH), tl.arange(0, KEYS)
        real, far, token = rows < length, start.to(tl.int64), 3 * heads * WIDTH
        inputs = QKV + far * token + head * WIDTH
        outputs = far * heads * WIDTH + head * WIDTH
        q = rows_of(inputs, 0, rows, features, token, length, EVEN)
        g = rows_of(G + outputs, 0, rows, features, heads * WIDTH, length, EVEN)
        out = rows_of(OUT + outputs, 0, rows, features, heads * WIDTH, length, EVEN)
        statistic = head * numbers + start
        logs = logs_of(LOGS + statistic, 0, rows, length, EVEN)
        mean = tl.sum(g.to(tl.float32) * out.to(tl.float32), 1) * smaller_by
        tl.store(MEANS + statistic + rows, mean, mask=real)
        if DROPS:
            mine = tl.load(LOTS + statistic + rows)
        d_q = tl.zeros([QUERIES, WIDTH], tl.float32)
        for at in tl.range(0, length, KEYS, num_stages=3):
            k = rows_of(inputs + heads * WIDTH, at, columns, features, token, length, EVEN)
            v = rows_of(inputs + 2 * heads * WIDTH, at, columns, features, token, length, EVEN)
            weights = tl.exp2(tl.dot(q, tl.trans(k)) * scale - logs[:, None])
            d_weights = tl.dot(g, tl.trans(v))
            if DROPS:
                theirs = tl.load(LOTS + heads * numbers + statistic + at + columns)
                d_weights = left_of_row(d_weights, mine, theirs, lowest)
            d_q = tl.dot((weights * (d_weights - mean[:, None])).to(k.dtype), k, d_q)
        to = D + (far + rows[:, None]) * token + head * WIDTH + features[None, :]
        tl.store(to, (d_q * q_by).to(D.dtype.element_ty), mask=real[:, None])


@triton.jit
def to_keys_kernel(
    QKV, G, D, LOGS, MEANS, BOUNDS, LOTS, scale, lowest, k_by, v_by, longest, blocks, heads, numbers,
    WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, PACKED: tl.constexpr, EVEN: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """The gradients of some keys and values: iterates over blocks of queries."""
    block, head, start, length = sequence_of(BOUNDS, longest, blocks, heads, PACKED)
    if block * KEYS < length:
        columns = block * KEYS + tl.arange(0, KEYS)
        features, rows = tl.arange(0, WIDTH), tl.arange(0, QUERIES)
        far, token = start.to(tl.int64), 3 * heads * WIDTH
        inputs = QKV + far * token + head * WIDTH
        k = rows_of(inputs + heads * WIDTH, 0, columns, features, token, length, EVEN)
        v = rows_of(inputs + 2 * heads * WIDTH, 0, columns, features, token, length, EVEN)
        g_at = G + far * heads * WIDTH + head * WIDTH
        statistic = head * numbers + start
        if DROPS:
            theirs = upper(LOTS + heads * numbers + statistic, columns)
        d_k = tl.zeros([KEYS, WIDTH], tl.float32)
        d_v = tl.zeros([KEYS, WIDTH], tl.float32)
        for at in tl.range(0, length, QUERIES, num_stages=3):
            q = rows_of(inputs, at, rows, features, token, length, EVEN)
            g = rows_of(g_at, at, rows, features, heads * WIDTH, length, EVEN)
            logs = logs_of(LOGS + statistic, at, rows, length, EVEN)
            mean = tl.load(MEANS + statistic + at + rows)
            scores = tl.dot(k, tl.trans(q))
            d_weights = tl.dot(v, tl.trans(g))
            weights = tl.exp2(scores * scale - logs[None, :])
            if DROPS:
                mine = tl.load(LOTS + statistic + at + rows)
                used = left_of_column(weights, mine, theirs, lowest)
            else:
                used = weights
            d_v = tl.dot(used.to(g.dtype), g, d_v)
            d_k = tl.dot((used * d_weights - weights * mean[None, :]).to(q.dtype), q, d_k)
        to = D + (far + columns[:, None]) * token + head * WIDTH + features[None, :]
        seen = (columns < length)[:, None]
        tl.store(to + heads * WIDTH, (d_k * k_by).to(D.dtype.element_ty), mask=seen)
        tl.store(to + 2 * heads * WIDTH, (d_v * v_by).to(D.dtype.element_ty), mask=seen)


class Launch(NamedTuple):
    """The arguments shared by all three kernels."""

    heads: int
    width: int
    tokens: int
    longest: int
    bounds: Tensor | None  # None: every sequence has `longest` tokens
    lots_2HM: Tensor | None  # a random number for each token as a query and as a key; None: no dropout

    @property
    def even(self) -> bool:
        return self.bounds is None and self.longest % 128 == 0

    @property
    def sizes(self) -> Blocks:
        return WIDE if self.width > 64 else LARGE if self.even else SMALL

    def grid(self, block: int) -> tuple[int, int]:
        """The number of blocks in one sequence, and in all of them."""
        sequences = self.tokens // self.longest if self.bounds is None else self.bounds.shape[0] - 1
        blocks = triton.cdiv(self.longest, block)
        return blocks, blocks * self.heads * sequences

    def options(self, queries: int, keys: int) -> dict[str, int | bool]:
        flags = {"PACKED": self.bounds is not None, "EVEN": self.even, "DROPS": self.lots_2HM is not None}
        return {"WIDTH": self.width, "QUERIES": queries, "KEYS": keys} | flags


LOG2E = math.log2(math.e)


def twice(half: int) -> int:
    """Duplicate 16 bits into both halves of an integer."""
    return half * 2**16 + half % 2**16


def unwritten(
    q_NHK: Tensor, k_NHK: Tensor, v_NHK: Tensor, bounds: Tensor | None, longest: int, scale: float, dropout: float,
    lots_2HM: Tensor | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The memory of the results of `attend`."""
    tokens, heads, _ = q_NHK.shape
    return q_NHK.new_empty(q_NHK.shape), q_NHK.new_empty(heads, tokens + SPARE, dtype=torch.float32)


@operation("attend", unwritten)
def attend(
    q_NHK: Tensor, k_NHK: Tensor, v_NHK: Tensor, bounds: Tensor | None, longest: int, scale: float, dropout: float,
    lots_2HM: Tensor | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`dropout(softmax(scale · q kᵀ)) v` within each sequence of a row, and the base-2 logarithm of each softmax's sum."""
    tokens, heads, width = q_NHK.shape
    call = Launch(heads, width, tokens, longest, bounds, lots_2HM)
    mix_NHK, logs_HM = unwritten(q_NHK, k_NHK, v_NHK, bounds, longest, scale, dropout, lots_2HM)
    queries, keys = call.sizes.forward
    blocks, programs = call.grid(queries)
    strides = [stride for x in (q_NHK, k_NHK, v_NHK) for stride in x.stride()[:2]]
    with torch.cuda.device(q_NHK.device):  # Triton launches on the current GPU, not on that of its arguments
        attend_kernel[(programs,)](
            q_NHK, k_NHK, v_NHK, mix_NHK, logs_HM, bounds, lots_2HM, scale * LOG2E, twice(lowest_kept(dropout)),
            1 / (1 - dropout), longest, blocks, heads, tokens + SPARE, *strides, **call.options(queries, keys),
        )  # fmt: skip
    return mix_NHK, logs_HM


def unwritten_backward(
    g_NHK: Tensor, qkv_N3HK: Tensor, mix_NHK: Tensor, logs_HM: Tensor, bounds: Tensor | None, longest: int, scale: float,
    dropout: float, lots_2HM: Tensor | None,
) -> Tensor:  # fmt: skip
    """The memory of the result of `attend_backward`."""
    return torch.empty_like(qkv_N3HK)


@operation("attend_backward", unwritten_backward)
def attend_backward(
    g_NHK: Tensor, qkv_N3HK: Tensor, mix_NHK: Tensor, logs_HM: Tensor, bounds: Tensor | None, longest: int, scale: float,
    dropout: float, lots_2HM: Tensor | None,
) -> Tensor:  # fmt: skip
    """The gradient of queries, keys and values in one tensor."""
    tokens, heads, width = mix_NHK.shape
    call = Launch(heads, width, tokens, longest, bounds, lots_2HM)
    means_HM, d_N3HK = torch.zeros_like(logs_HM), torch.empty_like(qkv_N3HK)
    scaled, kept = (scale * LOG2E, twice(lowest_kept(dropout))), 1 - dropout
    with torch.cuda.device(g_NHK.device):
        queries, keys = call.sizes.to_queries
        blocks, programs = call.grid(queries)
        to_queries_kernel[(programs,)](
            qkv_N3HK, mix_NHK, g_NHK, d_N3HK, logs_HM, means_HM, bounds, lots_2HM, *scaled, kept, scale / kept,
            longest, blocks, heads, tokens + SPARE, **call.options(queries, keys),
        )  # fmt: skip
        queries, keys = call.sizes.to_keys
        blocks, programs = call.grid(keys)
        to_keys_kernel[(programs,)](
            qkv_N3HK, g_NHK, d_N3HK, logs_HM, means_HM, bounds, lots_2HM, *scaled, scale / kept, 1 / kept,
            longest, blocks, heads, tokens + SPARE, **call.options(queries, keys),
        )  # fmt: skip
    return d_N3HK
