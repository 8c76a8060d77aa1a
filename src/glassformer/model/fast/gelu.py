"""GELU: PyTorch's own, and faster versions for 16 bits on a GPU: in compiled steps, and fused into a product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.fast.normal_distribution import normal
from glassformer.model.fast.precision import HALVES, kernels_take
from glassformer.model.fast.products import FastLinear

MANY = 16_384  # rows from which the kernel is worth its launch: 0.09 ms of Python


def gelu(x: Tensor) -> Tensor:
    """`x · Φ(x)`, with the normal distribution function Φ (Hendrycks and Gimpel 2016)."""
    if torch.compiler.is_compiling() and x.is_cuda and x.dtype in HALVES:
        return quick(x)
    return functional.gelu(x)


def quick(x: Tensor) -> Tensor:
    """The same by an exponential of a polynomial; its derivative needs one more. A compiler makes each a single pass."""
    precise = x.float()
    return (precise * Normal.apply(precise)).to(x.dtype)


class Normal(torch.autograd.Function):
    """The normal distribution function; its derivative is the exact density, not the derivative of the approximation."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return normal(x)[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradients[0] * normal(x)[1]


def ends_products(x: Tensor, linear: nn.Linear) -> bool:
    """Whether the kernel for `gelu(x W + b)` applies: many rows in 16 bits, without gradients.

    It loads tiles as GPUs do since Hopper, and those begin at multiples of 16 bytes.
    """
    if not kernels_take(x) or torch.is_grad_enabled() or torch.is_autocast_enabled("cuda") or not bare(linear):
        return False
    aligned = linear.in_features % 8 == 0 and linear.out_features % 8 == 0
    many = x.numel() >= MANY * linear.in_features
    return aligned and many and x.dtype == linear.weight.dtype and torch.cuda.get_device_properties(x.device).major >= 9


def bare(linear: nn.Module) -> bool:
    """Whether a linear layer is a plain matrix product, without adapters or quantised weights."""
    return type(linear) in (nn.Linear, FastLinear) and type(linear.weight) is nn.Parameter


def watched(product: nn.Module) -> bool:
    """Whether forward hooks are registered on this module."""
    return bool(product._forward_hooks)


def of_product(x: Tensor, linear: nn.Linear) -> Tensor:
    """`gelu(x W + b)`: GELU is applied before the product is written to memory."""
    from glassformer.model.fast.gelu_kernels import linear_gelu

    return linear_gelu(x.flatten(0, -2), linear.weight, linear.bias).unflatten(0, x.shape[:-1])
