"""How positions enter: sine waves, rotated queries and keys, a bias by distance, vectors of distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec

Rotation: TypeAlias = Callable[[Tensor], Tensor]
Buckets: TypeAlias = Callable[[int, int, torch.device], Tensor]
Map: TypeAlias = tuple[Tensor, Tensor | None]  # a matrix [out, in] and its bias


def angle_type(device: torch.device) -> torch.dtype:
    """Angles are taken in float64: in float32 the sine of position 8,000 is off in the fourth digit."""
    return torch.float32 if device.type == "mps" else torch.float64


def sinusoid(positions: Tensor, width: int) -> Tensor:
    """`sin(t / 10000^(2i/width))` in even features, the cosine in odd ones (Vaswani et al. 2017, section 3.5)."""
    features_E = torch.arange(width, device=positions.device)
    exponents_E = (features_E - features_E % 2).to(angle_type(positions.device)) / width
    angles = positions[..., None] / 10000.0**exponents_E
    return torch.where(features_E % 2 == 0, angles.sin(), angles.cos())


def half_sinusoid(positions: Tensor, width: int) -> Tensor:
    """The same waves at other speeds, sines in the first half of the features and cosines in the second (tensor2tensor)."""
    exponents_E = torch.arange(width // 2, device=positions.device).to(angle_type(positions.device)) / max(width // 2 - 1, 1)
    angles = positions[..., None] / 10000.0**exponents_E
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


def unrotated(x: Tensor) -> Tensor:
    """No rotary positions."""
    return x


def centres(spec: EncoderSpec, device: torch.device) -> Tensor:
    """Row and column of each patch, from −2π to 2π across the image (DINOv3); 0 for the tokens before the patches."""
    steps = [torch.arange(1, 2 * n, 2, device=device).to(angle_type(device)) / n - 1 for n in spec.patch_grid]
    centres_TS = torch.cartesian_prod(*steps) * 2 * torch.pi
    return functional.pad(centres_TS, (0, 0, spec.class_tokens + spec.registers, 0))[None]


def rotary(
    places: Tensor, width: int, base: float, dtype: torch.dtype, *, divisor: float = 1.0, adjacent: bool = False
) -> Rotation:
    """Rotate by `place / base^(2i/width) / divisor` (Su et al. 2021); each coordinate rotates its share of features."""
    sides, exact = (places[..., None] if places.ndim == 2 else places), angle_type(places.device)
    speeds = base ** (torch.arange(0, width, 2 * sides.shape[2], device=places.device).to(exact) / -width) / divisor
    angles = (sides[..., None] * speeds).flatten(2)[:, :, None]
    precise = torch.promote_types(dtype, torch.float32)
    turn = rotated_neighbours if adjacent else rotated
    return partial(turn, cos=angles.cos().to(precise), sin=angles.sin().to(precise))


def rotated(x_BTHK: Tensor, *, cos: Tensor, sin: Tensor) -> Tensor:
    """Features i and i + d_k/2 rotate together; cos and sin have one angle for each such pair."""
    first, second = x_BTHK.chunk(2, dim=-1)
    rotated_BTHK = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return rotated_BTHK.to(x_BTHK.dtype)


def rotated_neighbours(x_BTHK: Tensor, *, cos: Tensor, sin: Tensor) -> Tensor:
    """Features 2i and 2i + 1 rotate together (RoFormer, NeoBERT)."""
    first, second = x_BTHK.unflatten(-1, (-1, 2)).unbind(-1)
    rotated_BTHK = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1).flatten(-2)
    return rotated_BTHK.to(x_BTHK.dtype)


def waves_of_pairs(rows: int, width: int, device: torch.device) -> Tensor:
    """Sines of the angles of all pairs of features, then their cosines, for each position."""
    speeds = 10000.0 ** (torch.arange(0, width, 2, device=device).to(angle_type(device)) / -width)
    angles = torch.arange(rows, device=device)[:, None] * speeds
    return torch.cat((angles.sin(), angles.cos()), dim=1)


class StoredRotation(nn.Module):
    """Rotations whose sines and cosines are a table, stored and not trained (RoFormer)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_rotary = nn.Parameter(torch.empty(spec.positions or 0, spec.head_k), requires_grad=False)
        self.turn = rotated_neighbours if spec.rotary_pairs == "adjacent" else rotated

    def forward(self, positions_BT: Tensor) -> Rotation:
        sin, cos = self.waves(positions_BT)[:, :, None].chunk(2, dim=-1)
        return partial(self.turn, cos=cos, sin=sin)

    def waves(self, positions_BT: Tensor) -> Tensor:
        """The row of each position."""
        return functional.embedding(positions_BT, self.E_rotary)


