"""Relative positions: a bias on the scores (T5, BEiT, ALiBi), or vectors of distances (DeBERTa)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.embeddings import angle_type
from glassformer.model.variants.disentangled import ByLogDistance, Distances, RelativeVectors
from glassformer.spec import EncoderSpec

Buckets: TypeAlias = Callable[[int, int, torch.device], Tensor]


class RelativeTable(nn.Module):
    """A learned number for each bucket and head, added to the scores."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_relative = nn.Parameter(torch.empty(spec.relative_rows, spec.heads))

    def forward(self, buckets_TS: Tensor) -> Tensor:
        bias_TSH = functional.embedding(buckets_TS, self.E_relative)
        return bias_TSH.permute(2, 0, 1).contiguous()


class ScaledRelativeTable(RelativeTable):
    """The same divided by √d_k, plus biases by the distances of the left and of the lower sides of two boxes (LayoutLMv3)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__(spec)
        self.scale = 1 / math.sqrt(spec.head_k) if spec.relative_scaled else 1.0
        rows, distance = spec.page_relative or (0, 0)
        self.apart = ByDistance(spec, rows=rows, distance=distance) if rows else None
        for name in ("E_x_relative", "E_y_relative") if rows else ():
            self.register_parameter(name, nn.Parameter(torch.empty(rows, spec.heads)))

    def forward(self, buckets_TS: Tensor, boxes_BT4: Tensor | None = None) -> Tensor:
        bias = super().forward(buckets_TS)
        if self.apart is not None:
            boxes = buckets_TS.new_zeros(1, buckets_TS.shape[0], 4) if boxes_BT4 is None else boxes_BT4
            for name, side in (("E_x_relative", 0), ("E_y_relative", 3)):
                places_BT = boxes[..., side]
                rows_BTS = self.apart.rows(places_BT[:, None, :] - places_BT[:, :, None])
                bias = bias + functional.embedding(rows_BTS, getattr(self, name)).permute(0, 3, 1, 2)
        return bias * self.scale


class Slopes(nn.Module):
    """ALiBi (Press et al. 2022) in both directions: scores fall with distance, at each head's rate; nothing is learned."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.heads = spec.heads

    def forward(self, away_TS: Tensor) -> Tensor:
        whole = 2 ** int(math.log2(self.heads))
        exponents_H = [*range(1, whole + 1), *(h + 0.5 for h in range(self.heads - whole))]
        slopes_H = 2.0 ** (torch.tensor(exponents_H, dtype=angle_type(away_TS.device), device=away_TS.device) * (-8 / whole))
        return -slopes_H[:, None, None] * away_TS


def away(queries: int, keys: int, device: torch.device) -> Tensor:
    """The absolute distance of each (query, key) pair."""
    return (torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]).abs()


class ByDistance(nn.Module):
    """The bucket of `s − t` (T5, MPNet): small distances have one each, large ones share by their logarithm."""

    steps: Tensor  # the distances at which a new bucket begins

    def __init__(self, spec: EncoderSpec, *, rows: int | None = None, distance: int | None = None) -> None:
        super().__init__()
        self.backward = spec.relative_backward  # whether all buckets look back, as in a decoder
        rows = spec.relative_rows if rows is None else rows
        self.ahead = rows // (1 if self.backward else 2)  # buckets that look back; the others begin here
        self.distance = spec.relative_distance if distance is None else distance
        self.register_buffer("steps", torch.empty(self.ahead - 1, dtype=torch.int64), persistent=False)

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        return self.rows(torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None])

    def rows(self, away: Tensor) -> Tensor:
        """The rows of distances `s − t`."""
        if self.backward:
            return torch.bucketize((-away).clamp(min=0), self.steps, right=True)
        return torch.bucketize(away.abs(), self.steps, right=True) + self.ahead * (away > 0)


def by_offset(queries: int, keys: int, device: torch.device, *, grid: tuple[int, int]) -> Tensor:
    """The row for the offset between two patches, and three separate rows for the class token (BEiT)."""
    assert queries == keys == grid[0] * grid[1] + 1
    down, across = (axis.flatten() for axis in torch.meshgrid(*(torch.arange(n, device=device) for n in grid), indexing="ij"))
    tall, wide = (2 * n - 1 for n in grid)
    offsets = (down[:, None] - down + grid[0] - 1) * wide + across[:, None] - across + grid[1] - 1
    buckets_TS = functional.pad(offsets, (1, 0, 1, 0), value=tall * wide)  # the query is the class token
    buckets_TS[1:, 0] = tall * wide + 1  # the key is the class token
    buckets_TS[0, 0] = tall * wide + 2
    return buckets_TS


def buckets_of(spec: EncoderSpec) -> Buckets:
    """How a (query, key) pair chooses its row of the relative table; without a table, its distance."""
    if spec.alibi:
        return away
    if spec.disentangled:
        return ByLogDistance(spec)
    return partial(by_offset, grid=spec.patch_grid) if spec.position.endswith("2d") else ByDistance(spec)


def table_of(spec: EncoderSpec) -> type[Slopes | RelativeVectors | RelativeTable]:
    """The table of relative positions."""
    if spec.relative_scaled or spec.page_relative:
        return ScaledRelativeTable
    return Slopes if spec.alibi else RelativeVectors if spec.disentangled else RelativeTable


class Relation(NamedTuple):
    """The effect of relative positions on the attention of one layer: one of these."""

    bias_HTS: Tensor | None = None  # added to the scores
    gated_HTS: Tensor | None = None  # added as well, scaled by a gate of each token
    distances: Distances | None = None  # vectors that attend and are attended to
    own: bool = False  # whether it belongs to this layer alone


class Parts(NamedTuple):
    """The stored parts of relative positions: one table for all layers, or one for each block."""

    buckets: Buckets | None
    relative: nn.Module | None
    tables: nn.ModuleDict


def parts_of(spec: EncoderSpec, owners: Iterable[str]) -> Parts:
    """The parts of an encoder whose layers use these blocks; none without relative positions."""
    if not spec.by_distance:
        return Parts(None, None, nn.ModuleDict())
    table, owners = table_of(spec), list(owners)
    if spec.relative and spec.relative_tables == "per_layer":
        return Parts(buckets_of(spec), None, nn.ModuleDict({owner: table(spec) for owner in owners}))
    return Parts(buckets_of(spec), table(spec) if owners else None, nn.ModuleDict())


def relations(encoder: Any, length: int, dtype: torch.dtype, boxes_BT4: Tensor | None = None) -> Callable[[str], Relation]:
    """From the block of a layer to the relation of its attention, for sequences of up to this length."""
    spec, tables = encoder.spec, encoder.tables
    rows_TS = encoder.buckets(length, length, encoder.here.device)
    on_page = (boxes_BT4,) if spec.page_relative else ()
    shared = encoder.relative(rows_TS, *on_page) if encoder.relative is not None else None
    if isinstance(shared, Tensor) and spec.alibi:  # computed, not a parameter with its own number format
        shared = shared.to(dtype)
    name = "distances" if spec.disentangled else "gated_HTS" if spec.gates_bias else "bias_HTS"

    def of_block(owner: str) -> Relation:
        return Relation(**{name: tables[owner](rows_TS) if tables else shared}, own=bool(tables))

    return of_block
