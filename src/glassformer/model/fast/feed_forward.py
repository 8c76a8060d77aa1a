"""The feed-forward block with less memory: activations in place, fused into the product, or recomputed."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from glassformer.model.fast.gelu import ends_products, gelu, of_product, watched
from glassformer.model.feed_forward import FUNCTIONS, FeedForward, Function, quick_gelu


def quick_gelu_in_place(x: Tensor) -> Tensor:
    return x.mul_((1.702 * x).sigmoid_())


IN_PLACE: dict[Function, Function] = {
    functional.relu: torch.relu_,
    gelu: torch.ops.aten.gelu_,
    FUNCTIONS["gelu_tanh"]: partial(torch.ops.aten.gelu_, approximate="tanh"),
    quick_gelu: quick_gelu_in_place,
    functional.silu: partial(functional.silu, inplace=True),
    torch.tanh: torch.tanh_,
}


class FastFeedForward(FeedForward):
    """As the plain block. Compiled steps store only the pre-activations and recompute the activations in the backward pass."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        if self.training and torch.compiler.is_compiling():
            # The backward pass recomputes the activation, in the pass over memory that it makes anyway.
            return checkpoint(self.finish, self.wide(x_BTD), use_reentrant=False, preserve_rng_state=False)
        if torch.is_grad_enabled() or watched(self.wide):
            return super().forward(x_BTD)
        return self.narrow(self.activated(x_BTD))

    def finish(self, wide_BTG: Tensor) -> Tensor:
        """Apply the activation and the second product."""
        return self.narrow(self.activate(wide_BTG))

    def activated(self, x_BTD: Tensor) -> Tensor:
        """Without gradients, the pre-activations are not needed after the activation."""
        if self.function is gelu and not self.gated and ends_products(x_BTD, self.wide):
            return of_product(x_BTD, self.wide)
        if self.gated or torch.compiler.is_compiling():  # a compiler does this itself
            return self.activate(self.wide(x_BTD))
        return IN_PLACE.get(self.function, self.function)(self.wide(x_BTD))

    def activate(self, wide_BTG: Tensor) -> Tensor:
        if not self.gated:
            return self.function(wide_BTG)
        hidden_BTF, gate_BTF = wide_BTG.chunk(2, dim=-1)
        active_BTF = self.function(hidden_BTF)
        return active_BTF * gate_BTF if active_BTF.requires_grad else active_BTF.mul_(gate_BTF)
