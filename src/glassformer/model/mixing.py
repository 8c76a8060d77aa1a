"""Mixing of positions and features by a Fourier transform, in place of attention (Lee-Thorp et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class FourierMixing(nn.Module):
    """The real part of a Fourier transform over positions and features. It has no parameters, and padding is mixed as well."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        wide_BTD = x_BTD if x_BTD.dtype == torch.float64 else x_BTD.float()  # there is no transform of bfloat16
        return torch.fft.fft2(wide_BTD).real.to(x_BTD.dtype)
