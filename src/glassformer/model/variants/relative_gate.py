"""A gate with which each token scales its row of a relative bias (WavLM, Chen et al. 2022)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from glassformer.spec import EncoderSpec


class RelativeGate(nn.Module):
    """How much of its row of a relative bias each token takes, head by head (WavLM): `a · (b · c − 1) + 2`."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.heads = spec.heads
        self.linear = nn.Linear(spec.d_model // spec.heads, 8)  # four numbers for each of the two gates, summed
        self.c_gate = nn.Parameter(torch.empty(spec.heads))

    def forward(self, x_BTD: Tensor, bias_HTS: Tensor) -> Tensor:
        parts = self.linear(x_BTD.unflatten(-1, (self.heads, -1))).unflatten(-1, (2, 4)).sum(-1)
        a_BTH, b_BTH = parts.sigmoid().unbind(-1)
        gate_BTH = a_BTH * (b_BTH * self.c_gate - 1) + 2
        return gate_BTH.transpose(1, 2)[..., None] * bias_HTS

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield "W_gate", self.linear.weight.t().unflatten(1, (2, 4))
        yield "b_gate", self.linear.bias.unflatten(0, (2, 4))
        yield "c_gate", self.c_gate
