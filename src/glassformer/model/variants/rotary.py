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
from glassformer.spec.rotary_scales import ramp


def centres(spec: EncoderSpec, device: torch.device) -> Tensor:
    """Row and column of each patch, from −2π to 2π across the image (DINOv3); 0 for the tokens before the patches."""
    steps = [torch.arange(1, 2 * n, 2, device=device).to(angle_type(device)) / n - 1 for n in spec.patch_grid]
    centres_TS = torch.cartesian_prod(*steps) * 2 * torch.pi
    return functional.pad(centres_TS, (0, 0, spec.class_tokens + spec.registers, 0))[None]


def rotary(spec: EncoderSpec, places: Tensor, base: float, dtype: torch.dtype) -> Rotation:
    """Rotate by `place / base^(2i/width) / divisor` (Su et al. 2021); each coordinate rotates its share of features."""
    sides, exact = (places[..., None] if places.ndim == 2 else places), angle_type(places.device)
    width, scaled = spec.rotary_width or spec.head_k, spec.rotary_scaling != "none"
    speeds = base ** (torch.arange(0, width, 2 * sides.shape[2], device=places.device).to(exact) / -width)
    speeds = speeds * kept(spec, base, speeds) if scaled else speeds / spec.rotary_divisor
    angles = (sides[..., None] * speeds).flatten(2)[:, :, None]
    precise, amplitude = torch.promote_types(dtype, torch.float32), spec.rotary_amplitude if scaled else 1.0
    turn = rotated_neighbours if spec.rotary_pairs == "adjacent" else rotated
    return partial(turn, cos=(amplitude * angles.cos()).to(precise), sin=(amplitude * angles.sin()).to(precise))


def kept(spec: EncoderSpec, base: float, speeds: Tensor) -> Tensor:
    """The factor of each pair's speed: 1 for fast pairs, 1 / rotary_factor for slow ones, and between them (Llama 3.1, YaRN)."""
    if spec.rotary_scaling == "llama3":
        turns = speeds * (spec.trained_positions or 1) / (2 * torch.pi)
        share = (turns - spec.rotary_slow) / (spec.rotary_fast - spec.rotary_slow)
    else:
        first, last = ramp(spec, base, 2 * len(speeds))
        share = (last - torch.arange(len(speeds), device=speeds.device)) / (last - first)
    share = share.to(speeds.dtype).clamp(0, 1)
    return share + (1 - share) / spec.rotary_factor


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
    """Rotate the first features of each head, and leave the others unchanged (GPT-NeoX, Phi)."""

    def turn(x_BTHK: Tensor) -> Tensor:
        return torch.cat((rotate(x_BTHK[..., :width]), x_BTHK[..., width:]), dim=-1)

    return turn


def rotations(
    spec: EncoderSpec, bases: Iterable[float | None], positions: Tensor, dtype: torch.dtype, table: StoredRotation | None
) -> dict[float | None, Rotation]:
    """The rotation of each base of angles; None is the base of a layer without rotary positions."""
    places = centres(spec, positions.device) if spec.position == "rotary_2d" else positions
    found: dict[float | None, Rotation] = {None: unrotated}
    for base in {base for base in bases if base is not None}:
        if table is not None:
            found[base] = table(positions)
            continue
        turn = rotary(spec, places, base, dtype)
        found[base] = turn if spec.rotary_width in (None, spec.head_k) else partly(turn, spec.rotary_width)
    return found