def partly(rotate: Rotation, width: int) -> Rotation:
    """Rotate the first features of each head, and leave the others as they are (GPT-NeoX, Phi)."""

    def turn(x_BTHK: Tensor) -> Tensor:
        return torch.cat((rotate(x_BTHK[..., :width]), x_BTHK[..., width:]), dim=-1)

    return turn


class RelativeTable(nn.Module):
    """A learned number for each bucket and head, added to the scores."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_relative = nn.Parameter(torch.empty(spec.relative_rows, spec.heads))

    def forward(self, buckets_TS: Tensor) -> Tensor:
        bias_TSH = functional.embedding(buckets_TS, self.E_relative)
        return bias_TSH.permute(2, 0, 1).contiguous()


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
    """The distance of each (query, key) pair, whatever its direction."""
    return (torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]).abs()


class RelativeGate(nn.Module):
    """How much of its row of a relative bias each token takes, head by head (WavLM): `a · (b · c − 1) + 2`."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.heads = spec.heads
        self.linear = nn.Linear(spec.d_model // spec.heads, 8)  # four numbers for each of the two gates, added up
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


class ByDistance(nn.Module):
    """The bucket of `s − t` (T5, MPNet): near distances have one each, far ones share by their logarithm."""

    steps: Tensor  # the distances at which a new bucket begins

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.backward = spec.relative_backward  # whether all buckets look back, as in a decoder
        self.ahead = spec.relative_rows // (1 if self.backward else 2)  # buckets that look back; the others begin here
        self.distance = spec.relative_distance
        self.register_buffer("steps", torch.empty(self.ahead - 1, dtype=torch.int64), persistent=False)

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        return self.rows(torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None])

    def rows(self, away: Tensor) -> Tensor:
        """The rows of distances `s − t`."""
        if self.backward:
            return torch.bucketize((-away).clamp(min=0), self.steps, right=True)
        return torch.bucketize(away.abs(), self.steps, right=True) + self.ahead * (away > 0)


class ByLogDistance(nn.Module):
    """The row of `t − s` in a table with 0 in the middle (DeBERTa): near distances have one each, far ones share."""

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
    """How a (query, key) pair chooses its row of the relative table; without a table, its distance."""
    if spec.alibi:
        return away
    if spec.disentangled:
        return ByLogDistance(spec)
    return partial(by_offset, grid=spec.patch_grid) if spec.position.endswith("2d") else ByDistance(spec)


# Disentangled attention (DeBERTa, He et al. 2021): queries attend to vectors of distances, and those attend to keys.


class Distances(NamedTuple):
    """A vector for each row of a relative table, and which row belongs to the distance of each (query, key) pair."""

    vectors_RD: Tensor
    rows_TS: Tensor


class RelativeVectors(nn.Module):
    """A learned vector for each bucket of distances, normalised where the spec says so."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_relative = nn.Parameter(torch.empty(spec.relative_rows, spec.d_model))
        self.relative_norm = Norm(spec, spec.d_model) if spec.relative_norm else nn.Identity()

    def forward(self, rows_TS: Tensor) -> Distances:
        return Distances(self.relative_norm(self.E_relative), rows_TS)


def table_of(spec: EncoderSpec) -> type[Slopes | RelativeVectors | RelativeTable]:
    """What positions by distance are read from."""
    return Slopes if spec.alibi else RelativeVectors if spec.disentangled else RelativeTable


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
        """`content` are the maps that make queries and keys of tokens, which the distances may share.

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
        """The vectors of distances as each head of queries sees them."""
        made_RHK = functional.linear(vectors_RD, *into).unflatten(-1, (heads, self.spec.head_k))
        return made_RHK if heads == self.spec.heads else made_RHK.repeat_interleave(self.spec.group, dim=1)

    def picked(self, x_BTHK: Tensor, vectors_RHK: Tensor, rows_TS: Tensor) -> Tensor:
        """The product of each token with every vector, and of those the one that `rows` names for each other token.

        Heads stand in front: one product a head for the tokens of all sequences, and no copy of the vectors for each of these.
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
