"""A Triton kernel for decoding steps: one query for each row reads keys and values in place."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

KEYS = 16  # read together


@triton.jit(do_not_specialize=["group"])
def step_kernel(
    Q, K, V, OUT, WHERE, LENGTHS, scale, group, d_k, d_v,
    q_row, q_head, k_place, k_head, v_place, v_head, out_row, out_head, where_row, length_row,
    WIDTH_K: tl.constexpr, WIDTH_V: tl.constexpr, KEYS: tl.constexpr, LISTED: tl.constexpr,
):  # fmt: skip
    """One head of one row: iterates over blocks of keys, rescaling the sum when a larger score occurs.

    `WHERE` lists the place of each key of a row (LISTED), or holds the first, which the others follow.
    """
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    to_k, to_v, columns = tl.arange(0, WIDTH_K), tl.arange(0, WIDTH_V), tl.arange(0, KEYS)
    q = tl.load(Q + row * q_row + head * q_head + to_k, mask=to_k < d_k, other=0.0).to(tl.float32)
    length = tl.load(LENGTHS + row * length_row).to(tl.int32)
    k_at, v_at = K + head // group * k_head, V + head // group * v_head
    largest = -float("inf")
    total = 0.0
    mix = tl.zeros([WIDTH_V], tl.float32)
    for at in range(0, length, KEYS):
        real = at + columns < length
        if LISTED:
            places = tl.load(WHERE + row * where_row + at + columns, mask=real, other=0).to(tl.int64)
        else:
            places = tl.load(WHERE + row * where_row).to(tl.int64) + at + columns
        k = tl.load(k_at + places[:, None] * k_place + to_k[None, :], mask=real[:, None] & (to_k < d_k)[None, :], other=0.0)
        v = tl.load(v_at + places[:, None] * v_place + to_v[None, :], mask=real[:, None] & (to_v < d_v)[None, :], other=0.0)
        scores = tl.where(real, tl.sum(k.to(tl.float32) * q[None, :], 1) * scale, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, 0))
        weights = tl.exp(scores - larger)
        shrink = tl.exp(largest - larger)
        total = total * shrink + tl.sum(weights, 0)
        mix = mix * shrink + tl.sum(weights[:, None] * v.to(tl.float32), 0)
        largest = larger
    tl.store(OUT + row * out_row + head * out_head + to_v, (mix / total).to(OUT.dtype.element_ty), mask=to_v < d_v)


def attend_step(q_NHK: Tensor, k_PJK: Tensor, v_PJV: Tensor, where: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """`softmax(scale · q kᵀ) v` for each row, over the keys at its places; see `step_attention.plain`."""
    rows, heads, d_k = q_NHK.shape
    d_v = v_PJV.shape[2]
    q_NHK = q_NHK if q_NHK.stride(2) == 1 else q_NHK.contiguous()
    mix_NHV = torch.empty((rows, heads, d_v), dtype=q_NHK.dtype, device=q_NHK.device)
    step_kernel[(rows, heads)](
        q_NHK, k_PJK, v_PJV, mix_NHV, where, lengths, scale, heads // k_PJK.shape[1], d_k, d_v,
        *q_NHK.stride()[:2], *k_PJK.stride()[:2], *v_PJV.stride()[:2], *mix_NHV.stride()[:2],
        where.stride(0), 0 if len(lengths) == 1 else 1,
        WIDTH_K=triton.next_power_of_2(d_k), WIDTH_V=triton.next_power_of_2(d_v), KEYS=KEYS, LISTED=where.ndim == 2,
        num_warps=1,
    )  # fmt: skip
    return mix_NHV
