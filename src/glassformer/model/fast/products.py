"""Matrix products on a CPU by oneDNN, forward and backward: with AVX-512 on an AMD processor twice as fast as PyTorch's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

WORTH = 500_000  # multiplications, from which a call of oneDNN takes less time


class FastLinear(nn.Linear):
    """As `nn.Linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x Wᵀ + b`, as `functional.linear`."""
    if not onednn_serves(x, weight, bias):
        return functional.linear(x, weight, bias)
    product: Tensor = Product.apply(x, weight, bias)
    return product


def onednn_serves(x: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Whether oneDNN computes this product: float32 on a CPU, in an uncompiled pass without autocast, not a tiny one."""
    if x.device.type != "cpu" or torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"):
        return False
    given = (x, weight) if bias is None else (x, weight, bias)
    plain = all(type(one) in (Tensor, nn.Parameter) and one.dtype == torch.float32 for one in given)
    return plain and x.numel() * weight.shape[0] >= WORTH and bool(torch.backends.mkldnn.enabled) and available()


def available() -> bool:
    """Whether this PyTorch includes oneDNN."""
    return bool(torch.backends.mkldnn.is_available())


@contextmanager
def without_onednn() -> Iterator[None]:
    """Use PyTorch's own products, whose FLOPs its counter knows."""
    library: Any = torch.backends.mkldnn
    was, library.enabled = library.enabled, False
    try:
        yield
    finally:
        library.enabled = was


class Product(torch.autograd.Function):
    """The product and its three gradients. oneDNN reads transposed matrices without a copy."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        into, by_weight, _ = ctx.needs_input_grad
        ctx.save_for_backward(x if by_weight else None, weight if into else None)
        ctx.shape = x.shape
        return of_rows(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        into, by_weight, by_bias = ctx.needs_input_grad
        g_NF = gradients[0].flatten(0, -2)
        return (
            of_rows(g_NF, weight.t()).view(ctx.shape) if into else None,
            of_rows(g_NF.t(), x.flatten(0, -2).t()) if by_weight else None,
            g_NF.sum(0) if by_bias else None,
        )


def of_rows(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x Wᵀ + b` by the operation that PyTorch's compiler uses."""
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return found
