"""Pooling by attention: a learned query reads all tokens (SigLIP)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention, Context
from glassformer.model.core import Layout, Rule
from glassformer.model.feed_forward import FeedForward
from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec


class AttentionPooler(nn.Module):
    """A learned query reads all tokens, and a feed-forward block follows (SigLIP)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(1, spec.d_model))
        self.attention = Attention(spec)
        self.norm = Norm(spec, spec.d_model)
        self.ffn = FeedForward(spec)

    def forward(self, states_BSD: Tensor, layout: Layout) -> Tensor:
        query_BTD = self.query.expand(states_BSD.shape[0], -1, -1)
        core = layout.core(Rule(), None, t=states_BSD.shape[1], dtype=states_BSD.dtype, device=states_BSD.device)
        read_BTD = self.attention(query_BTD, states_BSD, Context(core))
        out_BTD = read_BTD + self.ffn(self.norm(read_BTD))
        return out_BTD[:, 0]
