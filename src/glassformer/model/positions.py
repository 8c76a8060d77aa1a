"""How positions enter: sine waves, turned queries and keys, a bias by distance."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.spec import EncoderSpec

Turn: TypeAlias = Callable[[Tensor], Tensor]
Buckets: TypeAlias = Callable[[int, int, torch.device], Tensor]


def angle_type(device: torch.device) -> torch.dtype:
    """Angles are taken in float64: in float32 the sine of position 8,000 is off in the fourth digit."""
    return torch.float32 if device.type == "mps" else torch.float64


def sinusoid(positions: Tensor, width: int) -> Tensor:
    """`sin(t / 10000^(2i/width))` in even features, the cosine in odd ones (Vaswani et al. 2017, section 3.5)."""
    features_E = torch.arange(width, device=positions.device)
    exponents_E = (features_E - features_E % 2).to(angle_type(positions.device)) / width
    angles = positions[..., None] / 10000.0**exponents_E
    return torch.where(features_E % 2 == 0, angles.sin(), angles.cos())


def unturned(x: Tensor) -> Tensor:
    """No rotary positions."""
    return x


def rotary(positions: Tensor, width: int, base: float, dtype: torch.dtype) -> Turn:
    """The turn of queries or keys by `position / base^(2i/d_k)` (Su et al. 2021); one row of positions serves all sequences."""
    exact = angle_type(positions.device)
    speeds = base ** (torch.arange(0, width, 2, device=positions.device).to(exact) / -width)
    angles = positions[:, :, None, None] * speeds
    precise = torch.promote_types(dtype, torch.float32)
    return partial(turned, cos=angles.cos().to(precise), sin=angles.sin().to(precise))


def turned(x_BTHK: Tensor, *, cos: Tensor, sin: Tensor) -> Tensor:
    """Features i and i + d_k/2 turn together; cos and sin have one angle for each such pair."""
    first, second = x_BTHK.chunk(2, dim=-1)
    turned_BTHK = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned_BTHK.to(x_BTHK.dtype)


class RelativeTable(nn.Module):
    """A learned number for each bucket and head, added to the scores."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_relative = nn.Parameter(torch.empty(spec.relative_rows, spec.heads))

    def forward(self, buckets_TS: Tensor) -> Tensor:
        bias_TSH = functional.embedding(buckets_TS, self.E_relative)
        return bias_TSH.permute(2, 0, 1).contiguous()

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield "E_relative", self.E_relative


class ByDistance(nn.Module):
    """The bucket of `s − t` (T5, MPNet): near distances have one each, far ones share by their logarithm."""

    steps: Tensor

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.ahead = spec.relative_rows // 2  # half of the buckets look back; those that look ahead begin here
        self.distance = spec.relative_distance
        self.register_buffer("steps", torch.empty(self.ahead - 1, dtype=torch.int64), persistent=False)

    def fill(self) -> None:
        """The distances at which a new bucket begins. Taken once, so that no device rounds the logarithm its own way."""
        exact = max(self.ahead // 2, 1)
        room = math.log(self.distance / exact)

        def bucket(away: int) -> int:
            # float32 on purpose: the published models round here, and a bucket more or less is another number.
            share = torch.log(torch.tensor(away, dtype=torch.float32, device="cpu") / exact) / room
            return exact + int(share * (self.ahead - exact))

        far = range(exact, 2 * self.distance)
        starts = [*range(1, exact + 1), *(far[bisect_left(far, n, key=bucket)] for n in range(exact + 1, self.ahead))]
        self.steps.copy_(torch.tensor(starts[: self.ahead - 1], dtype=torch.int64, device="cpu"))

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        away_TS = torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]
        return torch.bucketize(away_TS.abs(), self.steps, right=True) + self.ahead * (away_TS > 0)


class ByLogDistance(nn.Module):
    """The row of `t − s` in a table with 0 in the middle (DeBERTa): near distances have one each, far ones share."""

    steps: Tensor

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.side = spec.relative_rows // 2  # rows for keys behind, and for keys ahead
        self.distance = spec.relative_distance
        self.register_buffer("steps", torch.empty(self.side, dtype=torch.int64), persistent=False)

    def fill(self) -> None:
        """The distances at which a new row begins, as in `ByDistance`."""
        near = self.side // 2 if self.distance > self.side else self.side
        # float32 on purpose: the published models round here, and a bucket more or less is another number.
        room = torch.log(torch.tensor((self.distance - 1) / near, dtype=torch.float32, device="cpu"))

        def row(away: int) -> int:
            share = torch.log(torch.tensor(away, dtype=torch.float32, device="cpu") / near) / room
            return near + int(torch.ceil(share * (near - 1)))

        far = range(near + 1, self.distance**2)  # past its end the last row has begun, or never does
        found = (bisect_left(far, n, key=row) for n in range(near + 1, self.side + 1))
        starts = [*range(1, near + 1), *(far[i] if i < len(far) else torch.iinfo(torch.int64).max for i in found)]
        self.steps.copy_(torch.tensor(starts, dtype=torch.int64, device="cpu"))

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        away_TS = torch.arange(queries, device=device)[:, None] - torch.arange(keys, device=device)
        rows_TS = away_TS.sign() * torch.bucketize(away_TS.abs(), self.steps, right=True) + self.side
        return rows_TS.clamp(max=2 * self.side - 1)


def by_offset(queries: int, keys: int, device: torch.device, *, grid: tuple[int, int]) -> Tensor:
    """The row for the offset between two patches, and three rows of their own for the class token (BEiT)."""
    assert queries == keys == grid[0] * grid[1] + 1
    down, across = (axis.flatten() for axis in torch.meshgrid(*(torch.arange(n, device=device) for n in grid), indexing="ij"))
    tall, wide = (2 * n - 1 for n in grid)
    offsets = (down[:, None] - down + grid[0] - 1) * wide + across[:, None] - across + grid[1] - 1
    buckets_TS = functional.pad(offsets, (1, 0, 1, 0), value=tall * wide)  # the class token asks
    buckets_TS[1:, 0] = tall * wide + 1  # a patch asks for the class token
    buckets_TS[0, 0] = tall * wide + 2
    return buckets_TS


def buckets_of(spec: EncoderSpec) -> Buckets:
    """How a (query, key) pair chooses its row of the relative table."""
    if spec.disentangled:
        return ByLogDistance(spec)
    return partial(by_offset, grid=spec.patch_grid) if spec.position.endswith("2d") else ByDistance(spec)
