"""Products in float8 while training: each row of numbers has a scale of its own, and the weights stay what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.gelu import normal
from glassformer.spec import EncoderSpec, GlassformerError

if TYPE_CHECKING:
    from glassformer.model.encoder import Encoder

FLOAT8 = torch.float8_e4m3fn  # three bits behind the point: a number is rounded by up to 6%
LARGEST = torch.finfo(FLOAT8).max
LOWEST_GELU = 0.17  # it is never below −0.17, and never above x where x is positive: the largest x bounds a row


class Rounded(NamedTuple):
    """A matrix in float8; row i stands for `values[i] · scale[i]`."""

    values: Tensor
    scale: Tensor  # [rows, 1], float32


def rounded(x: Tensor) -> Rounded:
    """Each row scaled so that its largest number is the largest that float8 has."""
    size = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-30)
    return scaled(x.float(), size)


def scaled(x: Tensor, size: Tensor) -> Rounded:
    """In float8, so that `size` becomes the largest number that it has."""
    largest = torch.finfo(FLOAT8).max  # and not LARGEST: torch.compile takes a global number for one that changes, and fails
    return Rounded((x * (largest / size)).to(FLOAT8), size / largest)


def product(a: Rounded, b: Rounded, bias: Tensor | None = None) -> Tensor:
    """`a bᵀ + bias` in bfloat16, summed in float32. Where a device has no such product, of the same rounded numbers."""
    if a.values.is_cuda:
        return torch._scaled_mm(a.values, b.values.t(), a.scale, b.scale.t(), bias, out_dtype=torch.bfloat16, use_fast_accum=True)
    with torch.autocast(a.values.device.type, enabled=False):  # it would sum in bfloat16
        sums = (a.values.float() * a.scale) @ (b.values.float() * b.scale).t()
    return (sums if bias is None else sums + bias).to(torch.bfloat16)


class FeedForward(torch.autograd.Function):
    """`gelu(x W_1 + b_1) W_2 + b_2`. What enters products is rounded, but for those that give the gradients of the weights."""

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
    """`x W + b`, rounded on the way there alone: attention's gradients come in three pieces, and would be read once more."""

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


class Back(NamedTuple):
    """What goes back through GELU: the gradient before it, as it is and rounded, its sum for the bias, and GELU once more."""

    wide: Tensor
    rounded: Rounded
    bias: Tensor
    active: Tensor


def gelu(wide: Tensor, bias: Tensor) -> Rounded:
    """`gelu(wide + bias)`, rounded."""
    if wide.is_cuda:
        from glassformer.model.float8_kernels import gelu_kernel

        return Rounded(*gelu_kernel(wide, bias))
    return plain_gelu(wide, bias)


def gelu_backward(g: Tensor, wide: Tensor, bias: Tensor) -> Back:
    """From the gradient behind GELU to what is before it. GELU itself is computed again rather than kept."""
    if wide.is_cuda:
        from glassformer.model.float8_kernels import gelu_backward_kernel

        before, values, scale, sums, active = gelu_backward_kernel(g, wide, bias)
        return Back(before, Rounded(values, scale), sums.sum(0).to(bias.dtype), active)
    return plain_gelu_backward(g, wide, bias)


def plain_gelu(wide: Tensor, bias: Tensor) -> Rounded:
    """The kernel's plain twin."""
    x = wide.float() + bias.float()
    return scaled(x * normal(x)[0], x.amax(-1, keepdim=True).clamp(min=LOWEST_GELU))


def plain_gelu_backward(g: Tensor, wide: Tensor, bias: Tensor) -> Back:
    """The kernel's plain twin."""
    x = wide.float() + bias.float()
    below, density = normal(x)
    before = g.float() * (below + x * density)
    return Back(before.to(wide.dtype), rounded(before), before.sum(0).to(bias.dtype), (x * below).to(wide.dtype))


def feed_forward(x_BTD: Tensor, wide: nn.Linear, narrow: nn.Linear) -> Tensor:
    """A feed-forward block with plain GELU."""
    b_1 = wide.bias if wide.bias is not None else x_BTD.new_zeros(wide.out_features)
    b_2 = narrow.bias if narrow.bias is not None else x_BTD.new_zeros(narrow.out_features)
    half = [part.to(torch.bfloat16) for part in (x_BTD.flatten(0, -2), wide.weight, narrow.weight, b_2)]
    y_ND: Tensor = FeedForward.apply(half[0], half[1], b_1.float(), half[2], half[3])
    return y_ND.view(x_BTD.shape)


def linear(x_BTD: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """One product for everything that is made of x."""
    half = torch.bfloat16
    y_NW: Tensor = Linear.apply(x_BTD.flatten(0, -2).to(half), weight.to(half), None if bias is None else bias.to(half))
    return y_NW.unflatten(0, x_BTD.shape[:-1])


def round_products(encoder: Encoder) -> Encoder:
    """From now on training steps round what enters the products of feed-forward blocks and of queries, keys and values."""
    for module in encoder.modules():
        if hasattr(module, "rounds"):
            setattr(module, "rounds", True)  # noqa: B010  # on a module, mypy takes an attribute for a tensor
    return encoder


def check_float8(spec: EncoderSpec, device: torch.device) -> None:
    """Refuse where there is no such product, or where it was not written for the encoder."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (9, 0):
        raise GlassformerError("precision=fp8 needs a GPU that multiplies float8 (H100 or newer), here is none. Try bf16.")
    if spec.activation != "gelu":
        raise GlassformerError(
            f"precision=fp8 is written for feed-forward blocks with gelu; activation={spec.activation} is another. Try bf16."
        )
    widths = {"d_model": spec.d_model, "d_ff": spec.ffn_width, "heads · d_k": spec.heads * spec.head_k}
    widths["kv_heads · d_k"] = spec.key_heads * spec.head_k
    for name, width in widths.items():
        if width % 16:
            raise GlassformerError(f"precision=fp8 wants {name} to be a multiple of 16, found {width}. Try bf16.")
