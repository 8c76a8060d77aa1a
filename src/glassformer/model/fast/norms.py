"""Norms that store less for the backward pass and return the number format of matrix products."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from glassformer.model.fast.precision import HALVES, product_dtype
from glassformer.model.norms import Norm


class FastNorm(Norm):
    """As the plain norm, returning the number format of matrix products.

    Autocast normalises in float32 and returns float32. The result is read by matrix products and by a sum that is normalised in
    turn: in 16 bits, half as many bytes pass through memory.
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).to(product_dtype(x.dtype, x.device))


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """The plain norm, or `Halved`."""
    if x.is_cuda and x.dtype in HALVES and gamma.dtype == torch.float32 and not torch.compiler.is_compiling():
        return Halved.apply(x, gamma, beta, eps)
    return functional.layer_norm(x, gamma.shape, gamma, beta, eps)


class Halved(torch.autograd.Function):
    """The same in float32, from and to 16 bits. Autocast would store the float32 copy of x: twice the bytes.

    A compiler avoids this itself.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
        y, mean, inverse = torch.native_layer_norm(x.float(), gamma.shape, gamma, beta, eps)
        ctx.save_for_backward(x, mean, inverse, gamma, beta)
        return y.to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, mean, inverse, gamma, beta = ctx.saved_tensors
        wanted = [*ctx.needs_input_grad[:2], beta is not None and ctx.needs_input_grad[2]]
        kernel = torch.ops.aten.native_layer_norm_backward
        g_x, g_gamma, g_beta = kernel(gradients[0].float(), x.float(), gamma.shape, mean, inverse, gamma, beta, wanted)
        return None if g_x is None else g_x.to(x.dtype), g_gamma, g_beta, None


def rms_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """The plain norm, or `RootMeanSquare`."""
    assert beta is None
    if x.is_cpu and torch.is_grad_enabled() and not torch.compiler.is_compiling():
        return RootMeanSquare.apply(x, gamma, eps)
    return functional.rms_norm(x, gamma.shape, gamma, eps)


class RootMeanSquare(torch.autograd.Function):
    """The same for a CPU, where PyTorch has no kernel for it and stores `x
    root` in addition to x. Dividing again is cheap.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, eps: float) -> Tensor:
        inverse = _precise(x).square().mean(-1, keepdim=True).add_(eps).rsqrt_()
        ctx.save_for_backward(x, inverse, gamma)
        ctx.eps = eps
        return (_precise(x) * inverse).mul_(gamma).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, inverse, gamma = ctx.saved_tensors
        if torch.is_grad_enabled():  # for second derivatives, PyTorch's own version is used
            wanted = [value for value in (x, gamma) if value.requires_grad]
            y = functional.rms_norm(x, gamma.shape, gamma, ctx.eps)
            found = iter(torch.autograd.grad(y, wanted, gradients[0], create_graph=True))
            return next(found) if x.requires_grad else None, next(found) if gamma.requires_grad else None, None
        g, normalised = _precise(gradients[0]), _precise(x) * inverse
        g_gamma = (g * normalised).flatten(0, -2).sum(0)
        g_normalised = g * gamma
        along = (g_normalised * normalised).mean(-1, keepdim=True)  # a change along x has no effect
        g_x = g_normalised.sub_(normalised.mul_(along)).mul_(inverse)
        return g_x.to(x.dtype), g_gamma.to(gamma.dtype), None


def _precise(x: Tensor) -> Tensor:
    """Convert to float32 at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
