"""Rotary positions: queries and keys rotate by their positions (Su et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.attention import Rotation, unrotated
from glassformer.model.embeddings import angle_type
from glassformer.spec import EncoderSpec


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


def rotations(
    spec: EncoderSpec, bases: Iterable[float | None], positions: Tensor, dtype: torch.dtype, table: StoredRotation | None
) -> dict[float | None, Rotation]:
    """The rotation of each base of angles; None is the base of a layer without rotary positions."""
    places = centres(spec, positions.device) if spec.position == "rotary_2d" else positions
    width, adjacent = spec.rotary_width or spec.head_k, spec.rotary_pairs == "adjacent"
    found: dict[float | None, Rotation] = {None: unrotated}
    for base in {base for base in bases if base is not None}:
        if table is not None:
            found[base] = table(positions)
            continue
        turn = rotary(places, width, base, dtype, divisor=spec.rotary_divisor, adjacent=adjacent)
        found[base] = turn if width == spec.head_k else partly(turn, width)
    return found
