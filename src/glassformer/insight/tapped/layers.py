"""The encoder, its layers, norms and feed-forward blocks, with hooks on their steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from glassformer.insight.tapped.attention import TappedPadded
from glassformer.insight.taps import Tapped
from glassformer.model.attention import Context
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.core import Layout
from glassformer.model.encoder import USUAL, BareAttention, Block, FourierBlock, Inputs, Output, PlainEncoder, Wanted
from glassformer.model.feed_forward import FeedForward
from glassformer.model.norms import Norm
from glassformer.model.variants.beside import Beside
from glassformer.model.variants.mixing import FourierMixing


class TappedEncoder(Tapped, Encoder):
    """The same encoder on padded batches, one pass at a time, which tracks the current layer."""

    rectangles_only = True

    def run(self, given: Inputs, layout: Layout | None = None, wanted: Wanted = USUAL) -> Output:
        return PlainEncoder.run(self, given, TappedPadded(given.attend), wanted)

    def contexts(self, *shape: Any) -> Iterator[tuple[Any, Context]]:
        contexts = super().contexts(*shape)
        for number in range(len(self.places)):
            self.taps.layer = number  # before the context is created: its tables belong to the layer
            yield next(contexts)
        self.taps.layer = None


class TappedBlock(Tapped, Block):
    """An encoder layer, its sums and its output."""

    def forward(self, x_BTD: Tensor, context: Context, places: Tensor | None = None) -> Tensor:
        first = self.first_norm(context)
        entered_BTD = x_BTD
        x_BTD = self.tap("sum_1", x_BTD + self.attend(first(x_BTD) if self.pre else x_BTD, context))
        x_BTD = x_BTD if self.pre else first(x_BTD)
        x_BTD = self.tap("sum_2", x_BTD + self.transform(self.norm_2(x_BTD) if self.pre else x_BTD))
        return self.tap("out", context.beside(entered_BTD, x_BTD if self.pre else self.norm_2(x_BTD)))

    def attend(self, y_BTD: Tensor, context: Context) -> Tensor:
        return self.tap("scaled_1", super().attend(y_BTD, context))

    def transform(self, y_BTD: Tensor) -> Tensor:
        return self.tap("scaled_2", super().transform(y_BTD))


class TappedFourierBlock(TappedBlock, FourierBlock):
    """A layer with a Fourier transform in place of attention."""


class TappedFourierMixing(Tapped, FourierMixing):
    """The transform."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        return self.tap("out", super().forward(x_BTD))


class TappedBeside(Tapped, Beside):
    """The convolution parallel to layer 0, its activation and its sum."""

    def forward(self, entered_BTD: Tensor, left_BTD: Tensor, *, real_BT: Tensor | None) -> Tensor:
        if real_BT is not None:
            entered_BTD = self.tap("real", entered_BTD.masked_fill(~real_BT[:, :, None], 0.0))
        active_BTD = self.tap("beside", self.active(entered_BTD))
        return self.norm_beside(self.tap("sum_beside", left_BTD + active_BTD))


class TappedBareAttention(Tapped, BareAttention):
    """Attention alone: its output is that of the layer."""

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        return self.tap("out", super().forward(x_BTD, context))


class TappedFeedForward(Tapped, FeedForward):
    """The feed-forward block, step by step."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        wide_BTG = self.wide(x_BTD)
        if self.gated:
            hidden_BTF, gate_BTF = wide_BTG.chunk(2, dim=-1)
            active_BTF = self.tap("active", self.function(self.tap("hidden", hidden_BTF)))
            active_BTF = self.tap("gated", active_BTF * self.tap("gate", gate_BTF))
        else:
            active_BTF = self.tap("active", self.function(self.tap("hidden", wide_BTG)))
        return self.tap("out", self.narrow(active_BTF))


class TappedNorm(Tapped, Norm):
    """A norm, and its statistics where they are read."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.watched("mean", "variance", "mean_square", "normalised"):
            return self.tap("", super().forward(x))
        layer = self.normalise.__name__ == "layer_norm"
        centred = x - self.tap("mean", x.mean(-1))[..., None] if layer else x
        variance = self.tap("variance" if layer else "mean_square", centred.square().mean(-1))
        normalised = self.tap("normalised", centred / torch.sqrt(variance + self.eps)[..., None])
        out = normalised * self.gamma
        return self.tap("", out if self.beta is None else out + self.beta)
