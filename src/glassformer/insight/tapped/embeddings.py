"""Embeddings that call hooks on their steps: tokens, segments, positions, patches, sound."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.insight.taps import Tapped
from glassformer.model.embeddings import Embeddings, Tokens
from glassformer.model.feed_forward import Unchanged
from glassformer.model.variants.patches import Patches, Registers
from glassformer.model.variants.sound import Blanked, ConvolvedPositions, Sound
from glassformer.model.variants.token_dropout import TokenDropout


class TappedTokens(Tapped, Tokens):
    """Tokens and segments; their sum with positions belongs to the embeddings."""

    def forward(self, tokens_BT: Tensor, segments_BT: Tensor | None) -> Tensor:
        x_BTE = self.tap("token", functional.embedding(tokens_BT, self.E_token))
        if self.scale != 1.0:
            x_BTE = self.tap("scaled", x_BTE * self.scale)
        if self.E_task is not None:
            x_BTE = x_BTE + self.tap("task", self.E_task[0])
        if self.E_segment is None:
            return x_BTE
        ids_BT = torch.zeros_like(tokens_BT) if segments_BT is None else segments_BT
        return x_BTE + self.tap("segment", functional.embedding(ids_BT, self.E_segment))


class TappedPatches(Tapped, Patches):
    """An image as patches, and the sequence that they make with the class tokens."""

    def forward(self, image: Tensor, segments_BT: None) -> Tensor:
        x_BTD = self.tap("patches", self.patch(self.tap("pixels", self.cut(image))))
        if self.class_tokens is not None:
            x_BTD = torch.cat((self.class_tokens.expand(x_BTD.shape[0], -1, -1), x_BTD), dim=1)
        return self.tap("sequence", x_BTD)


class TappedSound(Tapped, Sound):
    """Convolutions along time; neighbouring frames are not a separate step."""

    def convolved(self, x_BDT: Tensor, number: int) -> Tensor:
        return self.tap(f"convolved_{number}", super().convolved(x_BDT, number).mT).mT

    def active(self, x_BDT: Tensor, number: int) -> Tensor:
        last = number == self.depth
        return self.tap("sound" if last else f"active_{number}", super().active(x_BDT, number).mT).mT

    def projected(self, x_BTD: Tensor) -> Tensor:
        return self.tap("projected", super().projected(x_BTD))


class TappedConvolvedPositions(Tapped, ConvolvedPositions):
    """Positional convolutions, each with its activation."""

    def convolved(self, x_BDT: Tensor, name: str) -> Tensor:
        last = name == self.names()[-1]
        return self.tap("position" if last else name, super().convolved(x_BDT, name).mT).mT


class TappedRegisters(Tapped, Registers):
    """Registers between class tokens and patches."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        first_BTD = self.tap("before", x_BTD[:, : self.after])
        rest_BTD = self.tap("after", x_BTD[:, self.after :])
        registers_BTD = self.registers.expand(x_BTD.shape[0], -1, -1)
        return self.tap("with_registers", torch.cat((first_BTD, registers_BTD, rest_BTD), dim=1))


class TappedEmbeddings(Tapped, Embeddings):
    """Source, positions, registers, norm and projection."""

    def forward(
        self,
        inputs: Tensor,
        segments_BT: Tensor | None,
        positions_BT: Tensor | None,
        attend_BT: Tensor | None = None,
        boxes_BT4: Tensor | None = None,  # hooks refuse models that read boxes
    ) -> Tensor:
        x_BTE = self.source(inputs, segments_BT)
        if isinstance(self.adjusted, TokenDropout):
            x_BTE = self.tap("rescaled", self.adjusted(x_BTE, inputs, attend_BT))
        if isinstance(self.adjusted, Blanked) and attend_BT is not None:
            x_BTE = self.tap("real", self.adjusted(x_BTE, inputs, attend_BT))
        if isinstance(self.positions, ConvolvedPositions):
            x_BTE = self.positions(x_BTE, positions_BT)
        elif not isinstance(self.positions, Unchanged):
            rows = 1 if positions_BT is None else x_BTE.shape[0]
            position_BTE = self.positions(x_BTE.new_zeros(rows, *x_BTE.shape[1:]), positions_BT)
            if positions_BT is None:
                position_BTE = self.tap("position", position_BTE[0])[None]
            x_BTE = x_BTE + position_BTE
        x_BTE = self.norm(self.registers(self.tap("sum", x_BTE)))
        x_BTD = self.projection(self.dropout(x_BTE))
        if not isinstance(self.projection, nn.Identity):
            x_BTD = self.tap("projected", x_BTD)
        return self.taps("x", x_BTD)
