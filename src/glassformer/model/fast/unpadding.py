"""Layers run on one packed row where that is less work: without padding, and with windows passed to the kernel."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from glassformer.model.boundary.checks import unreadable
from glassformer.model.core import Layout, Padded
from glassformer.model.encoder import PlainEncoder
from glassformer.model.fast.packed import Packed
from glassformer.model.fast.packing import packable


class Inside(NamedTuple):
    """The arrangement of tokens while the layers run."""

    layout: Layout
    positions_BT: Tensor | None
    places: Tensor | None = None  # the flat index in the batch of each token of the row; None: the batch itself

    def enter(self, x_BTD: Tensor) -> Tensor:
        """From the batch [batch, t] to the row."""
        if not isinstance(self.layout, Packed):
            return x_BTD
        flat_ND = x_BTD.flatten(0, 1)
        return (flat_ND if self.places is None else flat_ND[self.places])[None]

    def leave(self, x_BTD: Tensor, shape: torch.Size) -> Tensor:
        """Back to a batch of that shape, with zeros at padding."""
        if not isinstance(self.layout, Packed) or x_BTD.shape == shape:
            return x_BTD
        row_ND = x_BTD[0]
        if self.places is None:
            return row_ND.view(shape)
        return row_ND.new_zeros(shape).flatten(0, 1).index_copy(0, self.places, row_ND).view(shape)

    def within(self, places: Tensor) -> Tensor:
        """Convert flat indices of the batch to indices of the row. Padding has no state: a neighbour's is returned for it."""
        if self.places is None:
            return places
        return torch.searchsorted(self.places, places).clamp(max=self.places.shape[0] - 1)


def inside(encoder: PlainEncoder, batch: int, t: int, layout: Layout, positions_BT: Tensor | None) -> Inside:
    """One packed row if the variable-length kernel supports it and has less to do: with padding, or with windows."""
    as_it_lies = Inside(layout, positions_BT)
    if not isinstance(layout, Padded) or not packable(encoder):
        return as_it_lies
    device = encoder.here.device
    windows = [place.rule.window for place in encoder.places if place.rule.window is not None]
    positions_BT = torch.arange(t, device=device)[None] if positions_BT is None else positions_BT
    every = positions_BT.expand(batch, -1).flatten()
    if layout.attend_BS is None:
        if not windows or min(windows) >= 2 * t:
            return as_it_lies
        bounds = torch.arange(0, (batch + 1) * t, t, dtype=torch.int32, device=device)
        return Inside(Packed(bounds, t), every[None])
    real = layout.attend_BS
    if unreadable(real):
        return as_it_lies
    lengths = real.sum(1)
    pieces = real[:, 0].int() + (real[:, 1:] & ~real[:, :-1]).sum(1)  # runs of real tokens in a row
    shortest, longest, most = torch.stack([lengths.min(), lengths.max(), pieces.max()]).tolist()
    if shortest == 0 or (windows and most > 1):  # a window counts the padding between two pieces
        return as_it_lies
    places = real.flatten().nonzero()[:, 0]
    bounds = functional.pad(lengths.cumsum(0), (1, 0)).int()
    return Inside(Packed(bounds, longest), every[places][None], places)
