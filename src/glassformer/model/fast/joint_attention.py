"""Attention over queries, keys and values in one tensor, as used in training: our own kernels and a reference implementation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from glassformer.model.fast.attention_dropout import drawn, kept
from glassformer.model.fast.dropout import HALF
from glassformer.model.fast.precision import kernels_take

WIDTHS = (32, 64, 128)  # head widths that the kernels support


def kernels_serve(q: Tensor, longest: int) -> bool:
    """Whether our kernels support these queries [..., head, feature]: within a sequence they use 32-bit offsets."""
    heads, width = q.shape[-2:]
    return kernels_take(q) and width in WIDTHS and longest * 3 * heads * width < HALF


def attend_jointly(qkv_N3HK: Tensor, bounds: Tensor | None, longest: int, *, scale: float, dropout: float) -> Tensor:
    """`dropout(softmax(scale · q kᵀ)) v` within each sequence of a row; without bounds each has `longest` tokens."""
    lots_2HM = drawn(qkv_N3HK) if dropout else None
    mix_NHK: Tensor = Attend.apply(qkv_N3HK.contiguous(), bounds, longest, scale, dropout, lots_2HM)
    return mix_NHK


class Attend(torch.autograd.Function):
    """One gradient for all three: three would have to be concatenated again for the preceding product."""

    @staticmethod
    def forward(
        ctx: Any, qkv_N3HK: Tensor, bounds: Tensor | None, longest: int, scale: float, dropout: float, lots_2HM: Tensor | None
    ) -> Tensor:
        from glassformer.model.fast.attention_kernels import attend

        q_NHK, k_NHK, v_NHK = qkv_N3HK.unbind(1)
        mix_NHK, logs_HM = attend(q_NHK, k_NHK, v_NHK, bounds, longest, scale, dropout, lots_2HM)
        ctx.save_for_backward(qkv_N3HK, mix_NHK, logs_HM, bounds, lots_2HM)
        ctx.settings = longest, scale, dropout
        return mix_NHK

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        from glassformer.model.fast.attention_kernels import attend_backward

        qkv_N3HK, mix_NHK, logs_HM, bounds, lots_2HM = ctx.saved_tensors
        longest, scale, dropout = ctx.settings
        g_NHK = gradients[0].contiguous()
        d_N3HK = attend_backward(g_NHK, qkv_N3HK, mix_NHK, logs_HM, bounds, longest, scale, dropout, lots_2HM)
        return d_N3HK, None, None, None, None, None


def plain(qkv_N3HK: Tensor, bounds: Tensor, *, scale: float, dropout: float = 0.0, lots_2HM: Tensor | None = None) -> Tensor:
    """The kernels' plain counterpart: split the row, and compute the weights of each piece explicitly."""
    pieces = []
    for start, stop in pairwise(bounds.tolist()):
        q_HTK, k_HTK, v_HTK = qkv_N3HK[start:stop].permute(1, 2, 0, 3)
        weights_HTS = (q_HTK @ k_HTK.mT * scale).softmax(-1)
        if lots_2HM is not None:
            weights_HTS = torch.where(kept(lots_2HM[:, :, start:stop], dropout), weights_HTS / (1 - dropout), 0.0)
        pieces.append((weights_HTS @ v_HTK).transpose(0, 1))
    return torch.cat(pieces)
