"""A small feed-forward block whose output is added once more to that of a layer (MMS, Houlsby et al. 2019)."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from glassformer.model.feed_forward import Linear
from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec

EPS = 1e-5  # whatever the layers use


class LayerAdapter(nn.Module):
    """Norm, narrow, ReLU, widen."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        width = spec.layer_adapter or 1
        self.norm = Norm(spec, spec.d_model, eps=EPS)
        self.narrow = Linear("1", spec.d_model, width, bias=spec.bias("ffn"))
        self.wide = Linear("2", width, spec.d_model, bias=spec.bias("ffn"))

    def forward(self, x_BTD: Tensor) -> Tensor:
        added_BTD: Tensor = self.wide(self.narrow(self.norm(x_BTD)).relu())
        return x_BTD + added_BTD


class Adapts(nn.Module):
    """The part of a layer after its feed-forward block."""

    def __init__(self, spec: EncoderSpec, **options: Any) -> None:
        super().__init__(spec, **options)
        self.adapter = LayerAdapter(spec)

    def forward(self, *given: Any) -> Tensor:
        left_BTD: Tensor = self.adapter(super().forward(*given))
        return left_BTD
