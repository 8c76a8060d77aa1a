"""Matrices in float8 with a scale for each row; their products, and GELU between two of them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from glassformer.model.fast.normal_distribution import normal

FLOAT8 = torch.float8_e4m3fn  # three mantissa bits: rounding changes a number by up to 6%
LARGEST = torch.finfo(FLOAT8).max
LOWEST_GELU = 0.17  # never below −0.17, and never above x for positive x: the largest x bounds a row


class Rounded(NamedTuple):
    """A matrix in float8; row i represents `values[i] · scale[i]`."""

    values: Tensor
    scale: Tensor  # [rows, 1], float32


def rounded(x: Tensor) -> Rounded:
    """Scale each row so that its largest number is the largest of float8."""
    size = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-30)
    return scaled(x.float(), size)


def scaled(x: Tensor, size: Tensor) -> Rounded:
    """Convert to float8, so that `size` becomes the largest number of float8."""
    largest = torch.finfo(FLOAT8).max  # not LARGEST: torch.compile treats a global number as one that may change, and fails
    return Rounded((x * (largest / size)).to(FLOAT8), size / largest)


def product(a: Rounded, b: Rounded, bias: Tensor | None = None) -> Tensor:
    """`a bᵀ + bias` in bfloat16, summed in float32; without float8 products on the device, from the same rounded numbers."""
    if a.values.is_cuda:
        return torch._scaled_mm(a.values, b.values.t(), a.scale, b.scale.t(), bias, out_dtype=torch.bfloat16, use_fast_accum=True)
    with torch.autocast(a.values.device.type, enabled=False):  # it would sum in bfloat16
        sums = (a.values.float() * a.scale) @ (b.values.float() * b.scale).t()
    return (sums if bias is None else sums + bias).to(torch.bfloat16)


class Back(NamedTuple):
    """The backward pass of GELU: the gradient before it, exact and rounded, its sum for the bias, and GELU recomputed."""

    wide: Tensor
    rounded: Rounded
    bias: Tensor
    active: Tensor


def plain_gelu(wide: Tensor, bias: Tensor) -> Rounded:
    """The kernel's plain counterpart."""
    x = wide.float() + bias.float()
    return scaled(x * normal(x)[0], x.amax(-1, keepdim=True).clamp(min=LOWEST_GELU))


def plain_gelu_backward(g: Tensor, wide: Tensor, bias: Tensor) -> Back:
    """The kernel's plain counterpart."""
    x = wide.float() + bias.float()
    below, density = normal(x)
    before = g.float() * (below + x * density)
    return Back(before.to(wide.dtype), rounded(before), before.sum(0).to(bias.dtype), (x * below).to(wide.dtype))
