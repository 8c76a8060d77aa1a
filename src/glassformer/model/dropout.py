"""Dropout: PyTorch's own, and one that a compiler folds into its neighbours, made of a few whole-number operations."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

HALF = 2**31  # whole numbers of 32 bits lie between -HALF and HALF


class Dropout(nn.Dropout):
    """`nn.Dropout`; inside a compiled graph the mask is hashed from a seed: none is kept, the backward pass hashes again."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        if torch.compiler.is_compiling() and x.numel() < HALF:
            return hashed(x, self.p)
        return functional.dropout(x, self.p)


def hashed(x: Tensor, share: float) -> Tensor:
    """Zeros at a random `share` of the elements, the others scaled up: element i stays where the hash of (seed, i) is large.

    The usual generator takes ten rounds for each element, as long as the pass over memory that it rides on; this takes two.
    """
    if share >= 1.0:
        return x * 0.0
    step, start = torch.randint(-HALF, HALF - 1, (2,), device=x.device, dtype=torch.int32).unbind()
    place = torch.arange(x.numel(), device=x.device, dtype=torch.int32).view(x.shape)
    chance = mixed(place * (step | 1) + start)  # an odd step visits each number once
    return torch.where(chance >= dropped_below(share), x * (1 / (1 - share)), 0.0)


def dropped_below(share: float) -> int:
    """Of all whole numbers of 32 bits this share is below the one returned."""
    return int(share * 2 * HALF) - HALF


def mixed(x: Tensor) -> Tensor:
    """32 bits well stirred (Wellons' `lowbias32`): each bit of the input flips each bit of the result half of the time."""
    x = (x ^ _right(x, 16)) * 0x7FEB352D
    x = (x ^ _right(x, 15)) * (0x846CA68B - 2 * HALF)
    return x ^ _right(x, 16)


def _right(x: Tensor, bits: int) -> Tensor:
    """A shift that brings in zeros: PyTorch's own brings in the sign."""
    return (x >> bits) & (2 ** (32 - bits) - 1)
