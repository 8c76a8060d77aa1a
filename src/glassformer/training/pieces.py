"""Pieces of sharded tensors: how they are named, and how they are joined again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from glassformer.errors import shown

NAME = re.compile(r"([^@]+)@(\d{1,15}(?:,\d{1,15})*)")


class Damaged(Exception):  # noqa: N818 - what a checkpoint is
    """Why a checkpoint cannot be used."""


class Piece(NamedTuple):
    """Part of a tensor, or a whole tensor: `weights/NAME@16,0` starts at row 16, `weights/NAME` is whole."""

    file: str
    key: str
    sizes: tuple[int, ...]

    @property
    def tensor(self) -> str:
        """Name of the tensor it belongs to."""
        found = NAME.fullmatch(self.key)
        return found[1] if found else self.key

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets of the piece in the tensor."""
        found = NAME.fullmatch(self.key)
        return tuple(map(int, found[2].split(","))) if found else (0,) * len(self.sizes)


class Plan(NamedTuple):
    """The shape of a tensor and the pieces that make it up."""

    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]


def piece_key(tensor: str, offsets: Sequence[int], sizes: Sequence[int], shape: Sequence[int]) -> str:
    """Return the name of a piece in its file."""
    return tensor if tuple(sizes) == tuple(shape) else f"{tensor}@{','.join(map(str, offsets))}"


def plans(pieces: Iterable[Piece]) -> dict[str, Plan]:
    """Return tensor -> pieces; refuse gaps and overlaps before any memory is allocated."""
    found: dict[str, list[Piece]] = {}
    for piece in pieces:
        found.setdefault(piece.tensor, []).append(piece)
    return {tensor: _plan(tensor, some) for tensor, some in found.items()}


def together(plan: Plan, tensors: dict[tuple[str, str], Tensor]) -> Tensor:
    """Join the pieces, given by (file, key), into the whole tensor."""
    parts = [tensors[piece.file, piece.key] for piece in plan.pieces]
    if len(parts) == 1:
        return parts[0]
    made = torch.empty(plan.shape, dtype=parts[0].dtype)
    for piece, part in zip(plan.pieces, parts, strict=True):
        made[tuple(slice(at, at + size) for at, size in zip(piece.offsets, piece.sizes, strict=True))] = part
    return made


def _plan(tensor: str, pieces: list[Piece]) -> Plan:
    axes = len(pieces[0].sizes)
    if all(len(piece.sizes) == len(piece.offsets) == axes for piece in pieces):
        shape = tuple(max(piece.offsets[axis] + piece.sizes[axis] for piece in pieces) for axis in range(axes))
        if math.prod(shape) == sum(math.prod(piece.sizes) for piece in pieces):
            return Plan(shape, tuple(pieces))
    raise Damaged(f"the pieces of {shown(tensor)} do not fit together")
