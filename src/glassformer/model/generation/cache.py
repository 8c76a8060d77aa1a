"""The key/value cache: keys and values of the tokens so far, in preallocated memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from glassformer.model.core import NEVER

FIRST_SLOTS = 64  # the initial capacity of a cache in tokens, which is doubled when it is full


class Layer:
    """Keys and values of one layer, [slot, row, head, feature]; shared key/value heads are stored once.

    The token at position p lies in slot p, or, in a layer with a window, in slot p modulo the window: what a slot held before can
    no longer be seen. Rotary positions were applied before, so the order of slots does not matter.
    """

    def __init__(self, room: int | None) -> None:
        self.room = room  # tokens that a query can attend to; None: all
        self.k_SBJK: Tensor | None = None
        self.v_SBJV: Tensor | None = None
        self.spare: list[Tensor | None] = [None, None]

    def used(self, length: int) -> int:
        """The number of slots that hold a token if the longest row has `length` tokens."""
        return length if self.room is None else min(length, self.room)

    def fill(self, k_BTJK: Tensor, v_BTJV: Tensor, lengths_B: Tensor) -> None:
        """Store the tokens of a first pass; rows are padded on the right."""
        t = k_BTJK.shape[1]
        if self.room is not None and t > self.room:
            slots_S1 = torch.arange(self.room, device=k_BTJK.device)[:, None]
            last_B = lengths_B - 1
            places_SB = (last_B - (last_B - slots_S1) % self.room).clamp(min=0)  # the latest token that belongs in a slot
            rows_B = torch.arange(k_BTJK.shape[0], device=k_BTJK.device)
            self.k_SBJK, self.v_SBJV = k_BTJK[rows_B, places_SB], v_BTJV[rows_B, places_SB]
            return
        slots = max(FIRST_SLOTS, 2 * t)
        slots = slots if self.room is None else min(slots, self.room)
        self.k_SBJK, self.v_SBJV = (_longer(x.transpose(0, 1), slots) for x in (k_BTJK, v_BTJV))

    def append(self, k_B1JK: Tensor, v_B1JV: Tensor, now: Now) -> tuple[Tensor, Tensor]:
        """Store the token of this step; return the used slots, [row, slot, head, feature]."""
        assert self.k_SBJK is not None
        assert self.v_SBJV is not None
        used = self.used(now.longest)
        if used > len(self.k_SBJK):
            slots = 2 * used if self.room is None else min(2 * used, self.room)
            self.k_SBJK, self.v_SBJV = _longer(self.k_SBJK, slots), _longer(self.v_SBJV, slots)
        if now.equal:
            slot = (now.longest - 1) % (self.room or now.longest)
            self.k_SBJK[slot], self.v_SBJV[slot] = k_B1JK[:, 0], v_B1JV[:, 0]
        else:
            slots_B = now.positions_B if self.room is None else now.positions_B % self.room
            self.k_SBJK[slots_B, now.rows_B], self.v_SBJV[slots_B, now.rows_B] = k_B1JK[:, 0], v_B1JV[:, 0]
        return self.k_SBJK[:used].transpose(0, 1), self.v_SBJV[:used].transpose(0, 1)

    def select(self, rows_B: Tensor, length: int) -> None:
        """Keep these rows, in this order; a row may be taken more than once."""
        used = self.used(length)
        kept = []
        for number, x in enumerate((self.k_SBJK, self.v_SBJV)):
            assert x is not None
            shape = (len(x), len(rows_B), *x.shape[2:])
            spare = self.spare[number]
            if spare is None or spare.shape != shape:
                spare = x.new_zeros(shape)
            torch.index_select(x[:used], 1, rows_B, out=spare[:used])
            kept.append(spare)
        self.spare = [self.k_SBJK, self.v_SBJV]
        self.k_SBJK, self.v_SBJV = kept


def _longer(x_SB: Tensor, slots: int) -> Tensor:
    """The same with more slots, filled with zeros: uninitialised memory may contain NaN, and a weight of 0 times NaN is NaN."""
    longer = x_SB.new_zeros((slots, *x_SB.shape[1:]))
    longer[: len(x_SB)] = x_SB
    return longer


@dataclass(frozen=True)
class Now:
    """The current step: the position of the new token of each row."""

    positions_B: Tensor
    rows_B: Tensor  # 0, 1, 2, …
    longest: int  # tokens of the longest row, including the new one
    equal: bool  # whether all rows have the same number

    def away(self, room: int | None) -> Tensor:
        """The distance of each slot's token from its query, 0 or negative, [row, slot]; one row for all if they are equal."""
        used = self.longest if room is None else min(self.longest, room)
        slots_S = torch.arange(used, device=self.positions_B.device)
        here_B1 = self.positions_B[: 1 if self.equal else None, None]
        return slots_S - here_B1 if room is None else -((here_B1 - slots_S) % room)

    def mask(self, room: int | None, dtype: torch.dtype) -> Tensor | None:
        """Added to the scores: −∞ at slots without a token of the row; None if every slot has one."""
        if self.equal:
            return None
        used = self.longest if room is None else min(self.longest, room)
        seen_BS = torch.arange(used, device=self.positions_B.device) <= self.positions_B[:, None]
        return torch.zeros(seen_BS.shape, dtype=dtype, device=seen_BS.device).masked_fill(~seen_BS, NEVER)[:, None, None]


@dataclass(frozen=True)
class StepCore:
    """Attention of one query per row. Heads that share keys become queries of one head, so nothing is repeated.

    `mask` is added to the scores, [row, head, 1, slot] or a shape that broadcasts to it. Each `beams` consecutive rows read the
    same keys (those of one source).
    """

    mask: Tensor | None
    beams: int = 1
    cap: float | None = None

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        heads, shared = q_BTHK.shape[2], k_BSHK.shape[2]
        group, rows = heads // shared, q_BTHK.shape[0] // self.beams
        q_BJTK = q_BTHK.reshape(rows, self.beams, shared, group, -1).transpose(1, 2).reshape(rows, shared, self.beams * group, -1)
        k_BJSK, v_BJSV = k_BSHK.transpose(1, 2), v_BSHV.transpose(1, 2)
        mask = self.mask
        if mask is not None and mask.shape[1] > 1:  # a number for each query head
            mask = mask.reshape(mask.shape[0], shared, group, -1)
        if self.cap is None:
            mix_BJTV = functional.scaled_dot_product_attention(q_BJTK, k_BJSK, v_BJSV, attn_mask=mask, scale=scale)
        else:
            scores_BJTS = self.cap * (q_BJTK @ k_BJSK.mT * (scale / self.cap)).tanh()
            mix_BJTV = (scores_BJTS if mask is None else scores_BJTS + mask).softmax(-1) @ v_BJSV
        mix_BTHV = mix_BJTV.reshape(rows, shared, self.beams, group, -1).transpose(1, 2)
        return mix_BTHV.reshape(rows * self.beams, 1, heads, -1)

    def shared(self, x: Tensor, group: int) -> Tensor:
        """Keys and values as they are stored."""
        return x

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        raise NotImplementedError("weights are read off a whole pass, not off a step")

    def with_bias(self, bias_BHTS: Tensor) -> StepCore:
        return replace(self, mask=bias_BHTS if self.mask is None else self.mask + bias_BHTS)

    def capped(self, cap: float) -> StepCore:
        return replace(self, cap=cap)
