"""From sound to vectors: convolutions along time, and convolutional positions."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec

SOUND_EPS = 1e-5  # of the norms between convolutions, independent of the layers


class OverFeatures(nn.Module):
    """LayerNorm over the features of each frame."""

    def __init__(self, width: int, *, shifts: bool) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.empty(width))
        self.beta = nn.Parameter(torch.empty(width)) if shifts else None

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x.mT, self.gamma.shape, self.gamma, self.beta, SOUND_EPS).mT


class OverTime(OverFeatures):
    """A norm of each feature over all frames: GroupNorm with as many groups as features."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.group_norm(x, len(self.gamma), self.gamma, self.beta, SOUND_EPS)


class Sound(nn.Module):
    """Convolutions along time, each followed by GELU, independent of the layers (Baevski et al. 2020, Radford et al. 2022)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        widths = [spec.mels or 0, *(convolution.width for convolution in spec.convolutions)]
        self.depth, bias = len(spec.convolutions), spec.bias("convolution")
        for number, made in enumerate(spec.convolutions, start=1):
            convolution = nn.Conv1d(widths[number - 1], made.width, made.kernel, made.stride, padding=made.reach, bias=bias)
            self.add_module(f"conv{number}", convolution)
        kind, shifts = {"layer": OverFeatures, "group": OverTime, "none": None}[spec.conv_norm], spec.bias("norm")
        normed = () if kind is None else widths[1:] if spec.conv_norm == "layer" else widths[1:2]
        self.norms = nn.ModuleDict({f"conv_norm_{i}": kind(width, shifts=shifts) for i, width in enumerate(normed, 1) if kind})
        self.feature_norm = Norm(spec, widths[-1]) if spec.feature_norm else nn.Identity()
        self.projection = nn.Linear(widths[-1], spec.d_model, bias=spec.bias("embedding")) if spec.raw_sound else None
        self.mask_token = nn.Parameter(torch.empty(spec.d_model)) if spec.mask_token else None

    def forward(self, frames: Tensor, segments_BT: None) -> Tensor:
        x = frames  # [batch, features, time]; each convolution has its own width and length
        for number in range(1, self.depth + 1):
            x = self.convolved(x, number)
            if (name := f"conv_norm_{number}") in self.norms:
                x = self.norms[name](x)
            x = self.active(x, number)
        x_BTD = x.mT
        return self.projected(self.feature_norm(x_BTD)) if self.projection is not None else x_BTD

    def convolved(self, x: Tensor, number: int) -> Tensor:
        """One convolution, numbered from 1."""
        return self.get_submodule(f"conv{number}")(x)

    def active(self, x: Tensor, number: int) -> Tensor:  # who watches wants the number
        """GELU after a convolution."""
        return functional.gelu(x)

    def projected(self, x_BTD: Tensor) -> Tensor:
        """From the width of the convolutions to d_model."""
        assert self.projection is not None
        return self.projection(x_BTD)

    def views(self) -> Iterator[tuple[str, Tensor]]:
        for number in range(1, self.depth + 1):
            convolution = self.get_submodule(f"conv{number}")
            assert isinstance(convolution, nn.Conv1d)
            yield f"W_conv{number}", convolution.weight.permute(1, 2, 0)
            if convolution.bias is not None:
                yield f"b_conv{number}", convolution.bias
        if self.projection is not None:
            yield "W_E", self.projection.weight.t()
            if self.projection.bias is not None:
                yield "b_E", self.projection.bias
        if self.mask_token is not None:
            yield "mask_token", self.mask_token


class Blanked(nn.Module):
    """Zeros at padding, which convolutions over neighbours would see."""

    def forward(self, x_BTD: Tensor, inputs: Tensor, attend_BT: Tensor | None) -> Tensor:
        return x_BTD if attend_BT is None else x_BTD.masked_fill(~attend_BT[:, :, None], 0.0)


class ConvolvedPositions(nn.Module):
    """What neighbours tell about the place is added: convolutions in groups, each followed by GELU (Baevski et al. 2020)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.layers, self.kernel, self.groups = spec.position_layers, spec.position_kernel, spec.position_groups
        self.weight_norm, self.share = spec.position_norm == "weight", spec.d_model // spec.position_groups
        for name in self.names():
            self.register_parameter(f"V_{name}", nn.Parameter(torch.empty(spec.d_model, self.share, self.kernel)))
            self.register_parameter(f"g_{name}", nn.Parameter(torch.empty(self.kernel)) if self.weight_norm else None)
            self.register_parameter(f"b_{name}", nn.Parameter(torch.empty(spec.d_model)) if spec.bias("embedding") else None)

    def names(self) -> list[str]:
        """The symbol that each convolution's parameters share."""
        return ["position"] if self.layers == 1 else [f"position_{number}" for number in range(1, self.layers + 1)]

    def forward(self, x_BTD: Tensor, positions_BT: Tensor | None) -> Tensor:
        y_BDT = x_BTD.mT
        for name in self.names():
            y_BDT = self.convolved(y_BDT, name)
        return x_BTD + y_BDT.mT

    def convolved(self, x_BDT: Tensor, name: str) -> Tensor:
        """One convolution over neighbours, with its norm and GELU."""
        bias = getattr(self, f"b_{name}")
        made_BDT = functional.conv1d(x_BDT, self.weight(name), bias, padding=self.kernel // 2, groups=self.groups)
        y_BTD = made_BDT[:, :, : x_BDT.shape[2]].mT  # an even kernel gives one position more
        if not self.weight_norm:
            y_BTD = functional.layer_norm(y_BTD, y_BTD.shape[-1:], eps=SOUND_EPS)
        return functional.gelu(y_BTD).mT

    def weight(self, name: str) -> Tensor:
        """The kernel: as stored, or a direction with a learned length for each position (Salimans and Kingma 2016)."""
        direction, length = getattr(self, f"V_{name}"), getattr(self, f"g_{name}")
        if length is None:
            return direction
        return direction * (length / direction.norm(dim=(0, 1)).clamp_min(torch.finfo(direction.dtype).tiny))

    def views(self) -> Iterator[tuple[str, Tensor]]:
        for name in self.names():
            yield f"V_{name}", getattr(self, f"V_{name}").unflatten(0, (self.groups, self.share))
            if self.weight_norm:
                yield f"g_{name}", getattr(self, f"g_{name}")
            if (bias := getattr(self, f"b_{name}")) is not None:
                yield f"b_{name}", bias.unflatten(0, (self.groups, self.share))

    @torch.no_grad()
    def start(self) -> None:
        """The learned lengths begin as those of the directions, biases as zeros."""
        for name in self.names():
            if self.weight_norm:
                getattr(self, f"g_{name}").copy_(getattr(self, f"V_{name}").norm(dim=(0, 1)))
            if (bias := getattr(self, f"b_{name}")) is not None:
                bias.zero_()
