"""Disentangled attention (DeBERTa, He et al. 2021): queries attend to vectors of distances, and those attend to keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec

Map: TypeAlias = tuple[Tensor, Tensor | None]  # a matrix [out, in] and its bias


class ByLogDistance(nn.Module):
    """The row of `t − s` in a table with 0 in the middle (DeBERTa): small distances have one each, large ones share."""

    steps: Tensor  # the distances at which a new row begins

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.side = spec.relative_rows // 2  # rows for keys behind, and for keys ahead
        self.distance = spec.relative_distance
        self.register_buffer("steps", torch.empty(self.side, dtype=torch.int64), persistent=False)

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        away_TS = torch.arange(queries, device=device)[:, None] - torch.arange(keys, device=device)
        rows_TS = away_TS.sign() * torch.bucketize(away_TS.abs(), self.steps, right=True) + self.side
        return rows_TS.clamp(max=2 * self.side - 1)


class Distances(NamedTuple):
    """A vector for each row of a relative table, and which row belongs to the distance of each (query, key) pair."""

    vectors_RD: Tensor
    rows_TS: Tensor


class RelativeVectors(nn.Module):
    """A learned vector for each bucket of distances, normalised if the spec says so."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_relative = nn.Parameter(torch.empty(spec.relative_rows, spec.d_model))
        self.relative_norm = Norm(spec, spec.d_model) if spec.relative_norm else nn.Identity()

    def forward(self, rows_TS: Tensor) -> Distances:
        return Distances(self.relative_norm(self.E_relative), rows_TS)


class ByDistances(nn.Module):
    """What one layer adds to its scores: content to position, position to content, or both."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.spec, self.dropout = spec, nn.Dropout(spec.dropout)
        own, keys, queries = spec.relative_projections == "own", spec.content_to_position, spec.position_to_content
        widths = spec.key_heads * spec.head_k, spec.heads * spec.head_k
        self.keys = nn.Linear(spec.d_model, widths[0], bias=spec.bias("k")) if own and keys else None
        self.queries = nn.Linear(spec.d_model, widths[1], bias=spec.bias("q")) if own and queries else None

    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor, distances: Distances, content: tuple[Map, Map], scale: float) -> Tensor:
        """`content` are the maps from tokens to queries and keys, which the distances may share.

        The vectors of distances are scaled: they are few, and queries and keys need no second copy.
        """
        vectors_RD, rows_TS = self.dropout(distances.vectors_RD), distances.rows_TS
        terms = []
        if self.spec.content_to_position:
            keys_RHK = self.heads(vectors_RD, _map(self.keys) or content[1], self.spec.key_heads)
            terms.append(self.picked(q_BTHK, keys_RHK * scale, rows_TS))
        if self.spec.position_to_content:
            queries_RHK = self.heads(vectors_RD, _map(self.queries) or content[0], self.spec.heads)
            terms.append(self.picked(k_BSHK, queries_RHK * scale, rows_TS.mT).mT)
        bias_HBTS = sum(terms[1:], terms[0])
        return bias_HBTS.transpose(0, 1)

    def heads(self, vectors_RD: Tensor, into: Map, heads: int) -> Tensor:
        """The vectors of distances, for each query head."""
        made_RHK = functional.linear(vectors_RD, *into).unflatten(-1, (heads, self.spec.head_k))
        return made_RHK if heads == self.spec.heads else made_RHK.repeat_interleave(self.spec.group, dim=1)

    def picked(self, x_BTHK: Tensor, vectors_RHK: Tensor, rows_TS: Tensor) -> Tensor:
        """The product of each token with every vector, from which `rows` selects one for each other token.

        Heads are the first axis: one product per head for the tokens of all sequences, without copying the vectors.
        """
        return self.gathered(torch.einsum("bthk,rhk->hbtr", x_BTHK, vectors_RHK), rows_TS)

    def gathered(self, every_HBTR: Tensor, rows_TS: Tensor) -> Tensor:
        return every_HBTR.gather(-1, rows_TS.expand(*every_HBTR.shape[:2], -1, -1))

    def views(self) -> Iterator[tuple[str, Tensor]]:
        for letter, linear in (("K", self.keys), ("Q", self.queries)):
            if linear is not None:
                yield f"W_{letter}R", linear.weight.unflatten(0, (-1, self.spec.head_k)).permute(2, 0, 1)
                if linear.bias is not None:
                    yield f"b_{letter}R", linear.bias.unflatten(0, (-1, self.spec.head_k))


def _map(linear: nn.Linear | None) -> Map | None:
    return None if linear is None else (linear.weight, linear.bias)
