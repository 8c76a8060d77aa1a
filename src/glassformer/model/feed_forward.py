"""The feed-forward block (Vaswani et al. 2017, section 3.3): widen, activate, narrow; gated or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.variants.grouped import GroupedLinear, linear
from glassformer.spec import GATES, EncoderSpec

Function: TypeAlias = Callable[[Tensor], Tensor]


def quick_gelu(x: Tensor) -> Tensor:
    """`x · sigmoid(1.702 x)`, the approximation of GELU that CLIP was trained with."""
    return x * (1.702 * x).sigmoid()


FUNCTIONS: dict[str, Function] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "quick_gelu": quick_gelu,
    "silu": functional.silu,
    "tanh": torch.tanh,
}


def pointwise(name: str) -> Function:
    """The function of an activation; for a gated one, the function applied to the gate."""
    return FUNCTIONS[GATES.get(name, name)]


class Linear(nn.Linear):
    """A linear layer whose parameters are named after a letter: `W_C` and `b_C`."""

    def __init__(self, symbol: str, width: int, into: int, *, bias: bool) -> None:
        super().__init__(width, into, bias=bias)
        self.symbol = symbol

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield f"W_{self.symbol}", self.weight.t()
        if self.bias is not None:
            yield f"b_{self.symbol}", self.bias


class Unchanged(nn.Module):
    """An identity, for a part that the model lacks."""

    def __init__(self, *ignored: object) -> None:
        super().__init__()

    def forward(self, x: Tensor, *ignored: object) -> Tensor:
        return x


class FeedForward(nn.Module):
    """`activate(x W_in + b_in) W_2 + b_2`, where W_in is W_1, or W_1 and W_3 as one matrix."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        width = spec.ffn_width
        self.symbols = ("1", "3") if spec.gated else ("1",)
        self.wide = linear(spec.inner_width, width * len(self.symbols), spec.groups_of("ffn"), bias=spec.bias("ffn"))
        self.narrow = linear(width, spec.inner_width, spec.groups_of("ffn_output"), bias=spec.bias("ffn_output"))
        self.gated, self.function = spec.gated, pointwise(spec.activation)

    def forward(self, x_BTD: Tensor) -> Tensor:
        return self.narrow(self.activate(self.wide(x_BTD)))  # in one line: a name would keep the wide tensor to the end

    def activate(self, wide_BTG: Tensor) -> Tensor:
        """`f(x W_1 + b_1)` (equation 2), or `f(x W_1 + b_1) ⊙ (x W_3 + b_3)` (Shazeer 2020): both products are concatenated."""
        if not self.gated:
            return self.function(wide_BTG)
        hidden_BTF, gate_BTF = wide_BTG.chunk(2, dim=-1)
        return self.function(hidden_BTF) * gate_BTF

    def views(self) -> Iterator[tuple[str, Tensor]]:
        if isinstance(self.wide, GroupedLinear):
            yield from self.wide.named("1")
        else:
            yield from pieces_of(self.wide, self.symbols)
        yield from self.narrow.named("2") if isinstance(self.narrow, GroupedLinear) else pieces_of(self.narrow, ("2",))


def pieces_of(linear: nn.Linear, symbols: tuple[str, ...]) -> Iterator[tuple[str, Tensor]]:
    """Matrices that are stacked in one linear layer, and their biases."""
    for symbol, weight in zip(symbols, linear.weight.chunk(len(symbols)), strict=True):
        yield f"W_{symbol}", weight.t()
    if linear.bias is not None:
        for symbol, bias in zip(symbols, linear.bias.chunk(len(symbols)), strict=True):
            yield f"b_{symbol}", bias
