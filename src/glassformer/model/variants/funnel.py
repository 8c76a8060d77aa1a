"""Layers between which the sequence is pooled, and layers that read it at its full length again (Funnel, Dai et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.attention import Context
from glassformer.model.core import Padded, Rule
from glassformer.model.embeddings import angle_type
from glassformer.model.variants.shifts import Shifts
from glassformer.spec import EncoderSpec

LEAST = 2  # tokens, of which a sequence is not pooled any more
CLASS_SEGMENT = 2  # a token of this segment belongs to all


def pairs(x: Tensor) -> Tensor:
    """The tokens in pairs, [batch, pair, 2, …]: the first with itself, then two by two without the last; one may be left."""
    row = torch.cat((x[:, :1], x[:, :-1]), dim=1)
    row = torch.cat((row, row[:, -1:]), dim=1) if x.shape[1] % 2 else row  # what is left makes a pair with itself
    return row.unflatten(1, (-1, 2))


class Side(NamedTuple):
    """The properties of queries or keys other than their vectors: positions, segments, and which are real tokens."""

    places: list[int]
    segments_BT: Tensor
    real_BT: Tensor | None

    @property
    def stride(self) -> int:
        return self.places[1] - self.places[0] if len(self.places) > 1 else 1

    def pooled(self, block: int) -> Side:
        """The same of means of two tokens."""
        real_BT = None if self.real_BT is None else pairs(self.real_BT).all(2)
        return Side([-(2**block) + 1, *self.places[1:-1][::2]], pairs(self.segments_BT)[:, :, 0], real_BT)


class Pools(nn.Module):
    """The part of a layer that begins a block: its queries are means of two tokens each, and its keys are all of them."""

    attention: Any  # those of the layer
    norm_1: Any
    norm_2: Any
    dropout: Any
    residual: Any
    transform: Any

    def pooled(self, x_BSD: Tensor, context: Context) -> Tensor:
        query_BTD = pairs(x_BSD).mean(2)
        y_BTD = self.norm_1(query_BTD + self.dropout(self.attention(query_BTD, x_BSD, context)))
        left_BTD: Tensor = self.residual(y_BTD, self.norm_2, self.transform)
        return left_BTD


def funnel_passes(
    encoder: Any, t: int, dtype: torch.dtype, real_BT: Tensor | None, segments_BT: Tensor | None
) -> Iterator[tuple[Callable[[Tensor, Context], Tensor], Context]]:
    """What the sequence goes through, one after the other, each with its context."""
    spec: EncoderSpec = encoder.spec
    segments_BT = torch.zeros(1, t, dtype=torch.int64, device=encoder.here.device) if segments_BT is None else segments_BT
    whole = side = Side(list(range(t)), segments_BT, real_BT)
    between = partial(_context, width=spec.d_model, dtype=dtype)
    number, after_first = 0, spec.funnel[0] - 1
    kept: list[Tensor] = []
    for block, (size, times) in enumerate(zip(spec.funnel, spec.funnel_repeats, strict=True)):
        for turn in range(size * times):
            layer = encoder.layers[str(spec.funnel_owners[number])]
            if block and turn == 0 and len(side.places) > LEAST:
                shorter = side.pooled(block)
                yield layer.pooled, between(shorter, side)
                side = shorter
            else:
                yield (layer if number != after_first else partial(_keeping, layer, kept)), between(side, side)
            number += 1
    if number == spec.layers:
        return
    context = between(whole, whole)
    yield partial(_spread, kept, 2 ** (len(spec.funnel) - 1)), context
    for later in range(number, spec.layers):
        yield encoder.layers[str(later)], context


def _context(asking: Side, asked: Side, *, width: int, dtype: torch.dtype) -> Context:
    """The inputs of a layer's attention: distances between queries and keys, their segments, and padding."""
    device, step, shift = asked.segments_BT.device, asked.stride, 1 if asking.places == asked.places else 2
    queries, keys = len(asking.places), len(asked.places)
    first = asking.places[0] - asked.places[0] + shift * queries * step
    many = (first - (asking.places[0] - asked.places[-1])) // step + 1
    precise = angle_type(device)
    angles = (first - step * torch.arange(many, device=device, dtype=precise))[:, None] / 10000.0 ** (
        torch.arange(width // 2, device=device, dtype=precise) / (width // 2)
    )
    waves_RD = torch.cat((angles.sin(), angles.cos()), dim=-1).to(dtype)
    rows_TS = shift * (queries - torch.arange(queries, device=device))[:, None] + torch.arange(keys, device=device)
    asks_BT1, answers_B1S = asking.segments_BT[:, :, None], asked.segments_BT[:, None]
    same_BTS = (asks_BT1 == CLASS_SEGMENT) | (answers_B1S == CLASS_SEGMENT) | (asks_BT1 == answers_B1S)
    core = Padded(asked.real_BT).core(Rule(), None, t=keys, dtype=dtype, device=device)
    return Context(core, distances=Shifts(waves_RD, rows_TS, same_BTS))


def _keeping(layer: nn.Module, kept: list[Tensor], x_BTD: Tensor, context: Context) -> Tensor:
    """The output of a layer, which is needed again."""
    kept.append(layer(x_BTD, context))
    return kept[-1]


def _spread(kept: list[Tensor], times: int, x_BTD: Tensor, context: Context) -> Tensor:  # noqa: ARG001  # as layers are called
    """Each pooled token in the places that it stands for, plus what the first block gave there."""
    (first_BSD,) = kept
    if times == 1:
        return x_BTD + first_BSD
    length = first_BSD.shape[1]
    rest = x_BTD[:, 1:].repeat_interleave(times, dim=1)[:, : length - 1]
    missing = first_BSD.new_zeros(x_BTD.shape[0], length - 1 - rest.shape[1], x_BTD.shape[2])
    return torch.cat((x_BTD[:, :1], rest, missing), dim=1) + first_BSD
