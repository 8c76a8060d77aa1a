"""The feed-forward block: widen, bend, narrow; gated or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from glassformer.model import float8
from glassformer.model.gelu import ends_products, gelu, of_product
from glassformer.spec import GATES, EncoderSpec

Function: TypeAlias = Callable[[Tensor], Tensor]


def quick_gelu(x: Tensor) -> Tensor:
    """`x · sigmoid(1.702 x)`, the stand-in for GELU that CLIP was trained with."""
    return x * (1.702 * x).sigmoid()


def quick_gelu_in_place(x: Tensor) -> Tensor:
    return x.mul_((1.702 * x).sigmoid_())


FUNCTIONS: dict[str, Function] = {
    "relu": functional.relu,
    "gelu": gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "quick_gelu": quick_gelu,
    "silu": functional.silu,
    "tanh": torch.tanh,
}
IN_PLACE: dict[Function, Function] = {
    FUNCTIONS["relu"]: torch.relu_,
    FUNCTIONS["gelu"]: torch.ops.aten.gelu_,
    FUNCTIONS["gelu_tanh"]: partial(torch.ops.aten.gelu_, approximate="tanh"),
    FUNCTIONS["quick_gelu"]: quick_gelu_in_place,
    FUNCTIONS["silu"]: partial(functional.silu, inplace=True),
    FUNCTIONS["tanh"]: torch.tanh_,
}


def pointwise(name: str) -> Function:
    """The function of an activation's name; of a gated one, the function that its gate goes through."""
    return FUNCTIONS[GATES.get(name, name)]


def gated(wide_BTG: Tensor, function: Function) -> Tensor:
    """`f(x W_1 + b_1) ⊙ (x W_3 + b_3)` (Shazeer 2020): both products lie side by side."""
    hidden_BTF, gate_BTF = wide_BTG.chunk(2, dim=-1)
    bent_BTF = function(hidden_BTF)
    return bent_BTF * gate_BTF if bent_BTF.requires_grad else bent_BTF.mul_(gate_BTF)


def plain(wide_BTG: Tensor, function: Function) -> Tensor:
    """`f(x W_1 + b_1)` (Vaswani et al. 2017, equation 2)."""
    return function(wide_BTG)


def in_place(bend: partial[Tensor]) -> Function:
    """The same with its result where its argument was; what has no such form stays as it is."""
    return IN_PLACE.get(bend.keywords["function"], bend) if bend.func is plain else bend


def watched(product: object) -> bool:
    """Whether somebody asked PyTorch for what comes out of this module."""
    return bool(getattr(product, "_forward_hooks", None))


class FeedForward(nn.Module):
    """`bend(x W_in + b_in) W_2 + b_2`, where W_in is W_1, or W_1 and W_3 as one matrix."""

    rounds = False  # whether products are made of float8 while training: `float8.round_products` says so

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        bias, width = spec.bias("ffn"), spec.ffn_width
        self.symbols = ("1", "3") if spec.gated else ("1",)
        self.wide = nn.Linear(spec.d_model, width * len(self.symbols), bias=bias)
        self.narrow = nn.Linear(width, spec.d_model, bias=bias)
        self.ends_with_gelu = spec.activation == "gelu"
        self.bend = partial(gated if spec.gated else plain, function=pointwise(spec.activation))

    def forward(self, x_BTD: Tensor) -> Tensor:
        if self.rounds and self.training:
            return float8.feed_forward(x_BTD, self.wide, self.narrow)
        if self.training and torch.compiler.is_compiling():
            # The backward pass bends again, in the pass over memory that it makes anyway, rather than keep what was bent.
            return checkpoint(self.finish, self.wide(x_BTD), use_reentrant=False, preserve_rng_state=False)
        unseen = not torch.is_grad_enabled() and not watched(self.wide)  # what is wide serves nobody, once it is bent
        if unseen and self.ends_with_gelu and ends_products(x_BTD, self.wide):
            return self.narrow(of_product(x_BTD, self.wide))
        if unseen and not torch.compiler.is_compiling():  # a compiler knows by itself
            return self.narrow(in_place(self.bend)(self.wide(x_BTD)))
        return self.narrow(self.bend(self.wide(x_BTD)))  # in one line: a name would hold what is wide until the end

    def finish(self, wide_BTG: Tensor) -> Tensor:
        """Bend and narrow."""
        return self.narrow(self.bend(wide_BTG))

    def views(self) -> Iterator[tuple[str, Tensor]]:
        pieces = len(self.symbols)
        for symbol, weight in zip(self.symbols, self.wide.weight.chunk(pieces), strict=True):
            yield f"W_{symbol}", weight.t()
        yield "W_2", self.narrow.weight.t()
        if self.narrow.bias is not None:
            for symbol, bias in zip(self.symbols, self.wide.bias.chunk(pieces), strict=True):
                yield f"b_{symbol}", bias
            yield "b_2", self.narrow.bias
