"""The head of a decoder: logits of the next token."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.feed_forward import Linear
from glassformer.model.heads import Logits, Reading
from glassformer.spec import EncoderSpec


class NextToken(nn.Module):
    """Logits of the next token at every position: a product with the token table (tied) or a separate matrix."""

    offset: Tensor | None

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        narrow = spec.embedding_size is not None
        self.projected = Linear("U", spec.d_model, spec.table_width, bias=spec.bias("embedding")) if narrow else nn.Identity()
        self.own = None if spec.tie else nn.Parameter(torch.empty(spec.vocab or 0, spec.table_width))
        self.bias = nn.Parameter(torch.empty(spec.vocab or 0)) if spec.bias("decoder") else None
        self.cap = spec.logit_cap
        self.scale = 1 / math.sqrt(spec.d_model) if spec.output_scale == "sqrt_d_model" else 1.0
        # Stored numbers that are not trained (Marian, BART).
        self.register_buffer("offset", torch.empty(spec.vocab or 0) if spec.logit_offset else None)

    def forward(self, reading: Reading) -> Logits:
        at, states = reading.predict_at, reading.states_BTD
        states = states if at is None else states.flatten(0, 1)[at]
        x = self.projected(states if self.scale == 1.0 else states * self.scale)
        table = reading.table if self.own is None else self.own
        assert table is not None
        logits = functional.linear(x, table, self.bias)
        logits = logits if self.offset is None else logits + self.offset
        return Logits(logits if self.cap is None else self.cap * (logits / self.cap).tanh())

    def views(self) -> Iterator[tuple[str, Tensor]]:
        if self.own is not None:
            yield "W_vocab", self.own.t()
        if self.bias is not None:
            yield "b_vocab", self.bias
