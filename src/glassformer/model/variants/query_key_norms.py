"""Norms of queries and keys: of each head separately (Qwen 3), or of all heads together (OLMo 2)."""

from __future__ import annotations

from torch import Tensor, nn

from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec


class AllHeads(nn.Module):
    """A norm of all heads together (OLMo 2)."""

    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.norm_of = norm

    def forward(self, x_BTHK: Tensor) -> Tensor:
        normed_BTHK: Tensor = self.norm_of(x_BTHK.flatten(-2)).unflatten(-1, x_BTHK.shape[-2:])
        return normed_BTHK


def query_key_norm(spec: EncoderSpec, heads: int) -> nn.Module:
    """The norm of queries or keys, if the spec has one: of each head separately, or of all heads together."""
    if spec.query_key_norm == "all":
        return AllHeads(Norm(spec, heads * spec.head_k))
    return Norm(spec, spec.head_k) if spec.query_key_norm == "head" else nn.Identity()
