"""Multi-head attention (Vaswani et al. 2017, section 3.2), and who may attend to whom."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.global_tokens import GlobalProjections
from glassformer.model.grouped import GroupedJoint, GroupedLinear, joint, linear, matrices_of
from glassformer.model.norms import Norm
from glassformer.model.positions import ByDistances, Distances, Map, RelativeGate, Rotation, unrotated
from glassformer.spec import BiasPlace, EncoderSpec

PLACES: tuple[BiasPlace, ...] = ("q", "k", "v")
NEVER = -torch.inf  # what is added to the score of a key that may not be seen


class Rule(NamedTuple):
    """Who may see whom, padding aside: `causal` forbids later keys, `window` keys more than half of it away.

    With `first`, the first position sees all, and all see it.
    """

    causal: bool = False
    window: int | None = None
    first: bool = False

    def visible(self, queries: int, keys: int, device: torch.device) -> Tensor | None:
        """True where a query may see a key; None where the rule forbids nothing."""
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
    """How sequences lie in a tensor of tokens; see `Padded`."""

    def length(self, t: int) -> int: ...
    def core(self, rule: Rule, bias_HTS: Tensor | None, *, t: int, dtype: torch.dtype, device: torch.device) -> Core: ...
    def first(self, x_BTD: Tensor) -> Tensor: ...
    def last(self, x_BTD: Tensor) -> Tensor: ...
    def mean(self, x_BTD: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class PaddedCore:
    """Attention over a rectangle. `mask` is added to the scores, −∞ where a key may not be seen, and broadcasts to BHTS."""

    mask: Tensor | None
    causal: bool = False  # the causal rule and nothing else: PyTorch knows it by name and skips half of the work

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        """`softmax(scale · q kᵀ + mask) v`."""
        q_BHTK, k_BHSK, v_BHSV = q_BTHK.transpose(1, 2), k_BSHK.transpose(1, 2), v_BSHV.transpose(1, 2)
        mix_BHTV = functional.scaled_dot_product_attention(
            q_BHTK, k_BHSK, v_BHSV, attn_mask=self.mask, dropout_p=dropout, is_causal=self.causal, scale=scale
        )
        return mix_BHTV.transpose(1, 2)

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        """`softmax(scale · q kᵀ + mask)`; a query that sees no key has weights of zero."""
        # In float32 at least, as the kernels do inside: scores overflow float16.
        precise = torch.promote_types(q_BTHK.dtype, torch.float32)
        scores_BHTS = self.squashed((q_BTHK.to(precise) * scale).transpose(1, 2) @ k_BSHK.to(precise).permute(0, 2, 3, 1))
        queries, keys = scores_BHTS.shape[-2:]
        mask = added(Rule(causal=True).visible(queries, keys, q_BTHK.device), None, q_BTHK.dtype) if self.causal else self.mask
        if mask is None:
            return scores_BHTS.softmax(-1).to(q_BTHK.dtype)
        # A row without a visible key would be 0/0: the softmax sees it unmasked, and it is made zeros after, as kernels do.
        hidden = mask == NEVER
        blind = hidden.all(-1, keepdim=True)
        return (scores_BHTS + mask.masked_fill(blind, 0.0)).softmax(-1).masked_fill(hidden, 0.0).to(q_BTHK.dtype)

    def shared(self, x: Tensor, group: int) -> Tensor:
        """Keys or values for every head of queries: `group` of them read the same."""
        return repeated(x, group)

    def squashed(self, scores_BHTS: Tensor) -> Tensor:
        """The scores as the mask meets them."""
        return scores_BHTS

    def capped(self, cap: float) -> CappedCore:
        """The same, with scores that no number makes larger than `cap`."""
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


def of_first(core: Core) -> PaddedCore:
    """The same for the first query alone."""
    assert isinstance(core, PaddedCore)  # no packed row has a global token: `packing_suits` says so
    return PaddedCore(None if core.mask is None else core.mask[..., :1, :])


def repeated(x: Tensor, group: int) -> Tensor:
    """With grouped queries (Ainslie et al. 2023) several heads of queries read the same keys and values."""
    return x if group == 1 else x.repeat_interleave(group, dim=2)


def added(visible: Tensor | None, bias_HTS: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The one place where a boolean mask becomes numbers to add to the scores: −∞ where a key may not be seen.

    Handed to the kernels as it is, every layer would convert it again, and cuDNN does so with a finite number: a query that
    sees no key would get the mean of all values instead of zeros.
    """
    if visible is None:
        return bias_HTS
    return torch.where(visible, torch.zeros((), dtype=dtype, device=visible.device) if bias_HTS is None else bias_HTS, NEVER)


