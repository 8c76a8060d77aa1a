"""Core attention over a padded batch, and the rule for which keys a query may attend to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

NEVER = -torch.inf  # added to the score of a masked key


class Rule(NamedTuple):
    """Which keys a query may attend to, apart from padding: `causal` forbids later keys, `window` keys more than half of it away.

    With `first`, the first position attends to all, and all attend to it.
    """

    causal: bool = False
    window: int | None = None
    first: bool = False

    def visible(self, queries: int, keys: int, device: torch.device) -> Tensor | None:
        """True where a query may attend to a key; None if the rule forbids nothing."""
        if self == Rule():
            return None
        away_TS = torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]
        visible_TS = away_TS <= 0 if self.causal else torch.ones_like(away_TS, dtype=torch.bool)
        visible_TS = visible_TS if self.window is None else visible_TS & (away_TS.abs() <= self.window // 2)
        if self.first:
            query_T1, key_S = torch.arange(queries, device=device)[:, None], torch.arange(keys, device=device)
            visible_TS = visible_TS | (query_T1 == 0) | (key_S == 0)
        return visible_TS


class Core(Protocol):
    """Core attention, `softmax(scale · q kᵀ + mask) v`, with the mask of one layer; see `PaddedCore`."""

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor: ...
    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor: ...
    def with_bias(self, bias_BHTS: Tensor) -> Core: ...
    def capped(self, cap: float) -> Core: ...
    def shared(self, x: Tensor, group: int) -> Tensor: ...


class Layout(Protocol):
    """How sequences are arranged in a tensor of tokens; see `Padded`."""

    def length(self, t: int) -> int: ...
    def core(self, rule: Rule, bias_HTS: Tensor | None, *, t: int, dtype: torch.dtype, device: torch.device) -> Core: ...
    def first(self, x_BTD: Tensor) -> Tensor: ...
    def last(self, x_BTD: Tensor) -> Tensor: ...
    def mean(self, x_BTD: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class PaddedCore:
    """Attention over a padded batch. `mask` is added to the scores, −∞ at masked keys, and broadcasts to BHTS."""

    mask: Tensor | None
    causal: bool = False  # the causal rule and nothing else: PyTorch has a flag for it and skips half of the work

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        """`softmax(scale · q kᵀ + mask) v`."""
        q_BHTK, k_BHSK, v_BHSV = q_BTHK.transpose(1, 2), k_BSHK.transpose(1, 2), v_BSHV.transpose(1, 2)
        mix_BHTV = functional.scaled_dot_product_attention(
            q_BHTK, k_BHSK, v_BHSV, attn_mask=self.mask, dropout_p=dropout, is_causal=self.causal, scale=scale
        )
        return mix_BHTV.transpose(1, 2)

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        """`softmax(scale · q kᵀ + mask)`; a query whose keys are all masked has weights of zero."""
        # In float32 at least, as the kernels do inside: scores overflow float16.
        precise = torch.promote_types(q_BTHK.dtype, torch.float32)
        scores_BHTS = self.squashed((q_BTHK.to(precise) * scale).transpose(1, 2) @ k_BSHK.to(precise).permute(0, 2, 3, 1))
        queries, keys = scores_BHTS.shape[-2:]
        mask = added(Rule(causal=True).visible(queries, keys, q_BTHK.device), None, q_BTHK.dtype) if self.causal else self.mask
        if mask is None:
            return scores_BHTS.softmax(-1).to(q_BTHK.dtype)
        # A row without a visible key would be 0/0: the softmax gets it unmasked, and it is set to zeros afterwards.
        hidden = mask == NEVER
        blind = hidden.all(-1, keepdim=True)
        return (scores_BHTS + mask.masked_fill(blind, 0.0)).softmax(-1).masked_fill(hidden, 0.0).to(q_BTHK.dtype)

    def shared(self, x: Tensor, group: int) -> Tensor:
        """Keys or values for every query head: `group` heads share the same."""
        return repeated(x, group)

    def squashed(self, scores_BHTS: Tensor) -> Tensor:
        """The scores before the mask is added."""
        return scores_BHTS

    def capped(self, cap: float) -> CappedCore:
        """The same, with scores squashed into (−cap, cap)."""
        return CappedCore(self.mask, self.causal, cap)

    def with_bias(self, bias_BHTS: Tensor) -> PaddedCore:
        """The same, with a bias on the scores that depends on the tokens."""
        queries, keys = bias_BHTS.shape[-2:]
        mask = Rule(causal=True).visible(queries, keys, bias_BHTS.device) if self.causal else self.mask
        if mask is None:
            return PaddedCore(bias_BHTS)
        return PaddedCore(torch.where(mask, bias_BHTS, NEVER) if mask.dtype == torch.bool else mask + bias_BHTS)


@dataclass(frozen=True)
class CappedCore(PaddedCore):
    """Scores are squashed into (−cap, cap) before the mask is added (Gemma 2). No kernel does so: the softmax is written out."""

    cap: float = 1.0

    def squashed(self, scores_BHTS: Tensor) -> Tensor:
        return self.cap * (scores_BHTS / self.cap).tanh()

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        weights_BHTS = functional.dropout(self.weights(q_BTHK, k_BSHK, scale=scale), dropout)
        return (weights_BHTS @ v_BSHV.transpose(1, 2)).transpose(1, 2)


def repeated(x: Tensor, group: int) -> Tensor:
    """With grouped queries (Ainslie et al. 2023) several heads of queries read the same keys and values."""
    return x if group == 1 else x.repeat_interleave(group, dim=2)


def added(visible: Tensor | None, bias_HTS: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The only place where a boolean mask is converted to numbers that are added to the scores: −∞ at masked keys.

    If kernels got the boolean mask, every layer would convert it again, and cuDNN uses a finite number: a query whose keys
    are all masked would get the mean of all values instead of zeros.
    """
    if visible is None:
        return bias_HTS
    return torch.where(visible, torch.zeros((), dtype=dtype, device=visible.device) if bias_HTS is None else bias_HTS, NEVER)


