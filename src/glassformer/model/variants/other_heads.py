"""Heads of few models: a distilled classifier, a projection, a map of contacts, an output matrix wider than the token table."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from glassformer.model.feed_forward import Linear
from glassformer.model.heads import Logits, MaskedTokens, Pretrain, Reading
from glassformer.spec import EncoderSpec


class Distilled(nn.Module):
    """Two classifiers, on the class and the distillation token; the prediction is their mean (DeiT)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.classes = Linear("C", spec.d_model, spec.classes, bias=spec.bias("classes"))
        self.distillation = Linear("D", spec.d_model, spec.classes, bias=spec.bias("classes"))

    def forward(self, reading: Reading) -> Logits:
        return Logits((self.classes(reading.states_BTD[:, 0]) + self.distillation(reading.states_BTD[:, 1])) / 2)


class Project(nn.Module):
    """The pooled vector in another space (CLIP)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.linear = Linear("P", spec.d_model, spec.classes, bias=spec.bias("head"))

    def forward(self, reading: Reading) -> Logits:
        return Logits(self.linear(reading.pooled_BD))


class Contacts(nn.Module):
    """A linear map of all attention weights to one number (ESM-2), loaded and saved but never computed."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.contact = Linear("contact", spec.layers * spec.heads, 1, bias=True)


class WideMaskedTokens(MaskedTokens):
    """Masked tokens by an output matrix of d_model features: the first are the token table's, the rest are stored apart."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__(spec)
        vocab, self.narrow = spec.vocab or 0, spec.table_width
        self.own = None if spec.tie else nn.Parameter(torch.empty(vocab, self.narrow))
        self.rest = nn.Parameter(torch.empty(spec.vocab_width - self.narrow, vocab))

    def product(self, x: Tensor, table: Tensor) -> Tensor:
        return super().product(x[..., : self.narrow], table) + x[..., self.narrow :] @ self.rest

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield from super().views()
        yield "W_rest", self.rest


class WidePretrain(Pretrain):
    """The same with next-sentence prediction."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__(spec)
        self.tokens = WideMaskedTokens(spec)


WIDE: dict[str, type[nn.Module]] = {"mlm": WideMaskedTokens, "pretrain": WidePretrain}
