"""An encoder whose layers run on packed rows, and whose last layer computes only the tokens that the head reads."""

from __future__ import annotations

import torch
from torch import Tensor

from glassformer.model.attention import Context
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.core import Layout, Padded
from glassformer.model.encoder import USUAL, Block, Inputs, Output, Wanted
from glassformer.model.fast.attention import at_places
from glassformer.model.fast.unpadding import Inside, inside
from glassformer.model.heads import MaskedTokens, Pooler, Reading, pool


class FastBlock(Block):
    """An encoder layer that can compute, after its attention, only some tokens: those at `places`, as one row."""

    def forward(self, x_BTD: Tensor, context: Context, places: Tensor | None = None) -> Tensor:
        if places is None:
            return super().forward(x_BTD, context)
        norm = self.first_norm(context)
        y_BTD = norm(x_BTD) if self.pre else x_BTD
        x_BTD = at_places(x_BTD, places) + self.scale_1(self.dropout(self.attention(y_BTD, y_BTD, context, places)))
        return self.residual(x_BTD if self.pre else norm(x_BTD), self.norm_2, self.transform)


class FastEncoder(Encoder):
    """The same encoder, created from a plain one by `fast.apply`."""

    def run(self, given: Inputs, layout: Layout | None = None, wanted: Wanted = USUAL) -> Output:
        if wanted.weights or wanted.hidden or self.spec.layer_sum:  # a packed row has no weights or states per text
            return super().run(given, layout, wanted)
        layout = Padded(given.attend) if layout is None else layout
        x_BTD = self.embeddings(given.inputs, given.segments, given.positions, given.attend, given.boxes)
        shape = x_BTD.shape
        row = inside(self, shape[0], shape[1], layout, given.positions)
        x_BTD = row.enter(x_BTD)
        places = self.places_read(x_BTD.shape[0], x_BTD.shape[1], row, given.predict_at) if wanted.only_logits else None
        last = len(self.places) - 1
        contexts = self.contexts(x_BTD.shape[1], x_BTD.dtype, row.layout, row.positions_BT, given)
        for number, (block, context) in enumerate(contexts):
            x_BTD = block(x_BTD, context) if places is None or number < last else block(x_BTD, context, places)
        if places is not None:
            return self.read_alone(self.final_norm(x_BTD[0]), layout)
        states_BTD = self.final_norm(row.leave(x_BTD, shape))
        pooled_BD = self.pooler(states_BTD, layout) if self.pooler is not None else None
        return self.read(states_BTD, pooled_BD, layout, given.predict_at)

    def places_read(self, batch: int, t: int, row: Inside, predict_at: Tensor | None) -> Tensor | None:
        """The flat indices of the only tokens that the head reads, among those in the layers; None: it reads all."""
        if not self.places or self.beside is not None or not isinstance(self.layers[self.places[-1].owner], FastBlock):
            return None
        if isinstance(self.head, MaskedTokens):
            return None if predict_at is None else row.within(predict_at)
        if not self.spec.reads_one_token:
            return None
        places_BT1 = torch.arange(batch * t, device=self.here.device).view(batch, t, 1)
        return pool(places_BT1, row.layout, self.spec, self.spec.pool)[:, 0]

    def read_alone(self, states_ND: Tensor, layout: Layout) -> Output:
        """Apply pooler and head to the tokens that the head reads, the only ones left."""
        pooler = self.pooler if isinstance(self.pooler, Pooler) and self.spec.reads_one_token else None
        pooled_BD = pooler.finished(states_ND) if pooler is not None else None
        assert self.head is not None
        logits, next_logits = self.head(Reading(states_ND, pooled_BD, layout, self.embeddings.token_table, None))
        return Output(states_ND, pooled_BD, logits, {}, (), next_logits)