class Padded(NamedTuple):
    """A padded batch of sequences; `attend` is True at real tokens, None if every token is real."""

    attend_BS: Tensor | None = None

    def length(self, t: int) -> int:
        """The largest number of positions of a sequence, for rows of `t` tokens."""
        return t

    def core(self, rule: Rule, bias_HTS: Tensor | None, *, t: int, dtype: torch.dtype, device: torch.device) -> PaddedCore:
        """The core attention of a layer with this rule and this relative bias."""
        if rule == Rule(causal=True) and self.attend_BS is None and bias_HTS is None:
            return PaddedCore(None, causal=True)
        visible = rule.visible(t, t, device)
        if self.attend_BS is not None:
            real_B11S = self.attend_BS[:, None, None, :]
            visible = real_B11S if visible is None else visible & real_B11S
        return PaddedCore(added(visible, bias_HTS, dtype))

    def first(self, x_BTD: Tensor) -> Tensor:
        """The first real token of each sequence."""
        if self.attend_BS is None:
            return x_BTD[:, 0]
        return _picked(x_BTD, self.attend_BS.int().argmax(dim=1))

    def last(self, x_BTD: Tensor) -> Tensor:
        """The last real token of each sequence."""
        if self.attend_BS is None:
            return x_BTD[:, -1]
        return _picked(x_BTD, x_BTD.shape[1] - 1 - self.attend_BS.flip(1).int().argmax(dim=1))

    def mean(self, x_BTD: Tensor) -> Tensor:
        """The mean of each sequence's real tokens."""
        if self.attend_BS is None:
            return x_BTD.mean(1)
        real_BT1 = self.attend_BS[:, :, None]
        return x_BTD.masked_fill(~real_BT1, 0.0).sum(1) / real_BT1.sum(1).clamp(min=1)


def _picked(x_BTD: Tensor, place_B: Tensor) -> Tensor:
    # shape[0], here and elsewhere in this room: len() would freeze the size of the batch in an exported graph.
    return x_BTD[torch.arange(place_B.shape[0], device=x_BTD.device), place_B]
