"""Multi-head attention (Vaswani et al. 2017, section 3.2): one product for Q, K and V, one fused kernel, one way out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model import float8
from glassformer.model.disentangled import ByDistances, Distances, Map
from glassformer.model.layouts import Sight, at_places
from glassformer.model.positions import Turn, unturned
from glassformer.spec import BiasPlace, EncoderSpec

PLACES: tuple[BiasPlace, ...] = ("q", "k", "v")


class Look(NamedTuple):
    """What one layer sees in one call, apart from its weights: two layers may share those and look differently."""

    sight: Sight
    turn_q: Turn = unturned  # by the positions of the queries, where those are rotary
    turn_k: Turn = unturned
    normed: bool = True  # whether the attention reads normalised input, where norms stand before sub-layers
    distances: Distances | None = None  # vectors that attend and are attended to, where positions are disentangled
    read_at: Tensor | None = None  # the flat places of the only tokens whose result is read later; None: every token's is

    @property
    def plain(self) -> bool:
        """Nothing happens between the product that makes q, k and v and the attention that reads them."""
        return self.turn_q is unturned and self.turn_k is unturned and self.distances is None


class Attention(nn.Module):
    """Every position of `x` reads the positions of `memory`, which may be another sequence."""

    rounds = False  # as in FeedForward

    def __init__(self, spec: EncoderSpec, *, by_distances: bool = False) -> None:
        """`by_distances`: the scores have the terms of disentangled attention, and are scaled for so many."""
        super().__init__()
        self.heads, self.d_v, self.group = spec.heads, spec.head_v, spec.group
        self.shapes = ((spec.heads, spec.head_k), (spec.key_heads, spec.head_k), (spec.key_heads, spec.head_v))
        self.widths = tuple(heads * features for heads, features in self.shapes)
        self.biased = tuple(spec.bias(place) for place in PLACES)
        self.qkv = nn.Linear(spec.d_model, sum(self.widths), bias=False)
        # One bias for the places that have one: BEiT's keys have none, and a zero that is stored would be a parameter more.
        biases = sum(width for width, has in zip(self.widths, self.biased, strict=True) if has)
        self.qkv_bias = nn.Parameter(torch.empty(biases)) if biases else None
        self.out = nn.Linear(spec.heads * spec.head_v, spec.d_model, bias=spec.bias("output"))
        self.by_distances = ByDistances(spec) if by_distances else None
        terms = spec.score_terms if by_distances else 1
        under = {"d_k": terms * spec.head_k, "d_model": terms * spec.d_model, "none": 1}[spec.scale]
        self.scale = 1 / math.sqrt(under)
        self.dropout = spec.dropout

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, look: Look) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if x_BTD is memory_BSD and look.plain and len(set(self.shapes)) == 1:
            qkv_BT3HK = self.joint(x_BTD).unflatten(-1, (3, *self.shapes[0]))
            mix_BTHV = look.sight.mix_jointly(qkv_BT3HK, scale=self.scale, dropout=dropout)
        else:
            q_BTHK, k_BSJK, v_BSJV = self.project(x_BTD, memory_BSD)
            q_BTHK, k_BSHK, v_BSHV = look.turn_q(q_BTHK), self.shared(look.turn_k(k_BSJK)), self.shared(v_BSJV)
            sight = self.sight(q_BTHK, k_BSHK, look)
            mix_BTHV = sight.mix(q_BTHK, k_BSHK, v_BSHV, scale=self.scale, dropout=dropout)
        return self.out(at_places(mix_BTHV.flatten(-2), look.read_at))

    def weights(self, x_BTD: Tensor, memory_BSD: Tensor, look: Look) -> Tensor:
        """Who attends to whom, [batch, head, t, s]: the same q and k, the softmax written out instead of fused."""
        q_BTHK, k_BSJK, _ = self.project(x_BTD, memory_BSD)
        q_BTHK, k_BSHK = look.turn_q(q_BTHK), self.shared(look.turn_k(k_BSJK))
        return self.sight(q_BTHK, k_BSHK, look).weights(q_BTHK, k_BSHK, scale=self.scale)

    def sight(self, q_BTHK: Tensor, k_BSHK: Tensor, look: Look) -> Sight:
        """What the layer sees, with what distances add to its scores: that depends on what the tokens say."""
        if look.distances is None:
            return look.sight
        assert self.by_distances is not None
        bias_BHTS = self.by_distances(q_BTHK, k_BSHK, look.distances, self.content_maps(), self.scale)
        return look.sight.with_bias(bias_BHTS)

    def content_maps(self) -> tuple[Map, Map]:
        """The matrix and the bias that make queries, and those that make keys."""
        bias = self.whole_bias()
        (W_q, W_k, _), biases = self.qkv.weight.split(self.widths), (None, None)
        if bias is not None:
            biases = bias.split(self.widths)[:2]
        return (W_q, biases[0]), (W_k, biases[1])

    def shared(self, x: Tensor) -> Tensor:
        """Keys or values for every head of queries: with grouped queries (Ainslie et al. 2023) several of them read the same.

        They are copied, so that every kernel takes them: some know groups by themselves, and ours do not.
        """
        return x if self.group == 1 else x.repeat_interleave(self.group, dim=2)

    def project(self, x_BTD: Tensor, memory_BSD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: one matrix product where all three are made from the same tensor."""
        if x_BTD is memory_BSD:
            q, k, v = self.joint(x_BTD).split(self.widths, dim=-1)
        else:
            weight, bias = self.qkv.weight, self.whole_bias()
            asks, answers = [self.widths[0], sum(self.widths[1:])], list(self.widths[1:])
            b_asks, b_answers = (None, None) if bias is None else bias.split(asks)
            q = functional.linear(x_BTD, weight[: asks[0]], b_asks)
            k, v = functional.linear(memory_BSD, weight[asks[0] :], b_answers).split(answers, dim=-1)
        q_BTHK, k_BSJK, v_BSJV = (y.unflatten(-1, shape) for y, shape in zip((q, k, v), self.shapes, strict=True))
        return q_BTHK, k_BSJK, v_BSJV

    def joint(self, x_BTD: Tensor) -> Tensor:
        """Queries, keys and values side by side, all made from one tensor."""
        product = float8.linear if self.rounds and self.training else functional.linear
        return product(x_BTD, self.qkv.weight, self.whole_bias())

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
        for place, weight, shape in zip(PLACES, self.qkv.weight.split(self.widths), self.shapes, strict=True):
            yield f"W_{place.upper()}", weight.unflatten(0, shape).permute(2, 0, 1)
        if self.qkv_bias is not None:
            for i, bias in self.stored_biases(self.qkv_bias):
                yield f"b_{PLACES[i].upper()}", bias.unflatten(0, self.shapes[i])
        yield "W_O", self.out.weight.unflatten(1, (self.heads, self.d_v)).permute(1, 2, 0)
        if self.out.bias is not None:
            yield "b_O", self.out.bias
