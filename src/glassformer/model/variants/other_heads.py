"""Heads of few models: a distilled classifier, a projection, a map of contacts."""

from __future__ import annotations

from torch import nn

from glassformer.model.feed_forward import Linear
from glassformer.model.heads import Logits, Reading
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
    """A linear map of all attention weights to one number (ESM-2), loaded and saved, and never computed."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.contact = Linear("contact", spec.layers * spec.heads, 1, bias=True)
