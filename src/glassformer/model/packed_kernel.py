"""A kernel for attention inside each sequence of a packed row: PyTorch's has blocks of 128, which short ones do not fill."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

QUERIES, KEYS = tl.constexpr(64), tl.constexpr(32)  # of one block of work; tried beside ten other pairs


@triton.jit
def attend(Q, K, V, OUT, BOUNDS, scale, blocks, heads, q_token, q_head, k_token, k_head, v_token, v_head, WIDTH: tl.constexpr):
    """Some queries of one head of one sequence: blocks of keys go by, and what was mixed shrinks where a larger score comes."""
    program = tl.program_id(0)
    head = program // blocks % heads
    sequence = program // (blocks * heads)
    start = tl.load(BOUNDS + sequence).to(tl.int64)
    length = (tl.load(BOUNDS + sequence + 1) - start).to(tl.int32)
    rows = program % blocks * QUERIES + tl.arange(0, QUERIES)
    if program % blocks * QUERIES < length:
        features, columns = tl.arange(0, WIDTH), tl.arange(0, KEYS)
        real = rows[:, None] < length
        q = tl.load(Q + start * q_token + head * q_head + rows[:, None] * q_token + features[None, :], mask=real, other=0.0)
        k_at = K + start * k_token + head * k_head + columns[None, :] * k_token + features[:, None]
        v_at = V + start * v_token + head * v_head + columns[:, None] * v_token + features[None, :]
        largest = tl.full([QUERIES], -float("inf"), tl.float32)
        total = tl.zeros([QUERIES], tl.float32)
        mix = tl.zeros([QUERIES, WIDTH], tl.float32)
        for at in tl.range(0, length, KEYS, num_stages=3):
            seen = at + columns < length
            k = tl.load(k_at + at * k_token, mask=seen[None, :], other=0.0)
            v = tl.load(v_at + at * v_token, mask=seen[:, None], other=0.0)
            scores = tl.where(seen[None, :], tl.dot(q, k), -float("inf"))
            larger = tl.maximum(largest, tl.max(scores, 1) * scale)
            weights = tl.exp2(scores * scale - larger[:, None])
            shrink = tl.exp2(largest - larger)
            total = total * shrink + tl.sum(weights, 1)
            mix = tl.dot(weights.to(v.dtype), v, mix * shrink[:, None])
            largest = larger
        out = OUT + (start + rows[:, None]) * heads * WIDTH + head * WIDTH + features[None, :]
        tl.store(out, (mix / total[:, None]).to(OUT.dtype.element_ty), mask=real)


@torch.library.custom_op("glassformer::attend_packed", mutates_args=())
def attend_packed(q_NHK: Tensor, k_NHK: Tensor, v_NHK: Tensor, bounds: Tensor, longest: int, scale: float) -> Tensor:
    """`softmax(scale · q kᵀ) v` inside each sequence of a row; its plain twin is `PackedSight._one_by_one`."""
    tokens, heads, width = q_NHK.shape
    mix_NHK = q_NHK.new_empty(tokens, heads, width)
    blocks = triton.cdiv(longest, QUERIES.value)
    strides = [stride for x in (q_NHK, k_NHK, v_NHK) for stride in x.stride()[:2]]
    programs = (blocks * heads * (bounds.shape[0] - 1),)
    attend[programs](q_NHK, k_NHK, v_NHK, mix_NHK, bounds, scale * math.log2(math.e), blocks, heads, *strides, WIDTH=width)
    return mix_NHK


@attend_packed.register_fake
def _(q_NHK: Tensor, k_NHK: Tensor, v_NHK: Tensor, bounds: Tensor, longest: int, scale: float) -> Tensor:
    return q_NHK.new_empty(q_NHK.shape)
