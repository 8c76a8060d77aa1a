"""Step-by-step decoding: one pass over the prompts, then one token for each row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from glassformer.model.attention import Context
from glassformer.model.core import Padded
from glassformer.model.encoder import Place, PlainEncoder
from glassformer.model.generation.cache import Layer, Now, StepCore
from glassformer.model.variants.relative import ByDistance, RelativeTable


class Decoding:
    """The state of some rows: their caches and numbers of tokens."""

    def __init__(self, model: PlainEncoder) -> None:
        self.model = model
        self.layers = [Layer(room_of(place)) for place in model.places]
        self.lengths_B = torch.empty(0)
        self.longest, self.equal = 0, True

    def begin(self, tokens_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """Read the prompts, padded on the right; return the logits after the last token of each, [row, vocab].

        A token attends to earlier ones only, so padding on the right changes nothing and needs no mask.
        """
        model = self.model
        self.lengths_B, self.longest = lengths_B, int(lengths_B.max())
        self.equal = bool((lengths_B == self.longest).all())
        x_BTD = model.embeddings(tokens_BT, None, None)
        contexts = model.contexts(x_BTD.shape[1], x_BTD.dtype, Padded(), None)
        for layer, (block, context) in zip(self.layers, contexts, strict=True):
            x_BTD = block(x_BTD, context._replace(remember=partial(filled, layer=layer, lengths_B=lengths_B)))
        last_BD = x_BTD[torch.arange(len(tokens_BT), device=x_BTD.device), lengths_B - 1]
        return self.logits(last_BD)

    def step(self, tokens_B: Tensor) -> Tensor:
        """Read one more token for each row; return the logits after it."""
        now = Now(self.lengths_B, torch.arange(len(tokens_B), device=tokens_B.device), self.longest + 1, self.equal)
        positions_B1 = now.positions_B[:, None]
        x_B1D = self.model.embeddings(tokens_B[:, None], None, positions_B1)
        for block, context in self.contexts(now, x_B1D.dtype):
            x_B1D = block(x_B1D, context)
        self.lengths_B, self.longest = self.lengths_B + 1, self.longest + 1
        return self.logits(x_B1D[:, 0])

    def contexts(self, now: Now, dtype: torch.dtype) -> Iterator[tuple[Any, Context]]:
        """Each layer's block and its context in a step."""
        model = self.model
        rotations = model.rotations(1, now.positions_B[:, None])
        cores: dict[tuple[int | None, str | None], StepCore] = {}
        for place, layer in zip(model.places, self.layers, strict=True):
            kind = layer.room, place.owner if model.tables else None
            if kind not in cores:
                cores[kind] = StepCore(self.added(now, layer.room, place, dtype))
            remember = partial(layer.append, now=now)
            yield model.layers[place.owner], Context(cores[kind], rotations[place.rotary_base], place.normed, remember=remember)

    def added(self, now: Now, room: int | None, place: Place, dtype: torch.dtype) -> Tensor | None:
        """What is added to the scores of a layer: a relative bias, and −∞ at slots without a token of the row."""
        mask, model = now.mask(room, dtype), self.model
        if not isinstance(model.buckets, ByDistance):
            return mask
        table = model.tables[place.owner] if model.tables else model.relative
        assert isinstance(table, RelativeTable)
        bias_HBS = table(model.buckets.rows(now.away(room)))
        bias_BH1S = bias_HBS.transpose(0, 1)[:, :, None]
        return bias_BH1S if mask is None else mask + bias_BH1S

    def logits(self, x_BD: Tensor) -> Tensor:
        """The logits of the next token after these states of the last layer."""
        states_B1D = self.model.final_norm(x_BD)[:, None]
        found = self.model.read(states_B1D, None, Padded(), None).logits
        assert found is not None
        return found[:, 0]

    def select(self, rows_B: Tensor) -> None:
        """Keep these rows, in this order; a row may be taken more than once."""
        self.lengths_B = self.lengths_B[rows_B]
        for layer in self.layers:
            layer.select(rows_B, self.longest)


def room_of(place: Place) -> int | None:
    """The number of tokens that a query of a layer attends to, including its own; None: all."""
    window = place.rule.window
    return None if window is None else window // 2 + 1


def filled(k_BTJK: Tensor, v_BTJV: Tensor, *, layer: Layer, lengths_B: Tensor) -> tuple[Tensor, Tensor]:
    """Keys and values of a first pass, which are stored in the cache."""
    layer.fill(k_BTJK, v_BTJV, lengths_B)
    return k_BTJK, v_BTJV
