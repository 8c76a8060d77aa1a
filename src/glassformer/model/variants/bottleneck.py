"""Layers that narrow their input, work at that width, and widen the result again (MobileBERT, Sun et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from torch import Tensor, nn

from glassformer.model.attention import Attention, Context
from glassformer.model.feed_forward import FeedForward, Linear
from glassformer.model.norms import Norm
from glassformer.model.variants.grouped import GroupedJoint
from glassformer.spec import EncoderSpec


class JointOfTwoWidths(GroupedJoint):
    """The matrices of queries and keys, which read a narrow tensor, and that of values, which read a wide one."""

    def __init__(self, spec: EncoderSpec, widths: tuple[int, ...]) -> None:
        super().__init__(spec.inner_width, widths, (1, 1, 1))
        self.parts[-1] = nn.Linear(spec.d_model, widths[-1], bias=False)


class NarrowAttention(Attention):
    """Queries and keys are computed from a narrow tensor, values from a wide one."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__(spec)
        self.qkv = JointOfTwoWidths(spec, self.widths)

    def project(self, x_BTC: Tensor, memory_BSD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k = self.made(x_BTC, 0, 2).split(list(self.widths[:2]), dim=-1)
        v_BSJV = self.made(memory_BSD, 2, 3).unflatten(-1, self.shapes[2])
        return self.q_norm(q.unflatten(-1, self.shapes[0])), self.k_norm(k.unflatten(-1, self.shapes[1])), v_BSJV


class SeveralFeedForwards(nn.Module):
    """The part of a layer with feed-forward blocks before the last one, each added to what it read, with a norm after the sum."""

    ffn: Any  # those of the layer
    norm_2: Any
    dropout: Any
    residual: Any
    transform: Any
    attend: Any
    first_norm: Any

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__(spec, normed=normed)
        self.earlier = nn.ModuleDict()
        for number in range(1, spec.ffn_blocks):
            self.earlier[f"ffn_{number}"] = FeedForward(spec)
            self.earlier[f"norm_ffn_{number}"] = Norm(spec, spec.inner_width)

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        return self.transformed(self.residual(x_BTD, self.first_norm(context), partial(self.attend, context=context)))

    def transformed(self, y_BTC: Tensor) -> Tensor:
        """What all feed-forward blocks make of the output of attention."""
        for block, norm in self.pairs():
            y_BTC = norm(y_BTC + self.dropout(block(y_BTC)))
        last_BTC: Tensor = self.residual(y_BTC, self.norm_2, self.transform)
        return last_BTC

    def pairs(self) -> Iterator[tuple[nn.Module, nn.Module]]:
        """The earlier blocks, each with its norm."""
        parts = list(self.earlier.values())
        yield from zip(parts[::2], parts[1::2], strict=True)


class InBottleneck(SeveralFeedForwards):
    """The part of a layer around its attention and its feed-forward blocks."""

    attention: Any
    norm_1: Any

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__(spec, normed=normed)
        width, bias = spec.inner_width, spec.bias("output")
        apart = spec.bottleneck_reads == "keys"
        self.narrow, self.norm_narrow = Linear("narrow", spec.d_model, width, bias=bias), Norm(spec, width)
        self.asked = Linear("asked", spec.d_model, width, bias=bias) if apart else None
        self.norm_asked = Norm(spec, width) if apart else nn.Identity()
        self.widened, self.norm_3 = Linear("wide", width, spec.d_model, bias=bias), Norm(spec, spec.d_model)

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        y_BTC = self.norm_narrow(self.narrow(x_BTD))
        read_BTC = self.attention(*self.compared(x_BTD, y_BTC), context)
        y_BTC = self.transformed(self.norm_1(y_BTC + self.dropout(read_BTC)))
        wide_BTD: Tensor = self.norm_3(x_BTD + self.dropout(self.widened(y_BTC)))
        return wide_BTD

    def compared(self, x_BTD: Tensor, y_BTC: Tensor) -> tuple[Tensor, Tensor]:
        """The input of the queries, and the memory that they read."""
        return (y_BTC, y_BTC) if self.asked is None else (self.norm_asked(self.asked(x_BTD)), x_BTD)

    def weights(self, x_BTD: Tensor, context: Context) -> Tensor:
        weights_BHTS: Tensor = self.attention.weights(*self.compared(x_BTD, self.norm_narrow(self.narrow(x_BTD))), context)
        return weights_BHTS
