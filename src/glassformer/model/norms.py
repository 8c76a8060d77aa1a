"""LayerNorm, RMSNorm, and where they stand: after the residual sum or before the sub-layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.layouts import at_places
from glassformer.model.precision import HALVES, product_dtype
from glassformer.spec import EncoderSpec

Normalise: TypeAlias = Callable[[Tensor, Tensor, Tensor | None, float], Tensor]
SubLayer: TypeAlias = Callable[[Tensor], Tensor]
Residual: TypeAlias = Callable[[Tensor, SubLayer, SubLayer, Tensor | None], Tensor]


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """`gamma ⊙ (x − mean) / √(variance + eps) + beta` over the last axis (Ba et al. 2016)."""
    if x.is_cuda and x.dtype in HALVES and gamma.dtype == torch.float32 and not torch.compiler.is_compiling():
        return Halved.apply(x, gamma, beta, eps)
    return functional.layer_norm(x, gamma.shape, gamma, beta, eps)


class Halved(torch.autograd.Function):
    """The same in float32, from and to 16 bits. Autocast would keep the float32 copy of x for the backward pass: twice the bytes.

    A compiler finds that out by itself.
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
    """`gamma ⊙ x / √(mean square + eps)` over the last axis (Zhang and Sennrich 2019); it has no beta."""
    assert beta is None
    if x.is_cpu and torch.is_grad_enabled() and not torch.compiler.is_compiling():
        return RootMeanSquare.apply(x, gamma, eps)
    return functional.rms_norm(x, gamma.shape, gamma, eps)


class RootMeanSquare(torch.autograd.Function):
    """The same for a CPU, where PyTorch has no kernel for it and keeps `x / root` beside x. It takes a moment to divide again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, eps: float) -> Tensor:
        inverse = _precise(x).square().mean(-1, keepdim=True).add_(eps).rsqrt_()
        ctx.save_for_backward(x, inverse, gamma)
        ctx.eps = eps
        return (_precise(x) * inverse).mul_(gamma).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, inverse, gamma = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient's own gradient is wanted: PyTorch has it
            wanted = [value for value in (x, gamma) if value.requires_grad]
            y = functional.rms_norm(x, gamma.shape, gamma, ctx.eps)
            found = iter(torch.autograd.grad(y, wanted, gradients[0], create_graph=True))
            return next(found) if x.requires_grad else None, next(found) if gamma.requires_grad else None, None
        g, normalised = _precise(gradients[0]), _precise(x) * inverse
        g_gamma = (g * normalised).flatten(0, -2).sum(0)
        g_normalised = g * gamma
        along = (g_normalised * normalised).mean(-1, keepdim=True)  # a change along x changes nothing
        g_x = g_normalised.sub_(normalised.mul_(along)).mul_(inverse)
        return g_x.to(x.dtype), g_gamma.to(gamma.dtype), None


def _precise(x: Tensor) -> Tensor:
    """In float32 at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


NORMS: dict[str, Normalise] = {"layer": layer_norm, "rms": rms_norm}


class Norm(nn.Module):
    """A norm over the last axis, of the kind that the spec asks for."""

    def __init__(self, spec: EncoderSpec, width: int) -> None:
        super().__init__()
        shifts = spec.norm_kind == "layer" and spec.bias("norm")
        self.gamma = nn.Parameter(torch.empty(width))
        self.beta = nn.Parameter(torch.empty(width)) if shifts else None
        self.eps = spec.eps
        self.normalise = NORMS[spec.norm_kind]

    def forward(self, x: Tensor) -> Tensor:
        y = self.normalise(x, self.gamma, self.beta, self.eps)
        # Autocast normalises in float32 and hands that on. What reads it are matrix products and a sum that is normalised in
        # turn: in their own format half as many bytes pass through memory.
        return y.to(product_dtype(x))

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield "gamma", self.gamma
        if self.beta is not None:
            yield "beta", self.beta


class LayerScale(nn.Module):
    """A learned factor per feature on what a sub-layer gives (CaiT, BEiT, DINOv2)."""

    def __init__(self, spec: EncoderSpec, number: int) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.empty(spec.d_model))
        self.number = number

    def forward(self, x_BTD: Tensor) -> Tensor:
        return x_BTD * self.factor

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield f"lambda_{self.number}", self.factor


def unnormed(x_BTD: Tensor) -> Tensor:
    """No norm here."""
    return x_BTD


def post_norm(x_BTD: Tensor, norm: SubLayer, sub_layer: SubLayer, read_at: Tensor | None = None) -> Tensor:
    """The 2017 paper and BERT: normalise the sum. `read_at` are the places that the sub-layer gives, where not all."""
    return norm(at_places(x_BTD, read_at) + sub_layer(x_BTD))


def pre_norm(x_BTD: Tensor, norm: SubLayer, sub_layer: SubLayer, read_at: Tensor | None = None) -> Tensor:
    """ViT, T5, ModernBERT: normalise what the sub-layer reads and leave the residual stream alone."""
    return at_places(x_BTD, read_at) + sub_layer(norm(x_BTD))


RESIDUALS: dict[str, Residual] = {"post": post_norm, "pre": pre_norm}
