"""On a CPU: the same encoder with its matrices laid out once as oneDNN reads them, and GELU done inside the product."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention
from glassformer.model.feed_forward import FUNCTIONS, FeedForward, plain
from glassformer.model.gelu import bare

if TYPE_CHECKING:
    from glassformer.model.encoder import Encoder

# Functions that the product can apply to its result before it is written, and how oneDNN calls their form.
FUSED = {FUNCTIONS["gelu"]: ("gelu", "none"), FUNCTIONS["gelu_tanh"]: ("gelu", "tanh"), FUNCTIONS["relu"]: ("relu", "")}


class Product:
    """`f(x Wᵀ + b)` with a matrix that was laid out for it. PyTorch's compiler uses the same operation."""

    def __init__(self, weight: Tensor, bias: Tensor | None, fused: tuple[str, str] = ("none", "")) -> None:
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), None)
        self.bias, self.fused = bias, fused

    def __call__(self, x: Tensor) -> Tensor:
        name, form = self.fused
        return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, name, [], form)


def serves(encoder: Encoder) -> bool:
    """Whether laying out the matrices helps here: float32 on a CPU whose PyTorch brings oneDNN."""
    here = encoder.here
    plain_float = here.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    library = torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled)
    return here.device.type == "cpu" and plain_float and library


def reordered(encoder: Encoder) -> Encoder:
    """A copy for inference, which shares all but the matrices of the layers; it does not see later changes of the weights."""
    other = copy(encoder)
    other._modules = dict(encoder._modules)
    blocks = {owner: _block(block) for owner, block in encoder.layers.items()}
    layers = copy(encoder.layers)
    layers._modules = dict(blocks)
    other._modules["layers"] = layers
    return other


def fingerprint(encoder: Encoder) -> tuple[tuple[int, int], ...] | None:
    """Where the weights lie and how often each was written to; None where PyTorch does not keep count."""
    if any(parameter.is_inference() for parameter in encoder.parameters()):
        return None
    return tuple((parameter.data_ptr(), parameter._version) for parameter in encoder.parameters())


def _shared(module: nn.Module) -> nn.Module:
    """Another module with the same parts, of which some can be put in another's place."""
    other = copy(module)
    other._modules = dict(module._modules)
    return other


def _block(block: nn.Module) -> nn.Module:
    other = _shared(block)
    for name, part in block.named_children():
        if isinstance(part, Attention) and bare(part.out):
            other._modules[name] = _attention(part)
        elif isinstance(part, FeedForward) and bare(part.wide) and bare(part.narrow):
            other._modules[name] = _feed_forward(part)
    return other


def _attention(attention: Attention) -> nn.Module:
    other = _shared(attention)
    del other._modules["out"]
    products = {"joint": Product(attention.qkv.weight, attention.whole_bias())}
    other.__dict__ |= products | {"out": Product(attention.out.weight, attention.out.bias)}
    return other


def _feed_forward(block: FeedForward) -> nn.Module:
    other = _shared(block)
    function = block.bend.keywords["function"]
    fused = FUSED.get(function) if block.bend.func is plain else None
    for name in ("wide", "narrow"):
        del other._modules[name]
    wide = Product(block.wide.weight, block.wide.bias, fused or ("none", ""))
    other.__dict__ |= {"wide": wide, "narrow": Product(block.narrow.weight, block.narrow.bias)}
    if fused is not None:
        other.__dict__["bend"] = partial(plain, function=_as_it_is)
    return other


def _as_it_is(x: Tensor) -> Tensor:
    return x
