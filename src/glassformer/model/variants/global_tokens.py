"""Projections of global tokens, which attend to all tokens regardless of the window (Beltagy et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.model.core import Core, PaddedCore
from glassformer.spec import BiasPlace, EncoderSpec

PLACES: tuple[BiasPlace, ...] = ("q", "k", "v")


class GlobalProjections(nn.Module):
    """Projections of global tokens, which ignore the window: the first token uses them, or none does."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.reads = spec.global_attention == "first"
        self.shapes = ((spec.heads, spec.head_k), (spec.heads, spec.head_k), (spec.heads, spec.head_v))
        made = ((heads * features, spec.bias(place)) for (heads, features), place in zip(self.shapes, PLACES, strict=True))
        self.maps = nn.ModuleList(nn.Linear(spec.d_model, width, bias=bias) for width, bias in made)

    def forward(self, x_B1D: Tensor, memory_BSD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The queries of global tokens, and the keys and values that they read."""
        read = (x_B1D, memory_BSD, memory_BSD)
        q, k, v = (one(y).unflatten(-1, shape) for one, y, shape in zip(self.maps, read, self.shapes, strict=True))
        return q, k, v

    def mixed(self, mix_BTHV: Tensor, attention: Any, x_BTD: Tensor, memory_BSD: Tensor, core: Core) -> Tensor:
        """The mixed values of an attention, with those of the first token in the first place."""
        if not self.reads:
            return mix_BTHV
        q_B1HK, k_BSHK, v_BSHV = self(x_BTD[:, :1], memory_BSD)
        return torch.cat((attention.attend(q_B1HK, k_BSHK, v_BSHV, of_first(core)), mix_BTHV[:, 1:]), dim=1)

    def weights(self, weights_BHTS: Tensor, attention: Any, x_BTD: Tensor, memory_BSD: Tensor, core: Core) -> Tensor:
        """The weights of an attention, with those of the first token in the first row."""
        if not self.reads:
            return weights_BHTS
        q_B1HK, k_BSHK, _ = self(x_BTD[:, :1], memory_BSD)
        first_BH1S = of_first(core).weights(q_B1HK, k_BSHK, scale=attention.scale)
        return torch.cat((first_BH1S, weights_BHTS[:, :, 1:]), dim=2)

    def views(self) -> Iterator[tuple[str, Tensor]]:
        for place, one, shape in zip(PLACES, self.maps, self.shapes, strict=True):
            assert isinstance(one, nn.Linear)
            yield f"W_{place.upper()}G", one.weight.t().unflatten(1, shape)
            if one.bias is not None:
                yield f"b_{place.upper()}G", one.bias.unflatten(0, shape)


def of_first(core: Core) -> PaddedCore:
    """The same for the first query alone."""
    assert isinstance(core, PaddedCore)  # no packed row has a global token: `packing_suits` says so
    return PaddedCore(None if core.mask is None else core.mask[..., :1, :])
