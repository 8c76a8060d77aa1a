"""A convolution parallel to layer 0 (DeBERTa, He et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from glassformer.model.feed_forward import pointwise
from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec


class Beside(nn.Module):
    """A convolution parallel to layer 0 (He et al. 2021): `norm(left + f(convolution(entered)))`, in groups of features."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        size, self.groups = spec.beside_kernel or 1, spec.beside_groups
        width, bias = spec.d_model, spec.bias("convolution")
        self.convolution = nn.Conv1d(width, width, size, padding=size // 2, groups=self.groups, bias=bias)
        self.function, self.norm_beside = pointwise(spec.beside_activation), Norm(spec, width)
        self.dropout = nn.Dropout(spec.dropout)

    def forward(self, entered_BTD: Tensor, left_BTD: Tensor, *, real_BT: Tensor | None) -> Tensor:
        if real_BT is not None:
            entered_BTD = entered_BTD.masked_fill(~real_BT[:, :, None], 0.0)
        return self.norm_beside(left_BTD + self.active(entered_BTD))

    def active(self, entered_BTD: Tensor) -> Tensor:
        """The output of the convolution for each token."""
        return self.function(self.dropout(self.convolution(entered_BTD.mT).mT))

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield "V_beside", self.convolution.weight.unflatten(0, (self.groups, -1))
        if self.convolution.bias is not None:
            yield "b_beside", self.convolution.bias.unflatten(0, (self.groups, -1))
