"""Float8 products in training, for feed-forward blocks and for queries, keys and values; the weights are not rounded."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError
from glassformer.model.fast.attention import FastAttention
from glassformer.model.fast.feed_forward import FastFeedForward
from glassformer.model.fast.float8 import Back, Rounded, plain_gelu, plain_gelu_backward, product, rounded
from glassformer.spec import EncoderSpec


class FeedForward(torch.autograd.Function):
    """`gelu(x W_1 + b_1) W_2 + b_2`. Inputs of products are rounded, except those that give the gradients of the weights."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
        wide = product(rounded(x), rounded(w_1))
        ctx.save_for_backward(x, wide, w_1, b_1, w_2)
        return product(gelu(wide, b_1), rounded(w_2), b_2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        x, wide, w_1, b_1, w_2 = ctx.saved_tensors
        g = gradients[0].contiguous()
        back = gelu_backward(product(rounded(g), rounded(w_2.t().contiguous())), wide, b_1)
        dx = product(back.rounded, rounded(w_1.t().contiguous()))
        return dx, back.wide.t() @ x, back.bias, g.t() @ back.active, g.sum(0, dtype=torch.float32).to(b_1.dtype)


class Linear(torch.autograd.Function):
    """`x W + b`, rounded only in the forward pass: attention's gradients come in three pieces, which would be read once more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.biased = bias is not None
        return product(rounded(x), rounded(weight), bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        g = gradients[0]
        return g @ weight, g.t() @ x, g.sum(0) if ctx.biased else None


def gelu(wide: Tensor, bias: Tensor) -> Rounded:
    """`gelu(wide + bias)`, rounded."""
    if wide.is_cuda:
        from glassformer.model.fast.float8_kernels import gelu_kernel

        return Rounded(*gelu_kernel(wide, bias))
    return plain_gelu(wide, bias)


def gelu_backward(g: Tensor, wide: Tensor, bias: Tensor) -> Back:
    """From the gradient after GELU to that before it. GELU is recomputed, not stored."""
    if wide.is_cuda:
        from glassformer.model.fast.float8_kernels import gelu_backward_kernel

        before, values, scale, sums, active = gelu_backward_kernel(g, wide, bias)
        return Back(before, Rounded(values, scale), sums.sum(0).to(bias.dtype), active)
    return plain_gelu_backward(g, wide, bias)


def feed_forward(x_BTD: Tensor, wide: nn.Linear, narrow: nn.Linear) -> Tensor:
    """A feed-forward block with plain GELU."""
    b_1 = wide.bias if wide.bias is not None else x_BTD.new_zeros(wide.out_features)
    b_2 = narrow.bias if narrow.bias is not None else x_BTD.new_zeros(narrow.out_features)
    half = [part.to(torch.bfloat16) for part in (x_BTD.flatten(0, -2), wide.weight, narrow.weight, b_2)]
    y_ND: Tensor = FeedForward.apply(half[0], half[1], b_1.float(), half[2], half[3])
    return y_ND.view(x_BTD.shape)


def linear(x_BTD: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """One product for queries, keys and values."""
    half = torch.bfloat16
    y_NW: Tensor = Linear.apply(x_BTD.flatten(0, -2).to(half), weight.to(half), None if bias is None else bias.to(half))
    return y_NW.unflatten(0, x_BTD.shape[:-1])


class Float8FeedForward(FastFeedForward):
    """Use float8 products in training steps."""

    def forward(self, x_BTD: Tensor) -> Tensor:
        return feed_forward(x_BTD, self.wide, self.narrow) if self.training else super().forward(x_BTD)


class Float8Attention(FastAttention):
    """Use a float8 product for queries, keys and values in training steps."""

    def joint(self, x_BTD: Tensor) -> Tensor:
        return linear(x_BTD, self.qkv.weight, self.whole_bias()) if self.training else super().joint(x_BTD)


def check_float8(spec: EncoderSpec, device: torch.device) -> None:
    """Refuse devices without float8 products, and encoders without a suitable product."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (9, 0):
        raise GlassformerError(
            "precision=fp8 needs a GPU that multiplies float8 (H100 or newer), and there is none here. Try bf16."
        )
    if spec.activation != "gelu":
        raise GlassformerError(
            f"precision=fp8 is implemented for feed-forward blocks with gelu, not activation={spec.activation}. Try bf16."
        )
    if spec.groups:
        raise GlassformerError("precision=fp8 is not implemented with groups. Try bf16.")
    widths = {"d_model": spec.d_model, "d_ff": spec.ffn_width, "heads · d_k": spec.heads * spec.head_k}
    widths["kv_heads · d_k"] = spec.key_heads * spec.head_k
    for name, width in widths.items():
        if width % 16:
            raise GlassformerError(f"precision=fp8 requires {name} to be a multiple of 16, found {width}. Try bf16.")
