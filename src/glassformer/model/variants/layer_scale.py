"""A learned factor for each feature of a sub-layer's output."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from glassformer.spec import EncoderSpec


class LayerScale(nn.Module):
    """A learned factor per feature on the output of a sub-layer (CaiT, BEiT, DINOv2)."""

    def __init__(self, spec: EncoderSpec, number: int | str) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.empty(spec.d_model))
        self.number = number

    def forward(self, x_BTD: Tensor) -> Tensor:
        return x_BTD * self.factor

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield f"lambda_{self.number}", self.factor
