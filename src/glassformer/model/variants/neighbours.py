"""Token embeddings that are projected together with those of their neighbours (MobileBERT, Sun et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.feed_forward import Linear
from glassformer.spec import EncoderSpec


class Neighbours(Linear):
    """A linear map of each token and those around it, the last of them first; there are zeros beyond the ends."""

    def __init__(self, spec: EncoderSpec) -> None:
        self.kernel = spec.token_kernel or 1
        super().__init__("N", self.kernel * spec.table_width, spec.d_model, bias=spec.bias("embedding"))

    def forward(self, x_BTE: Tensor) -> Tensor:
        length, before = x_BTE.shape[1], self.kernel // 2
        padded = functional.pad(x_BTE, (0, 0, before, self.kernel - 1 - before))
        return super().forward(torch.cat([padded[:, i : i + length] for i in reversed(range(self.kernel))], dim=-1))

    def views(self) -> Iterator[tuple[str, Tensor]]:
        for name, view in super().views():
            yield name, view.unflatten(0, (self.kernel, -1)) if name.startswith("W") else view


def token_projection(spec: EncoderSpec) -> nn.Module:
    """What token embeddings go through before segments and positions are added."""
    return Neighbours(spec) if spec.token_kernel is not None else nn.Identity()