class Padded(NamedTuple):
    """A rectangle of sequences; `attend` is True at real tokens, None where every token is real."""

    attend_BS: Tensor | None = None

    def length(self, t: int) -> int:
        """Positions that the longest sequence may have, where a row of tokens has `t`."""
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


Look: TypeAlias = Callable[["Attention", Tensor], Tensor]
Remember: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def as_made(k_BSJK: Tensor, v_BSJV: Tensor) -> tuple[Tensor, Tensor]:
    """The keys and values of this pass, and no others."""
    return k_BSJK, v_BSJV


def as_it_left(entered_BTD: Tensor, left_BTD: Tensor) -> Tensor:  # noqa: ARG001
    """A layer without a convolution beside it: its output as it is."""
    return left_BTD


class Context(NamedTuple):
    """What one layer is given besides its input: two layers may share their weights and differ in this."""

    core: Core
    rotate: Rotation = unrotated  # by the positions of the tokens, where those are rotary
    normed: bool = True  # whether the attention reads normalised input, where norms stand before sub-layers
    distances: Distances | None = None  # vectors that attend and are attended to, where positions are disentangled
    remember: Remember = as_made  # a cache answers with the keys and values of earlier passes, too
    gated_HTS: Tensor | None = None  # a relative bias that each token scales by a gate of its own
    beside: Callable[[Tensor, Tensor], Tensor] = as_it_left  # a convolution beside the layer reads what enters and leaves it
    source: Look | None = None  # how the cross-attention of a decoder reads the source


