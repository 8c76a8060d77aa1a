"""Scores by content, by distance and by segment, each with its own constant that is added to queries (Dai et al. 2019)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from glassformer.spec import EncoderSpec


class Shifts(NamedTuple):
    """Waves of distances, the row of each query and key among them, and which of these are of one segment."""

    waves_RD: Tensor
    rows_TS: Tensor
    same_BTS: Tensor


class ByShifts(nn.Module):
    """What one layer adds to its scores; the first token has no place and no segment."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        each = (spec.heads, spec.head_k)
        self.c_content, self.c_place, self.c_segment = (nn.Parameter(torch.empty(each)) for _ in range(3))
        self.c_R = nn.Parameter(torch.empty(spec.d_model, *each))
        self.E_same = nn.Parameter(torch.empty(2, *each))

    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor, shifts: Shifts) -> Tensor:
        content_BHS = torch.einsum("hk,bshk->bhs", self.c_content, k_BSHK)
        keys_RHK = torch.einsum("rd,dhk->rhk", shifts.waves_RD, self.c_R)
        every_BHTR = torch.einsum("bthk,rhk->bhtr", q_BTHK + self.c_place, keys_RHK)
        rows = shifts.rows_TS.expand(*every_BHTR.shape[:2], -1, -1)
        both = torch.einsum("bthk,ghk->bhtg", q_BTHK + self.c_segment, self.E_same)
        by_segment = torch.where(shifts.same_BTS[:, None], both[..., 1:], both[..., :1])
        placed_BHTS = every_BHTR.gather(-1, rows) + by_segment
        inner_BHTS = nn.functional.pad(placed_BHTS[:, :, 1:, 1:], (1, 0, 1, 0))
        return content_BHS[:, :, None] + inner_BHTS
