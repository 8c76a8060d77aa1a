"""Mixing of positions and features by a Fourier transform, in place of attention (Lee-Thorp et al. 2021)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class FourierMixing(nn.Module):
    """The real part of a Fourier transform over positions and features. It has no parameters, and padding is mixed as well."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        wide_BTD = x_BTD if x_BTD.dtype == torch.float64 else x_BTD.float()  # there is no bfloat16 transform
        return torch.fft.fft2(wide_BTD).real.to(x_BTD.dtype)


class MixesByFourier(nn.Module):
    """The part of a layer that replaces attention; without dropout, as published."""

    scale_1: Any  # those of the layer
    output_norm_1: Any

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.mixing = FourierMixing()

    def attend(self, y_BTD: Tensor, context: Any) -> Tensor:  # the context is that of attention
        scaled_BTD: Tensor = self.scale_1(self.output_norm_1(self.mixing(y_BTD)))
        return scaled_BTD