class Attention(nn.Module):
    """Every position of `x` reads the positions of `memory`, which may be another sequence."""

    def __init__(self, spec: EncoderSpec, *, by_distances: bool = False, gated: bool = False, whole: bool = False) -> None:
        """`by_distances`: the scores have the terms of disentangled attention, and are scaled for so many; `gated`: a gate;
        `whole`: projections for tokens that see all are stored."""
        super().__init__()
        self.heads, self.d_v, self.group = spec.heads, spec.head_v, spec.group
        self.shapes = ((spec.heads, spec.head_k), (spec.key_heads, spec.head_k), (spec.key_heads, spec.head_v))
        self.widths = tuple(heads * features for heads, features in self.shapes)
        self.biased = tuple(spec.bias(place) for place in PLACES)
        self.groups = tuple(spec.groups_of(place) for place in PLACES)
        self.qkv = joint(spec.d_model, self.widths, self.groups)
        # One bias for the places that have one: BEiT's keys have none, and a zero that is stored would be a parameter more.
        biases = sum(width for width, has in zip(self.widths, self.biased, strict=True) if has)
        self.qkv_bias = nn.Parameter(torch.empty(biases)) if biases else None
        self.out = linear(spec.heads * spec.head_v, spec.d_model, spec.groups_of("output"), bias=spec.bias("output"))
        self.q_norm, self.k_norm = (normed(spec, heads) for heads in (spec.heads, spec.key_heads))
        self.apart = spec.query_key_norm != "all"  # whether the heads are apart in queries and keys as they are made
        self.by_distances = ByDistances(spec) if by_distances else None
        self.gate = RelativeGate(spec) if gated else None
        self.of_global = GlobalProjections(spec) if whole else None
        terms = spec.score_terms if by_distances else 1
        under = {"d_k": terms * spec.head_k, "d_model": terms * spec.d_model, "none": 1}[spec.scale]
        self.scale = 1 / math.sqrt(spec.score_divisor if spec.score_divisor is not None else under)
        self.cap = spec.score_cap
        plain = spec.query_key_norm == "none" and spec.score_cap is None  # neither norms nor caps change them
        self.unchanged = plain and spec.global_attention != "first"
        self.turns_values = spec.rotary_values
        self.dropout = spec.dropout

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        return self.out(self.mixed(x_BTD, memory_BSD, context).flatten(-2))

    def mixed(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        """The values that each position reads, mixed by its weights, head by head."""
        q_BTHK, k_BSJK, v_BSJV = self.project(x_BTD, memory_BSD)
        q_BTHK = context.rotate(q_BTHK)
        v_BSJV = context.rotate(v_BSJV) if self.turns_values else v_BSJV
        k_BSJK, v_BSJV = context.remember(context.rotate(k_BSJK), v_BSJV)
        k_BSHK, v_BSHV = (context.core.shared(x, self.group) for x in (k_BSJK, v_BSJV))
        mix_BTHV = self.attend(q_BTHK, k_BSHK, v_BSHV, self.core(x_BTD, q_BTHK, k_BSHK, context))
        if self.of_global is None or not self.of_global.reads:
            return mix_BTHV
        q_B1HK, k_BSHK, v_BSHV = self.of_global(x_BTD[:, :1], memory_BSD)
        return torch.cat((self.attend(q_B1HK, k_BSHK, v_BSHV, of_first(context.core)), mix_BTHV[:, 1:]), dim=1)

    def attend(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, core: Core) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        return core.mix(q_BTHK, k_BSHK, v_BSHV, scale=self.scale, dropout=dropout)

    def weights(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        """Who attends to whom, [batch, head, t, s]: the same q and k, the softmax written out instead of fused."""
        q_BTHK, k_BSJK, _ = self.project(x_BTD, memory_BSD)
        q_BTHK, k_BSHK = context.rotate(q_BTHK), context.core.shared(context.rotate(k_BSJK), self.group)
        weights_BHTS = self.core(x_BTD, q_BTHK, k_BSHK, context).weights(q_BTHK, k_BSHK, scale=self.scale)
        if self.of_global is None or not self.of_global.reads:
            return weights_BHTS
        q_B1HK, k_BSHK, _ = self.of_global(x_BTD[:, :1], memory_BSD)
        first_BH1S = of_first(context.core).weights(q_B1HK, k_BSHK, scale=self.scale)
        return torch.cat((first_BH1S, weights_BHTS[:, :, 1:]), dim=2)

    def core(self, x_BTD: Tensor, q_BTHK: Tensor, k_BSHK: Tensor, context: Context) -> Core:
        """The layer's core attention, with what distances add to its scores, which depends on the tokens."""
        if self.gate is not None and context.gated_HTS is not None:
            return context.core.with_bias(self.gate(x_BTD, context.gated_HTS))
        if context.distances is None:
            return context.core if self.cap is None else context.core.capped(self.cap)
        assert self.by_distances is not None
        bias_BHTS = self.by_distances(q_BTHK, k_BSHK, context.distances, self.content_maps(), self.scale)
        return context.core.with_bias(bias_BHTS)

    def content_maps(self) -> tuple[Map, Map]:
        """The matrix and the bias that make queries, and those that make keys."""
        bias = self.whole_bias()
        biases = (None, None) if bias is None else bias.split(self.widths)[:2]
        of_q, of_k = zip(self.qkv.weight.split(self.widths)[:2], biases, strict=True)
        return of_q, of_k

    def project(self, x_BTD: Tensor, memory_BSD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: one matrix product where all three are made from the same tensor."""
        if x_BTD is not memory_BSD:
            return (self.asked(x_BTD), *self.answers(memory_BSD))
        q, k, v = self.joint(x_BTD).split(self.widths, dim=-1)
        q_BTHK, k_BSJK, v_BSJV = (y.unflatten(-1, shape) for y, shape in zip((q, k, v), self.shapes, strict=True))
        return self.q_norm(q_BTHK), self.k_norm(k_BSJK), v_BSJV

    def asked(self, x_BTD: Tensor) -> Tensor:
        """Queries alone."""
        q_BTHK: Tensor = self.q_norm(self.made(x_BTD, 0, 1).unflatten(-1, self.shapes[0]))
        return q_BTHK

    def answers(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values alone."""
        k, v = self.made(memory_BSD, 1, 3).split(list(self.widths[1:]), dim=-1)
        return self.k_norm(k.unflatten(-1, self.shapes[1])), v.unflatten(-1, self.shapes[2])

    def joint(self, x_BTD: Tensor) -> Tensor:
        """Queries, keys and values side by side, all made from one tensor."""
        return self.made(x_BTD, 0, 3)

    def made(self, x_BTD: Tensor, first: int, last: int) -> Tensor:
        """Some of queries (0), keys (1) and values (2) side by side, with their biases."""
        start, stop = sum(self.widths[:first]), sum(self.widths[:last])
        bias = self.whole_bias()
        bias = None if bias is None else bias[start:stop]
        if isinstance(self.qkv, GroupedJoint):
            made = self.qkv.some(x_BTD, first, last)
            return made if bias is None else made + bias
        return functional.linear(x_BTD, self.qkv.weight[start:stop], bias)

    def whole_bias(self) -> Tensor | None:
        """The bias of q, k and v side by side, zeros where a place has none."""
        if self.qkv_bias is None or all(self.biased):
            return self.qkv_bias
        stored = dict(self.stored_biases(self.qkv_bias))
        return torch.cat([stored.get(i, self.qkv_bias.new_zeros(width)) for i, width in enumerate(self.widths)])

    def stored_biases(self, bias: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The piece of the stored bias that belongs to q (0), k (1) or v (2), for those that have one."""
        places = [i for i, has in enumerate(self.biased) if has]
        yield from zip(places, bias.split([self.widths[i] for i in places]), strict=True)

    def views(self) -> Iterator[tuple[str, Tensor]]:
        for i, (place, weight) in enumerate(zip(PLACES, matrices_of(self.qkv, self.widths), strict=True)):
            whole = weight.ndim == 3 or (not self.apart and place != "v")  # in groups, or without heads
            made = weight if weight.ndim == 3 else weight.t()
            yield f"W_{place.upper()}", made if whole else made.unflatten(1, self.shapes[i])
        if self.qkv_bias is not None:
            for i, bias in self.stored_biases(self.qkv_bias):
                whole = not self.apart and PLACES[i] != "v"
                shape = (self.groups[i], -1) if self.groups[i] > 1 else self.shapes[i]
                yield f"b_{PLACES[i].upper()}", bias if whole else bias.unflatten(0, shape)
        if isinstance(self.out, GroupedLinear):
            yield from self.out.named("O")
            return
        yield "W_O", self.out.weight.unflatten(1, (self.heads, self.d_v)).permute(1, 2, 0)
        if self.out.bias is not None:
            yield "b_O", self.out.bias


class AllHeads(nn.Module):
    """A norm of all heads together (OLMo 2)."""

    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.norm_of = norm

    def forward(self, x_BTHK: Tensor) -> Tensor:
        normed_BTHK: Tensor = self.norm_of(x_BTHK.flatten(-2)).unflatten(-1, x_BTHK.shape[-2:])
        return normed_BTHK


def normed(spec: EncoderSpec, heads: int) -> nn.Module:
    """The norm of queries or keys, where the spec has one: of each head by itself, or of all heads together."""
    if spec.query_key_norm == "all":
        return AllHeads(Norm(spec, heads * spec.head_k))
    return Norm(spec, spec.head_k) if spec.query_key_norm == "head" else nn.Identity()
