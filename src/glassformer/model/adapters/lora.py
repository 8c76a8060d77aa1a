"""Low-rank adapters (Hu et al. 2021): `x W + (α / r) · x A B` with W frozen, put on the matrices of an encoder's layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.errors import GlassformerError
from glassformer.model.attention import PLACES, Attention
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.fast.attention import FastAttention
from glassformer.model.fast.products import FastLinear
from glassformer.model.feed_forward import FeedForward
from glassformer.model.variants.disentangled import Map


class Lora(NamedTuple):
    """What is adapted: the rank, α, and the symbols of the matrices that get an adapter."""

    rank: int
    alpha: float
    symbols: tuple[str, ...]  # W_Q, W_K, W_V, W_O, W_1, W_2, W_3

    @property
    def scale(self) -> float:
        """The factor of the adapter's product."""
        return self.alpha / self.rank


class Adapter(nn.Module):
    """`scale · x A B`, where A and B are stored with the output axis first. B begins as zeros: at first nothing changes."""

    def __init__(self, linear: nn.Linear, width: int, lora: Lora) -> None:
        super().__init__()
        like = linear.weight
        self.A = nn.Parameter(like.new_empty(lora.rank, linear.in_features))
        self.B = nn.Parameter(like.new_zeros(width, lora.rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))  # as peft does
        self.scale = lora.scale

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(functional.linear(x, self.A), self.B) * self.scale

    def difference(self) -> Tensor:
        """What it adds to the stored matrix, [out, in]."""
        return (self.B @ self.A) * self.scale

    def views(self) -> Iterator[tuple[str, Tensor]]:
        """The ledger lists the adapted matrices, not the adapters."""
        return iter(())


class Adapters(nn.ModuleDict):
    """The adapters of one stored matrix that holds several of the ledger's side by side, by their symbols."""

    def __init__(self, linear: nn.Linear, pieces: dict[str, int], lora: Lora) -> None:
        super().__init__({symbol: Adapter(linear, width, lora) for symbol, width in pieces.items() if symbol in lora.symbols})
        self.pieces, self.lora = pieces, lora  # symbol -> number of its rows, in their order

    def add(self, y: Tensor, x: Tensor, symbols: tuple[str, ...] | None = None) -> Tensor:
        """Add to the product `y` of `x`, which has the columns of these symbols."""
        found = tuple(self.pieces) if symbols is None else symbols
        if len(found) == 1:
            return y + self[found[0]](x) if found[0] in self else y
        parts = y.split([self.pieces[symbol] for symbol in found], dim=-1)
        return torch.cat([part + self[one](x) if one in self else part for one, part in zip(found, parts, strict=True)], -1)

    def rows(self) -> Iterator[tuple[str, slice, Adapter]]:
        """Each adapter, with the rows of the stored matrix that it adds to."""
        start = 0
        for symbol, width in self.pieces.items():
            if symbol in self:
                yield symbol, slice(start, start + width), cast(Adapter, self[symbol])
            start += width


class AdaptedLinear(nn.Linear):
    """A linear layer with adapters."""

    adapters: Adapters

    def forward(self, x: Tensor) -> Tensor:
        return self.adapters.add(super().forward(x), x)


class FastAdaptedLinear(AdaptedLinear, FastLinear):
    """The same in a fast encoder."""


class AdaptedAttention(Attention):
    """Attention with adapters of queries, keys or values."""

    adapters: Adapters

    def joint(self, x_BTD: Tensor) -> Tensor:
        return self.adapters.add(super().joint(x_BTD), x_BTD)

    def content_maps(self) -> tuple[Map, Map]:
        (of_q, b_q), (of_k, b_k) = super().content_maps()
        more = {symbol: adapter.difference() for symbol, _, adapter in self.adapters.rows()}
        return (of_q + more.get("W_Q", 0.0), b_q), (of_k + more.get("W_K", 0.0), b_k)


class FastAdaptedAttention(AdaptedAttention, FastAttention):
    """The same in a fast encoder."""


ADAPTED: dict[type[nn.Module], type[nn.Module]] = {
    Attention: AdaptedAttention,
    FastAttention: FastAdaptedAttention,
    nn.Linear: AdaptedLinear,
    FastLinear: FastAdaptedLinear,
}


def apply(encoder: Encoder, lora: Lora) -> Encoder:
    """Put adapters on the layers of an encoder, plain or fast, in place. The other parameters keep their `requires_grad`."""
    if encoder.spec.global_attention == "first":
        raise GlassformerError("adapters do not support projections of global tokens (global_attention=first).")
    for module in [module for block in encoder.blocks() for module in block.modules()]:
        if isinstance(module, Attention):
            widths = (f"W_{place.upper()}" for place in PLACES)
            _adapt(module, module.qkv, dict(zip(widths, module.widths, strict=True)), lora)
            _adapt(module.out, module.out, {"W_O": module.out.out_features}, lora)
        elif isinstance(module, FeedForward):
            width = module.wide.out_features // len(module.symbols)
            _adapt(module.wide, module.wide, {f"W_{symbol}": width for symbol in module.symbols}, lora)
            _adapt(module.narrow, module.narrow, {"W_2": module.narrow.out_features}, lora)
    return encoder


def _adapt(module: nn.Module, linear: nn.Linear, pieces: dict[str, int], lora: Lora) -> None:
    if any(symbol in lora.symbols for symbol in pieces):
        if type(linear) not in (nn.Linear, FastLinear) or type(module) not in ADAPTED:
            raise GlassformerError(f"adapters do not support the {', '.join(pieces)} of this encoder: leave it out of lora_on.")
        module.adapters = Adapters(linear, pieces, lora)
        module.__class__ = ADAPTED[type(module)]


def apply_same(encoder: Encoder, other: Encoder) -> Encoder:
    """Put the adapters of another encoder on this one, with new weights; none if that one has none."""
    found = next((module.lora for module in other.modules() if isinstance(module, Adapters)), None)
    return encoder if found is None else apply(encoder, found)


class Piece(NamedTuple):
    """An adapter, and the location of the matrix that it is added to."""

    block: str  # path of the module: `layers.0.attention`
    symbol: str
    adapter: Adapter
    linear: str  # path of the linear layer
    rows: slice


def pieces_of(encoder: Encoder) -> Iterator[Piece]:
    """Every adapter of an encoder."""
    for path, module in encoder.named_modules():
        if isinstance(module, AdaptedLinear | AdaptedAttention):
            linear = path if isinstance(module, AdaptedLinear) else f"{path}.qkv"
            for symbol, rows, adapter in module.adapters.rows():
                yield Piece(linear.rpartition(".")[0], symbol, adapter, linear, rows)


@torch.no_grad()
def merged(encoder: Encoder) -> Encoder:
    """A plain encoder whose matrices contain the adapters: `W + (α / r) · A B`. Without adapters, the encoder itself."""
    pieces = list(pieces_of(encoder))
    if not pieces:
        return encoder
    made = Encoder(encoder.spec, device=encoder.here.device, dtype=encoder.here.dtype, fresh=False)
    views = dict(encoder.ledger())
    for name, view in made.ledger():
        view.copy_(views[name])
    for piece in pieces:
        weight = cast(nn.Linear, made.get_submodule(piece.linear)).weight
        weight[piece.rows] += piece.adapter.difference()
    return made
