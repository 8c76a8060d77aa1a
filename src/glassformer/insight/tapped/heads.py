"""Poolers and heads that hand their steps to hooks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from glassformer.insight.taps import Tapped
from glassformer.model.attention import Context
from glassformer.model.core import Layout, Rule
from glassformer.model.heads import Classifier, Classify, Logits, MaskedTokens, Pooler, Pretrain, Reading, Tag
from glassformer.model.variants.attention_pooler import AttentionPooler
from glassformer.model.variants.layer_sum import LayerSum
from glassformer.model.variants.other_heads import Distilled, Project
from glassformer.spec import EncoderSpec


def pooled(tapped: Tapped, states_BTD: Tensor, layout: Layout, spec: EncoderSpec, how: str) -> Tensor:
    """The first token, the last real one, or a mean, as steps of this block."""
    if how == "class_tokens":
        return tapped.tap("mean", tapped.tap("class_tokens", states_BTD[:, : spec.class_tokens]).mean(1))
    if how != "mean":
        return tapped.tap("token", layout.first(states_BTD) if how == "first" else layout.last(states_BTD))
    before = spec.class_tokens + spec.registers
    if before:
        states_BTD = tapped.tap("patches", states_BTD[:, before:])
    return tapped.tap("mean", layout.mean(states_BTD))


def added_up(tapped: Tapped, states: nn.Module, reading: Reading) -> Tensor:
    """The states that a head reads: the last, or all of them in learned shares."""
    states_BTD = states(reading.states_BTD, reading.hidden)
    return tapped.tap("summed", states_BTD) if isinstance(states, LayerSum) else states_BTD


class TappedPooler(Tapped, Pooler):
    """Pooled, then a norm, then a dense layer or a norm."""

    def forward(self, states_BTD: Tensor, layout: Layout) -> Tensor:
        return self.finished(pooled(self, states_BTD, layout, self.spec, self.spec.pool))

    def finished(self, pooled_BD: Tensor) -> Tensor:
        pooled_BD = self.final_norm(pooled_BD)
        if self.dense is not None:
            pooled_BD = self.tap("out", self.tap("dense", self.dense(pooled_BD)).tanh())
        return self.norm(pooled_BD)


class TappedAttentionPooler(Tapped, AttentionPooler):
    """A learned query that reads all tokens."""

    def forward(self, states_BSD: Tensor, layout: Layout) -> Tensor:
        query_BTD = self.query.expand(states_BSD.shape[0], -1, -1)
        core = layout.core(Rule(), None, t=states_BSD.shape[1], dtype=states_BSD.dtype, device=states_BSD.device)
        read_BTD = self.attention(query_BTD, states_BSD, Context(core))
        sum_BTD = self.tap("sum", read_BTD + self.ffn(self.norm(read_BTD)))
        return self.tap("out", sum_BTD[:, 0])


class TappedClassifier(Tapped, Classifier):
    """A hidden layer where there is one, then the classes."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.tap("active", self.function(self.tap("hidden", self.hidden(x))))
        return self.tap(self.gives, self.classes(self.norm(x)))


class TappedClassify(Tapped, Classify):
    """Classes of the whole input."""

    def forward(self, reading: Reading) -> Logits:
        found = super().forward(reading)
        return Logits(self.tap("logits", found.logits)) if self.spec.head_reads == "each" else found

    def summary(self, reading: Reading) -> Tensor:
        if self.spec.head_reads == "pooled":
            return super().summary(reading)
        if self.spec.head_reads == "first":
            return pooled(self, reading.states_BTD, reading.layout, self.spec, "first")
        if self.spec.head_reads == "mean":
            states_BTD = added_up(self, self.states, reading)
            if self.spec.head_projection is not None:
                states_BTD = self.tap("projected", self.projection(states_BTD))
            return pooled(self, states_BTD, reading.layout, self.spec, "mean")
        first_BD = pooled(self, reading.states_BTD, reading.layout, self.spec, "first")
        mean_BD = pooled(self, reading.states_BTD, reading.layout, self.spec, "mean")
        return self.tap("joined", torch.cat((first_BD, mean_BD), dim=-1))


class TappedTag(Tapped, Tag):
    """Classes of each token."""

    def forward(self, reading: Reading) -> Logits:
        states_BTD = added_up(self, self.states, reading)
        if self.skipped:
            states_BTD = self.tap("patches", states_BTD[:, self.skipped :])
        return Logits(self.classifier(states_BTD))


class TappedDistilled(Tapped, Distilled):
    """The mean of two classifiers."""

    def forward(self, reading: Reading) -> Logits:
        first_BD = self.tap("class_token", reading.states_BTD[:, 0])
        second_BD = self.tap("distillation_token", reading.states_BTD[:, 1])
        one_BC = self.tap("class_logits", self.classes(first_BD))
        other_BC = self.tap("distillation_logits", self.distillation(second_BD))
        return Logits(self.tap("logits", self.tap("sum", one_BC + other_BC) / 2))


class TappedProject(Tapped, Project):
    """The pooled vector in another space."""

    def forward(self, reading: Reading) -> Logits:
        return Logits(self.tap("out", super().forward(reading).logits))


class TappedMaskedTokens(Tapped, MaskedTokens):
    """The tokens at the masks."""

    def forward(self, reading: Reading) -> Logits:
        at, states = reading.predict_at, reading.states_BTD
        x = self.tap("hidden", self.hidden(states if at is None else states.flatten(0, 1)[at]))
        x = self.norm(self.tap("active", self.function(x)))
        table = reading.table if self.own is None else self.own
        assert table is not None
        return Logits(self.tap("logits", self.product(x, table)))


class TappedPretrain(Tapped, Pretrain):
    """Masked tokens, and whether the second segment follows."""

    def forward(self, reading: Reading) -> Logits:
        return Logits(self.tokens(reading).logits, self.tap("next", self.next(reading.pooled_BD)))
