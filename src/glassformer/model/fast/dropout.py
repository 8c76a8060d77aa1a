"""Dropout: PyTorch's own, and one that a compiler can fuse: a product of two integers for each element."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.fast.operations import operation

HALF = 2**31  # 32-bit integers lie between -HALF and HALF


class FastDropout(nn.Dropout):
    """`nn.Dropout`; inside a compiled graph the mask is computed by a product, and again in the backward pass, not stored."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        if torch.compiler.is_compiling():
            return multiplied_out(x, self.p)
        return functional.dropout(x, self.p)


def multiplied_out(x_XD: Tensor, share: float) -> Tensor:
    """Set a random `share` of the elements to zero and scale up the others.

    An element is dropped if the 32-bit product of two random odd numbers, its row's and its column's, is among the lowest: one
    multiplication, where a generator needs ten rounds. Given one of the two, the product is any odd number with equal
    probability: so two elements are independent, whether they share a row, a column or neither.
    """
    if share >= 1.0:
        return x_XD * 0.0
    *rows, width = x_XD.shape
    lots = written(odd_numbers((x_XD.numel() // width + width,), x_XD.device))
    columns_D, rows_X = lots[:width], lots[width:].view(*rows, 1)
    lowest = int(share * 2 * HALF) - HALF
    return torch.where(rows_X * columns_D >= lowest, x_XD * (1 / (1 - share)), 0.0)


def odd_numbers(shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Random odd 32-bit numbers."""
    return torch.randint(-HALF, HALF - 1, shape, device=device, dtype=torch.int32) | 1


@operation("written", torch.empty_like)
def written(x: Tensor) -> Tensor:
    """The same, materialised: a compiler that sees how numbers are drawn would draw them again at each use."""
    return x.clone()
