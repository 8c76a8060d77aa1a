"""Multi-head attention (Vaswani et al. 2017, section 3.2): projections, heads, and the context of a layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.core import Core
from glassformer.model.variants.disentangled import Distances, Map
from glassformer.model.variants.grouped import GroupedJoint, GroupedLinear, joint, linear, matrices_of
from glassformer.model.variants.query_key_norms import query_key_norm
from glassformer.model.variants.scores import NOTHING, Additions, scores_of
from glassformer.model.variants.shifts import Shifts
from glassformer.spec import BiasPlace, EncoderSpec

PLACES: tuple[BiasPlace, ...] = ("q", "k", "v")

Rotation: TypeAlias = Callable[[Tensor], Tensor]
Look: TypeAlias = Callable[["Attention", Tensor], Tensor]
Remember: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def unrotated(x: Tensor) -> Tensor:
    """No rotary positions."""
    return x


def as_made(k_BSJK: Tensor, v_BSJV: Tensor) -> tuple[Tensor, Tensor]:
    """The keys and values of this pass only."""
    return k_BSJK, v_BSJV


def as_it_left(entered_BTD: Tensor, left_BTD: Tensor) -> Tensor:  # noqa: ARG001
    """A layer without a parallel convolution: its output, unchanged."""
    return left_BTD


class Context(NamedTuple):
    """What a layer receives besides its input; layers that share weights may differ in it."""

    core: Core
    rotate: Rotation = unrotated  # by the positions of the tokens, where those are rotary
    normed: bool = True  # whether the attention reads normalised input (pre-norm)
    distances: Distances | Shifts | None = None  # the terms of relative scores that depend on queries and keys
    remember: Remember = as_made  # a cache returns the keys and values of earlier passes, too
    gated_HTS: Tensor | None = None  # scales the relative bias by a gate for each token
    beside: Callable[[Tensor, Tensor], Tensor] = as_it_left  # a parallel convolution reads the input and the output of the layer
    source: Look | None = None  # how the cross-attention of a decoder reads the source


class Attention(nn.Module):
    """Every position of `x` reads the positions of `memory`, which may be another sequence."""

    def __init__(self, spec: EncoderSpec, added: Additions = NOTHING) -> None:
        """`added` are the parts that few models have."""
        super().__init__()
        self.heads, self.d_v, self.group = spec.heads, spec.head_v, spec.group
        self.shapes = ((spec.heads, spec.head_k), (spec.key_heads, spec.head_k), (spec.key_heads, spec.head_v))
        self.widths = tuple(heads * features for heads, features in self.shapes)
        self.biased = tuple(spec.bias(place) for place in PLACES)
        self.groups = tuple(spec.groups_of(place) for place in PLACES)
        self.qkv = joint(spec.inner_width, self.widths, self.groups)
        # One bias for the places that have one: BEiT's keys have none, and a stored zero would be an additional parameter.
        biases = sum(width for width, has in zip(self.widths, self.biased, strict=True) if has)
        self.qkv_bias = nn.Parameter(torch.empty(biases)) if biases else None
        self.out = linear(spec.heads * spec.head_v, spec.inner_width, spec.groups_of("output"), bias=spec.bias("output"))
        self.q_norm, self.k_norm = (query_key_norm(spec, heads) for heads in (spec.heads, spec.key_heads))
        self.apart = spec.query_key_norm != "all"  # whether queries and keys already have a head axis when they are computed
        self.by_distances, self.gate, self.of_global, self.of_values, self.by_shifts = added
        self.scores = scores_of(spec, added)
        terms = 1 if added.by_distances is None else spec.score_terms  # disentangled attention sums several scores
        under = {"d_k": terms * spec.head_k, "d_model": terms * spec.d_model, "none": 1}[spec.scale]
        self.scale = 1 / math.sqrt(spec.score_divisor if spec.score_divisor is not None else under)
        self.cap = spec.score_cap
        plain = spec.query_key_norm == "none" and spec.score_cap is None  # neither norms nor caps change them
        self.unchanged = plain and spec.global_attention != "first" and added.of_values is None
        self.turns_values = spec.rotary_values
        self.dropout = spec.dropout

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        return self.out(self.mixed(x_BTD, memory_BSD, context).flatten(-2))

    def mixed(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        """The weighted sum of the values, for each position and head."""
        q_BTHK, k_BSJK, v_BSJV = self.project(x_BTD, memory_BSD)
        q_BTHK = context.rotate(q_BTHK)
        v_BSJV = context.rotate(v_BSJV) if self.turns_values else v_BSJV
        k_BSJK, v_BSJV = context.remember(context.rotate(k_BSJK), v_BSJV)
        k_BSHK, v_BSHV = (context.core.shared(x, self.group) for x in (k_BSJK, v_BSJV))
        mix_BTHV = self.attend(q_BTHK, k_BSHK, v_BSHV, self.core(x_BTD, q_BTHK, k_BSHK, context))
        mix_BTHV = mix_BTHV if self.of_values is None else mix_BTHV + self.of_values(v_BSHV)
        return mix_BTHV if self.of_global is None else self.of_global.mixed(mix_BTHV, self, x_BTD, memory_BSD, context.core)

    def attend(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, core: Core) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        return core.mix(q_BTHK, k_BSHK, v_BSHV, scale=self.scale, dropout=dropout)

    def weights(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        """Who attends to whom, [batch, head, t, s]: the same q and k, the softmax written out instead of fused."""
        q_BTHK, k_BSJK, _ = self.project(x_BTD, memory_BSD)
        q_BTHK, k_BSHK = context.rotate(q_BTHK), context.core.shared(context.rotate(k_BSJK), self.group)
        weights_BHTS = self.core(x_BTD, q_BTHK, k_BSHK, context).weights(q_BTHK, k_BSHK, scale=self.scale)
        if self.of_global is None:
            return weights_BHTS
        return self.of_global.weights(weights_BHTS, self, x_BTD, memory_BSD, context.core)

    def core(self, x_BTD: Tensor, q_BTHK: Tensor, k_BSHK: Tensor, context: Context) -> Core:
        """The layer's core attention; a few models modify its scores."""
        return context.core if self.scores is None else self.scores(self, x_BTD, q_BTHK, k_BSHK, context)

    def content_maps(self) -> tuple[Map, Map]:
        """The matrix and the bias of queries, and those of keys."""
        bias = self.whole_bias()
        biases = (None, None) if bias is None else bias.split(self.widths)[:2]
        of_q, of_k = zip(self.qkv.weight.split(self.widths)[:2], biases, strict=True)
        return of_q, of_k

    def project(self, x_BTD: Tensor, memory_BSD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: one matrix product if all three are computed from the same tensor."""
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
        """Queries, keys and values concatenated, computed from one tensor."""
        return self.made(x_BTD, 0, 3)

    def made(self, x_BTD: Tensor, first: int, last: int) -> Tensor:
        """Some of queries (0), keys (1) and values (2) side by side, with their biases."""
        start, stop = sum(self.widths[:first]), sum(self.widths[:last])
        bias = self.whole_bias()
        bias = None if bias is None else bias[start:stop]
        if isinstance(self.qkv, GroupedJoint):
            made = self.qkv.some(x_BTD, first, last)
            return made if bias is None else made + bias
        return self.multiplied(x_BTD, self.qkv.weight[start:stop], bias)

    def multiplied(self, x_BTD: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """`x Wᵀ + b`."""
        return functional.linear(x_BTD, weight, bias)

    def whole_bias(self) -> Tensor | None:
        """The concatenated bias of q, k and v, with zeros for those without one."""
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
