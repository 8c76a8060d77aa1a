"""Dropout: PyTorch's own, and one that a compiler folds into its neighbours: a product of two whole numbers for each element."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

HALF = 2**31  # whole numbers of 32 bits lie between -HALF and HALF


class FastDropout(nn.Dropout):
    """`nn.Dropout`; inside a compiled graph the mask is multiplied out: none is kept, the backward pass multiplies again."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        if torch.compiler.is_compiling():
            return multiplied_out(x, self.p)
        return functional.dropout(x, self.p)


def multiplied_out(x_XD: Tensor, share: float) -> Tensor:
    """Zeros at a random `share` of the elements, the others scaled up.

    An element is dropped where the product of two random odd numbers, its row's and its column's, in 32 bits, is among the
    lowest: one multiplication, where a generator takes ten rounds. With one of the two given, the product is any odd number, each
    as likely: so two elements are independent, whether they share a row, a column or neither.
    """
    if share >= 1.0:
        return x_XD * 0.0
    *rows, width = x_XD.shape
    lots = written(odd_numbers((x_XD.numel() // width + width,), x_XD.device))
    columns_D, rows_X = lots[:width], lots[width:].view(*rows, 1)
    lowest = int(share * 2 * HALF) - HALF
    return torch.where(rows_X * columns_D >= lowest, x_XD * (1 / (1 - share)), 0.0)


def odd_numbers(shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Random odd numbers of 32 bits."""
    return torch.randint(-HALF, HALF - 1, shape, device=device, dtype=torch.int32) | 1


@torch.library.custom_op("glassformer::written", mutates_args=())
def written(x: Tensor) -> Tensor:
    """The same, in memory: a compiler that sees how numbers are drawn draws them anew wherever one is read."""
    return x.clone()


@written.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)
