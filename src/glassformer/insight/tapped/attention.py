"""Attention with its steps written out where a hook reads them; otherwise the fused kernels run as ever."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from glassformer.insight.taps import Tapped
from glassformer.model.attention import Attention, Context, unrotated
from glassformer.model.core import NEVER, Core, Padded, PaddedCore, Rule, repeated
from glassformer.model.variants.disentangled import ByDistances, Distances, Map
from glassformer.model.variants.relative import RelativeTable, Slopes
from glassformer.model.variants.rotary import StoredRotation

FUSED = ("scores", "biased", "masked", "weights")  # steps that the kernels never write to memory
OF_DISTANCES = (
    *("k_relative", "k_relative_shared", "content_to_buckets", "content_to_position"),
    *("q_relative", "buckets_to_content", "position_to_content"),
)


class SplitCore(NamedTuple):
    """A core whose bias and rule of visibility are known apart, beside the one that the kernels use."""

    fused: Core
    visible: Tensor | None
    bias: Tensor | None

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        return self.fused.mix(q_BTHK, k_BSHK, v_BSHV, scale=scale, dropout=dropout)

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        return self.fused.weights(q_BTHK, k_BSHK, scale=scale)

    def with_bias(self, bias_BHTS: Tensor) -> SplitCore:
        return SplitCore(self.fused.with_bias(bias_BHTS), self.visible, bias_BHTS)

    def shared(self, x: Tensor, group: int) -> Tensor:
        return self.fused.shared(x, group)

    def capped(self, cap: float) -> SplitCore:
        return SplitCore(self.fused.capped(cap), self.visible, self.bias)


class TappedPadded(Padded):
    """A rectangle whose cores are split."""

    def core(self, rule: Rule, bias_HTS: Tensor | None, *, t: int, dtype: torch.dtype, device: torch.device) -> SplitCore:  # type: ignore[override]  # the same protocol
        fused: PaddedCore = super().core(rule, bias_HTS, t=t, dtype=dtype, device=device)
        visible = rule.visible(t, t, device)
        if self.attend_BS is not None:
            real_B11S = self.attend_BS[:, None, None, :]
            visible = real_B11S if visible is None else visible & real_B11S
        return SplitCore(fused, visible, bias_HTS)


class TappedAttention(Tapped, Attention):
    """The same attention, step by step."""

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context, places: Any = None) -> Tensor:
        held = self.taps.held.get(self.named("mix"))
        mix_BTHV = self.mixed(x_BTD, memory_BSD, context) if held is None else held
        return self.tap("out", self.out(self.tap("mix", mix_BTHV).flatten(-2)))

    def mixed(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        q_BTHK, k_BSHK, v_BSHV = self.read(x_BTD, memory_BSD, context)
        core = self.core(x_BTD, q_BTHK, k_BSHK, context)
        if not self.watched(*FUSED):
            return self.attend(q_BTHK, k_BSHK, v_BSHV, core)
        weights_BHTS = self.attended(q_BTHK, k_BSHK, core)
        return (weights_BHTS @ v_BSHV.transpose(1, 2)).transpose(1, 2)

    def read(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values as the scores read them."""
        q, k, v = (self.tap(symbol, one) for symbol, one in zip("qkv", self.project(x_BTD, memory_BSD), strict=True))
        if context.rotate is not unrotated:
            q, k = self.tap("q_rotated", context.rotate(q)), self.tap("k_rotated", context.rotate(k))
            v = self.tap("v_rotated", context.rotate(v)) if self.turns_values else v
        if self.group > 1:
            k, v = self.tap("k_shared", repeated(k, self.group)), self.tap("v_shared", repeated(v, self.group))
        return q, k, v

    def attended(self, q_BTHK: Tensor, k_BSHK: Tensor, core: Core) -> Tensor:
        """The weights, [batch, head, t, s], through scores, biased and masked scores."""
        assert isinstance(core, SplitCore)
        scores_BHTS = self.tap("scores", (q_BTHK * self.scale).transpose(1, 2) @ k_BSHK.permute(0, 2, 3, 1))
        if core.bias is not None:
            scores_BHTS = self.tap("biased", scores_BHTS + core.bias)
        if core.visible is None:
            return self.tap("weights", scores_BHTS.softmax(-1))
        scores_BHTS = self.tap("masked", torch.where(core.visible, scores_BHTS, NEVER))
        hidden_BHTS = scores_BHTS == NEVER
        blind = hidden_BHTS.all(-1, keepdim=True)  # a row without a visible key: its weights are 0, not 0/0
        weights_BHTS = scores_BHTS.masked_fill(blind, 0.0).softmax(-1).masked_fill(hidden_BHTS, 0.0)
        return self.tap("weights", weights_BHTS)


class TappedByDistances(Tapped, ByDistances):
    """What distances add to the scores, step by step."""

    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor, distances: Distances, content: tuple[Map, Map], scale: float) -> Tensor:
        if not self.watched(*OF_DISTANCES):
            return super().forward(q_BTHK, k_BSHK, distances, content, scale)
        vectors_RD, rows_TS = distances.vectors_RD, distances.rows_TS
        own = [None if one is None else (one.weight, one.bias) for one in (self.keys, self.queries)]
        terms = []
        if self.spec.content_to_position:
            keys_RHK = self.tap("k_relative", self.made(vectors_RD, own[0] or content[1], self.spec.key_heads))
            if self.spec.group > 1:
                keys_RHK = self.tap("k_relative_shared", keys_RHK.repeat_interleave(self.spec.group, dim=1))
            every_BHTR = self.tap("content_to_buckets", torch.einsum("bthk,rhk->bhtr", q_BTHK, keys_RHK) * scale)
            terms.append(self.tap("content_to_position", chosen(every_BHTR, rows_TS)))
        if self.spec.position_to_content:
            queries_RHK = self.tap("q_relative", self.made(vectors_RD, own[1] or content[0], self.spec.heads))
            every_BHSR = self.tap("buckets_to_content", torch.einsum("bshk,rhk->bhsr", k_BSHK, queries_RHK) * scale)
            terms.append(self.tap("position_to_content", chosen(every_BHSR, rows_TS.mT).mT))
        return sum(terms[1:], terms[0])

    def made(self, vectors_RD: Tensor, into: Map, heads: int) -> Tensor:
        """The vectors of distances as keys or queries, before heads share them."""
        return torch.nn.functional.linear(vectors_RD, *into).unflatten(-1, (heads, self.spec.head_k))


def chosen(every_BHTR: Tensor, rows_TS: Tensor) -> Tensor:
    """Of the products with every bucket, the one that belongs to each pair."""
    return every_BHTR.gather(-1, rows_TS.expand(*every_BHTR.shape[:2], -1, -1))


class TappedRelativeTable(Tapped, RelativeTable):
    """The bias by distance."""

    def forward(self, buckets_TS: Tensor) -> Tensor:
        return self.tap("relative", super().forward(buckets_TS))


class TappedSlopes(Tapped, Slopes):
    """The bias that falls with distance."""

    def forward(self, away_TS: Tensor) -> Tensor:
        return self.tap("relative", super().forward(away_TS))


class TappedStoredRotation(Tapped, StoredRotation):
    """The stored sines and cosines, where all texts have the same positions."""

    def waves(self, positions_BT: Tensor) -> Tensor:
        waves_BTW = super().waves(positions_BT)
        return self.tap("waves", waves_BTW[0])[None] if waves_BTW.shape[0] == 1 else waves_BTW
