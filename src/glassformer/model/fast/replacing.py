"""`fast.apply`: replaces parts of a plain encoder, in place, with parts that compute the same faster."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TypeVar

from torch import nn
from torch.nn import functional

from glassformer.model import norms
from glassformer.model.attention import Attention
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.encoder import Block
from glassformer.model.fast.attention import FastAttention, FastByDistances
from glassformer.model.fast.dropout import FastDropout
from glassformer.model.fast.encoder import FastBlock, FastEncoder
from glassformer.model.fast.feed_forward import FastFeedForward
from glassformer.model.fast.float8_layers import Float8Attention, Float8FeedForward
from glassformer.model.fast.gelu import gelu
from glassformer.model.fast.heads import FastMaskedTokens
from glassformer.model.fast.norms import FastNorm, layer_norm, rms_norm
from glassformer.model.fast.products import FastLinear
from glassformer.model.feed_forward import FeedForward
from glassformer.model.heads import MaskedTokens
from glassformer.model.variants.disentangled import ByDistances

Part = TypeVar("Part", bound=nn.Module)

PARTS: Mapping[type[nn.Module], type[nn.Module]] = {
    Encoder: FastEncoder,
    Block: FastBlock,
    Attention: FastAttention,
    ByDistances: FastByDistances,
    FeedForward: FastFeedForward,
    norms.Norm: FastNorm,
    nn.Dropout: FastDropout,
    nn.Linear: FastLinear,
    MaskedTokens: FastMaskedTokens,
}
IN_FLOAT8: Mapping[type[nn.Module], type[nn.Module]] = {FastAttention: Float8Attention, FastFeedForward: Float8FeedForward}
FUNCTIONS = {functional.gelu: gelu, norms.layer_norm: layer_norm, norms.rms_norm: rms_norm}


def apply(encoder: Encoder, *, float8: bool = False) -> Encoder:
    """Replace parts of an encoder with fast ones, in place; weights, names, hooks and results do not change.

    A part's class is replaced by one with the same parameters, as in PyTorch's `fully_shard` and `parametrize`. With `float8`,
    training steps round the inputs of the products of feed-forward blocks and of queries, keys and values: see
    `float8_layers.py`.
    """
    for parts in (PARTS, IN_FLOAT8) if float8 else (PARTS,):
        for module in encoder.modules():
            if type(module) in parts:
                module.__class__ = parts[type(module)]
    for module in encoder.modules():
        for name in ("function", "normalise"):
            if getattr(module, name, None) in FUNCTIONS:
                setattr(module, name, FUNCTIONS[getattr(module, name)])
    return encoder


def with_parts(module: Part, **parts: nn.Module | None) -> Part:
    """A copy of a module that shares everything with it except these parts."""
    other = copy(module)
    other._modules = module._modules | parts
    return other
