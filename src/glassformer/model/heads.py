"""The modules after the last layer: pooling, pooler and task head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.core import Layout
from glassformer.model.feed_forward import Linear, Unchanged, pointwise
from glassformer.model.norms import Norm
from glassformer.model.variants.layer_sum import LayerSum
from glassformer.spec import EncoderSpec, NormKind


class Reading(NamedTuple):
    """The inputs of a head."""

    states_BTD: Tensor
    pooled_BD: Tensor | None
    layout: Layout
    table: Tensor | None  # the token table, for heads that are tied to it
    predict_at: Tensor | None  # where a masked-token head predicts, as flat indices; None: everywhere
    hidden: tuple[Tensor, ...] = ()  # the input of layer 0 and the output of each layer, for heads that sum these


class Logits(NamedTuple):
    """The logits of a head, and those of next-sentence prediction if the head has it (BERT's pre-training)."""

    logits: Tensor
    next_logits: Tensor | None = None


def pool(states_BTD: Tensor, layout: Layout, spec: EncoderSpec, how: str) -> Tensor:
    """The first token, the last real one, or the mean: of the class tokens, or of those that are no class tokens or registers."""
    if how == "class_tokens":
        return states_BTD[:, : spec.class_tokens].mean(1)
    if how != "mean":
        return layout.first(states_BTD) if how == "first" else layout.last(states_BTD)
    before = spec.class_tokens + spec.registers
    return layout.mean(states_BTD[:, before:] if before else states_BTD)


class Pooler(nn.Module):
    """One vector for the whole input: pooled, then a norm, then a dense layer (BERT) or a norm (BEiT)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        width = spec.d_model
        self.spec = spec
        self.final_norm = Norm(spec, width) if spec.norm_after_last == "pooled" else nn.Identity()
        self.dense = Linear("P", width, width, bias=spec.bias("pooler")) if spec.pooler == "dense" else None
        self.norm = Norm(spec, width, eps=spec.pooler_eps) if spec.pooler == "norm" else nn.Identity()

    def forward(self, states_BTD: Tensor, layout: Layout) -> Tensor:
        return self.finished(pool(states_BTD, layout, self.spec, self.spec.pool))

    def finished(self, pooled_BD: Tensor) -> Tensor:
        """The layers after pooling."""
        pooled_BD = self.final_norm(pooled_BD)
        if self.dense is not None:
            pooled_BD = self.dense(pooled_BD).tanh()
        return self.norm(pooled_BD)


class Classifier(nn.Module):
    """A hidden layer if the spec has one, then the output layer."""

    def __init__(self, spec: EncoderSpec, width: int) -> None:
        super().__init__()
        hides = spec.head_hidden != "none"
        self.hidden = Linear("H", width, width, bias=spec.bias("head")) if hides else nn.Identity()
        self.function = pointwise(spec.head_hidden) if hides else nn.Identity()
        self.norm = Norm(spec, width) if spec.head_norm else nn.Identity()
        self.dropout = nn.Dropout(spec.dropout)
        self.classes = Linear("C", width, spec.classes, bias=spec.bias("classes"))
        self.gives = "token_logits" if spec.head == "classify" and spec.head_reads == "each" else "logits"

    def forward(self, x: Tensor) -> Tensor:
        return self.classes(self.dropout(self.norm(self.function(self.hidden(x)))))


def states_of(spec: EncoderSpec) -> nn.Module:
    """The states that a head reads: the last ones, or a sum of all layers."""
    return LayerSum(spec) if spec.layer_sum else Unchanged()


class Classify(nn.Module):
    """Classes of the whole input, from the pooled vector, the mean, or the first token concatenated with the mean (DINOv2)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.spec, self.states = spec, states_of(spec)
        narrow = spec.head_projection
        self.projection = Linear("T", spec.d_model, narrow, bias=spec.bias("head")) if narrow is not None else nn.Identity()
        width = spec.d_model if narrow is None else narrow
        self.classifier = Classifier(spec, width * (2 if spec.head_reads == "first_and_mean" else 1))

    def forward(self, reading: Reading) -> Logits:
        if self.spec.head_reads == "each":
            before = self.spec.class_tokens + self.spec.registers
            return Logits(reading.layout.mean(self.classifier(reading.states_BTD[:, before:])))
        return Logits(self.classifier(self.summary(reading)))

    def summary(self, reading: Reading) -> Tensor:
        """The input vector of the classifier."""
        if self.spec.head_reads == "pooled":
            assert reading.pooled_BD is not None
            return reading.pooled_BD
        if self.spec.head_reads == "first":
            return reading.layout.first(reading.states_BTD)
        mean_BD = pool(self.projection(self.states(reading.states_BTD, reading.hidden)), reading.layout, self.spec, "mean")
        if self.spec.head_reads == "mean":
            return mean_BD
        return torch.cat((reading.layout.first(reading.states_BTD), mean_BD), dim=-1)


class Tag(nn.Module):
    """Classes of each token; `tag_patches` leaves out class tokens and registers."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.skipped = spec.class_tokens + spec.registers if spec.head == "tag_patches" else 0
        self.states, self.classifier = states_of(spec), Classifier(spec, spec.d_model)

    def forward(self, reading: Reading) -> Logits:
        return Logits(self.classifier(self.states(reading.states_BTD, reading.hidden)[:, self.skipped :]))


class MaskedTokens(nn.Module):
    """Dense, activation, norm where the head has them, then a product with the token table (tied) or a separate matrix.

    The product with the vocabulary is the largest of the whole model, so it is computed only at the requested positions.
    """

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        vocab, width, dense = spec.vocab or 0, spec.vocab_width, spec.head_dense
        self.hidden = Linear("H", spec.d_model, width, bias=spec.bias("head")) if dense else nn.Identity()
        self.function = pointwise(spec.activation if spec.head_hidden == "none" else spec.head_hidden) if dense else nn.Identity()
        kind: NormKind = "layer" if spec.norm_kind == "scale" else spec.norm_kind
        self.norm = Norm(spec, width, kind=kind) if dense else nn.Identity()
        self.own = None if spec.tie else nn.Parameter(torch.empty(vocab, width))
        self.bias = nn.Parameter(torch.empty(vocab)) if spec.bias("decoder") else None
        self.spare_bias = nn.Parameter(torch.empty(vocab)) if spec.spare_bias else None

    def forward(self, reading: Reading) -> Logits:
        at, states = reading.predict_at, reading.states_BTD
        x = self.norm(self.function(self.hidden(states if at is None else states.flatten(0, 1)[at])))
        table = reading.table if self.own is None else self.own
        assert table is not None
        return Logits(self.product(x, table))

    def product(self, x: Tensor, table: Tensor) -> Tensor:
        """`x Eᵀ + b`."""
        return functional.linear(x, table, self.bias)

    def views(self) -> Iterator[tuple[str, Tensor]]:
        if self.own is not None:
            yield "W_vocab", self.own.t()
        if self.spare_bias is not None:
            yield "b_spare", self.spare_bias
        if self.bias is not None:
            yield "b_vocab", self.bias


class Pretrain(nn.Module):
    """Masked tokens, and whether the second segment follows the first (BERT)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.tokens = MaskedTokens(spec)
        self.next = Linear("N", spec.d_model, spec.classes, bias=spec.bias("classes"))

    def forward(self, reading: Reading) -> Logits:
        return Logits(self.tokens(reading).logits, self.next(reading.pooled_BD))
