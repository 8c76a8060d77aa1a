"""Step-by-step decoding of an encoder-decoder: keys and values of the source are computed once for all steps and beams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from glassformer.model.attention import Attention, Context
from glassformer.model.core import Core, added
from glassformer.model.encoder import Inputs
from glassformer.model.generation.cache import Now, StepCore
from glassformer.model.generation.decoding import Decoding
from glassformer.model.seq2seq import PlainSeq2Seq


class SourceDecoding(Decoding):
    """The state of some targets: their caches, and the keys and values of their sources, stored once for all beams of a text."""

    def __init__(self, model: PlainSeq2Seq, beams: int) -> None:
        super().__init__(model.decoder)
        self.encoder, self.beams = model.encoder, beams
        self.memories: list[tuple[Tensor, Tensor]] = []  # of each layer, [text, s, head, feature]
        self.core, self.texts = StepCore(None), 0
        self.texts_B = torch.empty(0)  # the text of each row

    def read(self, source_BS: Tensor, attend_BS: Tensor | None, start: int) -> Tensor:
        """Read the sources, padded on the right, and the start token of the targets; return the logits after it."""
        model, self.texts = self.model, len(source_BS)
        states_BSD = self.encoder.run(Inputs(source_BS, attend_BS)).states
        self.texts_B = torch.arange(self.texts, device=source_BS.device)
        self.core = StepCore(added(None if attend_BS is None else attend_BS[:, None, None], None, states_BSD.dtype))
        self.lengths_B, self.longest, self.equal = torch.zeros_like(self.texts_B), 0, True
        for place, layer in zip(model.places, self.layers, strict=True):
            cross: Any = model.layers[place.owner].cross
            k_BSJK, v_BSJV = cross.answers(states_BSD)
            self.memories.append((k_BSJK, v_BSJV))
            layer.fill(k_BSJK[:, :0], v_BSJV[:, :0], self.lengths_B)  # the two attentions have heads of the same sizes
        return self.step(torch.full_like(self.texts_B, start))

    def contexts(self, now: Now, dtype: torch.dtype) -> Iterator[tuple[Any, Context]]:
        for (block, context), memory in zip(super().contexts(now, dtype), self.memories, strict=True):
            yield block, context._replace(source=partial(look, memory=memory, core=self.core))

    def select(self, rows_B: Tensor) -> None:
        """Keep these rows, in this order: from the first choice on, as many rows in turn as there are beams are of one text."""
        super().select(rows_B)
        kept = self.texts_B[rows_B][:: self.beams]
        mask = self.core.mask
        if len(kept) < self.texts:
            self.memories = [(k_BSJK[kept], v_BSJV[kept]) for k_BSJK, v_BSJV in self.memories]
            mask = mask if mask is None else mask[kept]
        self.core, self.texts = StepCore(mask, self.beams), len(kept)
        self.texts_B = torch.arange(self.texts, device=rows_B.device).repeat_interleave(self.beams)


def look(attention: Attention, y_B1D: Tensor, *, memory: tuple[Tensor, Tensor], core: Core) -> Tensor:
    """Cross-attention with stored keys and values."""
    q_B1HK = attention.asked(y_B1D)
    mix_B1HV = attention.attend(q_B1HK, *memory, attention.core(y_B1D, q_B1HK, memory[0], Context(core)))
    return attention.out(mix_B1HV.flatten(-2))
