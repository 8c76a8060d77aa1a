"""On a CPU: the same model with its matrices in oneDNN's layout, and activations fused into the product."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.boundary.encoder import Encoder
from glassformer.model.fast.attention import FastAttention
from glassformer.model.fast.feed_forward import FastFeedForward
from glassformer.model.fast.float8_layers import Float8Attention
from glassformer.model.fast.gelu import bare, gelu, watched
from glassformer.model.fast.replacing import with_parts
from glassformer.model.feed_forward import FUNCTIONS
from glassformer.model.heads import Logits, Reading
from glassformer.model.variants.next_token import NextToken

# Functions that the product can apply to its result before it is written, and oneDNN's names for them.
ATTENTIONS = (FastAttention, Float8Attention)  # a subclass with another product, as with adapters, is unchanged
FUSED = {
    gelu: ("gelu", "none"),
    FUNCTIONS["gelu_tanh"]: ("gelu", "tanh"),
    functional.relu: ("relu", ""),
    functional.silu: ("swish", ""),
}


class Product(nn.Module):
    """`f(x Wᵀ + b)` with a matrix in oneDNN's layout. PyTorch's compiler uses the same operation.

    A weight may be written to at any time. PyTorch counts writes, but not those through `weight.data`, by which adapters are
    merged and averages of weights are kept. So some numbers are compared, too: a whole row, and the first ones of every 32nd
    row. Comparing all would take as long as encoding a short text.
    """

    def __init__(self, linear: nn.Linear, fused: tuple[str, str] = ("none", "")) -> None:
        super().__init__()
        self.linear, self.fused = linear, fused
        self.known: tuple[int, int | None, int] | None = None  # the weight's address, its write counter, and its bias
        self.samples: list[tuple[NDArray[Any], bytes]] = []  # some numbers of the weight, for comparison
        self.refresh()

    def forward(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        (matrix, own), (name, form) = self.read, self.fused
        return torch.ops.mkldnn._linear_pointwise(x, matrix, own if bias is None else bias, name, [], form)

    def refresh(self) -> None:
        """Convert the matrix again if the weight has changed."""
        weight = self.linear.weight
        now = weight.data_ptr(), None if weight.is_inference() else weight._version, id(self.linear.bias)
        if self.known != now or any(part.tobytes() != was for part, was in self.samples):
            numbers = weight.detach().numpy()
            self.known, self.samples = now, [(part, part.tobytes()) for part in (numbers[0], numbers[::32, :16])]
            self.read = self.convert(weight.detach()), self.linear.bias

    def convert(self, weight: Tensor) -> Tensor:
        """Return the matrix in the layout of this processor."""
        converted: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, None)
        return converted


class LaidOutCross(FastAttention):
    """Cross-attention whose queries, which every step of a search needs, use a converted matrix."""

    product: Product

    def asked(self, x_BTD: Tensor) -> Tensor:
        bias = self.whole_bias()
        q_BTE = self.product(x_BTD, None if bias is None else bias[: self.widths[0]])
        q_BTHK: Tensor = self.q_norm(q_BTE.unflatten(-1, self.shapes[0]))
        return q_BTHK


class LaidOutNextToken(NextToken):
    """Logits of the next token, by a converted table."""

    product: Product

    def forward(self, reading: Reading) -> Logits:
        at, states = reading.predict_at, reading.states_BTD
        states = states if at is None else states.flatten(0, 1)[at]
        logits: Tensor = self.product(self.projected(states if self.scale == 1.0 else states * self.scale))
        logits = logits if self.offset is None else logits.add_(self.offset)
        return Logits(logits if self.cap is None else self.cap * (logits / self.cap).tanh())


class LaidOutAttention(FastAttention):
    """Attention whose two products use converted matrices."""

    product: Product

    def joint(self, x_BTD: Tensor) -> Tensor:
        return self.product(x_BTD, self.whole_bias())


def serves(encoder: Encoder) -> bool:
    """Whether converting the matrices helps: float32 on a CPU whose PyTorch includes oneDNN."""
    here = encoder.here
    plain_float = here.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    library = torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled)
    return here.device.type == "cpu" and plain_float and library


def laid_out(encoder: Encoder, product: type[Product] = Product) -> Encoder:
    """A copy for inference, which shares everything but the matrices of the layers."""
    layers = with_parts(encoder.layers, **{owner: _block(block, product) for owner, block in encoder.layers.items()})
    return with_parts(encoder, layers=layers, head=_head(encoder))


def _head(encoder: Encoder) -> nn.Module | None:
    """The head with a converted table, where it predicts the next token."""
    head = encoder.head
    if type(head) is not NextToken or watched(head):
        return head
    table = encoder.embeddings.token_table if head.own is None else head.own
    assert table is not None
    other = with_parts(head, product=Product(matrix(table, head.bias)))
    other.__class__ = LaidOutNextToken
    return other


def matrix(weight: Tensor, bias: nn.Parameter | None = None) -> nn.Linear:
    """A linear layer that shares a weight, which may be a part of another one."""
    linear = nn.Linear(1, 1, bias=False, device="meta")
    linear.weight, linear.bias = nn.Parameter(weight.detach(), requires_grad=False), bias  # type: ignore[assignment]
    return linear


def _block(block: nn.Module, product: type[Product]) -> nn.Module:
    parts = {}
    for name, part in block.named_children():
        if isinstance(part, FastAttention) and type(part) in ATTENTIONS and plain(part.out) and plain(part.qkv):
            parts[name] = _cross(part, product) if name == "cross" else _attention(part, product)
        elif isinstance(part, FastFeedForward) and plain(part.wide) and plain(part.narrow):
            parts[name] = _feed_forward(part, product)
    return with_parts(block, **parts)


def plain(linear: nn.Module) -> bool:
    """Whether a linear layer is a plain matrix product without hooks."""
    return bare(linear) and not watched(linear)


def _attention(attention: FastAttention, product: type[Product]) -> nn.Module:
    other = with_parts(attention, out=product(attention.out), product=product(attention.qkv))
    other.__class__ = LaidOutAttention
    return other


def _cross(attention: FastAttention, product: type[Product]) -> nn.Module:
    queries = matrix(attention.qkv.weight[: attention.widths[0]])
    other = with_parts(attention, out=product(attention.out), product=product(queries))
    other.__class__ = LaidOutCross
    return other


def _feed_forward(block: FastFeedForward, product: type[Product]) -> nn.Module:
    fused = FUSED.get(block.function) if not block.gated else None
    other = with_parts(block, wide=product(block.wide, fused or ("none", "")), narrow=product(block.narrow))
    if fused is not None:
        other.function = _unchanged
    return other


def _unchanged(x: Tensor) -> Tensor:
    return x
