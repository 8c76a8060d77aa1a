"""A learned weighted sum of all hidden states."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from glassformer.spec import EncoderSpec


class LayerSum(nn.Module):
    """A learned weighted sum of all hidden states (Yang et al. 2021)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.layer_weights = nn.Parameter(torch.empty(spec.layers + 1))
        self.normed = spec.layer_sum_normed

    def forward(self, states_BTD: Tensor, hidden: tuple[Tensor, ...]) -> Tensor:
        """`hidden` is the input of layer 0 and the output of each layer."""
        shares = self.layer_weights.softmax(-1)
        hidden = (*hidden[:-1], states_BTD) if self.normed else hidden
        return (torch.stack(hidden, dim=-1) * shares).sum(-1)
