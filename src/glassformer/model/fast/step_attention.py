"""Attention in a decoding step on a GPU: one query per row, whose keys may be at any place, so that beams copy no cache."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from glassformer.model.fast.precision import HALVES, TRITON

FORMATS = (torch.float32, *HALVES)  # the kernel computes in float32
WIDEST = 256  # features of a head


def step_kernel_serves(here: Tensor, d_k: int, d_v: int) -> bool:
    """Whether the kernel supports this dtype on this device, and heads of this width."""
    return TRITON and here.is_cuda and here.dtype in FORMATS and max(d_k, d_v) <= WIDEST


def plain(q_NHK: Tensor, k_PJK: Tensor, v_PJV: Tensor, where: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """The kernel's plain counterpart, `softmax(scale · q kᵀ) v` one row after the other.

    `where` lists the places of each row's keys, [row, key], or holds the first of them, [row]; `lengths` counts them, for each
    row or for all.
    """
    group = q_NHK.shape[1] // k_PJK.shape[1]
    mixes = []
    for row, (q_HK, length) in enumerate(zip(q_NHK, lengths.expand(len(q_NHK)).tolist(), strict=True)):
        here = where[row] if where.ndim == 1 else where[row, :length]
        places = here + torch.arange(length, device=here.device) if where.ndim == 1 else here
        k_HSK, v_HSV = (x[places.long()].repeat_interleave(group, dim=1).transpose(0, 1) for x in (k_PJK, v_PJV))
        weights_HS = ((k_HSK @ q_HK[:, :, None])[:, :, 0] * scale).softmax(-1)
        mixes.append((weights_HS[:, None] @ v_HSV)[:, 0])
    return torch.stack(mixes)


def attend(q_NHK: Tensor, k_PJK: Tensor, v_PJV: Tensor, where: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """By the kernel on a GPU."""
    if not q_NHK.is_cuda:
        return plain(q_NHK, k_PJK, v_PJV, where, lengths, scale)
    from glassformer.model.fast.step_kernels import attend_step

    return attend_step(q_NHK, k_PJK, v_PJV, where, lengths, scale)


@dataclass(frozen=True)
class ListedCore:
    """Core attention of one query for each row, over keys and values [place, head, feature]."""

    where: Tensor
    lengths: Tensor

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        """Keys and values are a batch of one."""
        return attend(q_BTHK[:, 0], k_BSHK[0], v_BSHV[0], self.where, self.lengths, scale)[:, None]

    def shared(self, x: Tensor, group: int) -> Tensor:
        """Keys and values as they are stored."""
        return x

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        raise NotImplementedError("weights are read off a whole pass, not off a step")

    def with_bias(self, bias_BHTS: Tensor) -> ListedCore:
        raise NotImplementedError("the kernel adds nothing to scores: `steady.serves` says so")

    def capped(self, cap: float) -> ListedCore:
        raise NotImplementedError("the kernel caps no scores: `steady.serves` says so")
