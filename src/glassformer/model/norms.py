"""LayerNorm, RMSNorm, and their place: after the residual sum or before the sub-layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.spec import EncoderSpec, NormKind

Normalise: TypeAlias = Callable[[Tensor, Tensor, Tensor | None, float], Tensor]
SubLayer: TypeAlias = Callable[[Tensor], Tensor]
Residual: TypeAlias = Callable[[Tensor, SubLayer, SubLayer], Tensor]


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """`gamma ⊙ (x − mean) / √(variance + eps) + beta` over the last axis (Ba et al. 2016)."""
    return functional.layer_norm(x, gamma.shape, gamma, beta, eps)


def rms_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """`gamma ⊙ x / √(mean square + eps)` over the last axis (Zhang and Sennrich 2019); it has no beta."""
    assert beta is None
    return functional.rms_norm(x, gamma.shape, gamma, eps)


def scaled(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:  # noqa: ARG001  # as the others are called
    """`gamma ⊙ x + beta`, without mean and variance (Sun et al. 2020)."""
    return gamma * x if beta is None else gamma * x + beta


NORMS: dict[str, Normalise] = {"layer": layer_norm, "rms": rms_norm, "scale": scaled}


def from_one(normalise: Normalise) -> Normalise:
    """The same with `1 + gamma` for `gamma` (Gemma): a gamma of zero changes nothing."""

    def offset(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
        return normalise(x, 1 + gamma, beta, eps)

    return offset


class Norm(nn.Module):
    """A norm over the last axis, of the kind given by the spec."""

    def __init__(self, spec: EncoderSpec, width: int, *, eps: float | None = None, kind: NormKind | None = None) -> None:
        super().__init__()
        kind = kind or spec.norm_kind
        shifts = kind != "rms" and spec.bias("norm")
        self.gamma = nn.Parameter(torch.empty(width))
        self.beta = nn.Parameter(torch.empty(width)) if shifts else None
        self.eps = spec.eps if eps is None else eps
        self.neutral = 0.0 if spec.norm_offset else 1.0  # the gamma of an identity
        self.normalise = from_one(NORMS[kind]) if spec.norm_offset else NORMS[kind]

    def forward(self, x: Tensor) -> Tensor:
        return self.normalise(x, self.gamma, self.beta, self.eps)


def unnormed(x_BTD: Tensor) -> Tensor:
    """No norm here."""
    return x_BTD


def post_norm(x_BTD: Tensor, norm: SubLayer, sub_layer: SubLayer) -> Tensor:
    """The 2017 paper and BERT: normalise the sum."""
    return norm(x_BTD + sub_layer(x_BTD))


def pre_norm(x_BTD: Tensor, norm: SubLayer, sub_layer: SubLayer) -> Tensor:
    """ViT, T5, ModernBERT: normalise the input of the sub-layer and leave the residual stream unchanged."""
    return x_BTD + sub_layer(norm(x_BTD))


RESIDUALS: dict[str, Residual] = {"post": post_norm, "pre": pre_norm}
