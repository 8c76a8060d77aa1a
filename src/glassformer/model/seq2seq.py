"""The whole Transformer (Vaswani et al. 2017, section 3.1): an encoder, and a decoder whose layers also read what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention, Context
from glassformer.model.core import Core, Layout, Padded, Rule
from glassformer.model.encoder import USUAL, Block, Inputs, Output, PlainEncoder, Wanted, output_norm
from glassformer.model.norms import Norm
from glassformer.model.variants.layer_scale import LayerScale
from glassformer.spec import EncoderSpec, Seq2SeqSpec


class Layouts(NamedTuple):
    """How the sources lie, how the targets lie, and how the sources lie for the targets that read them."""

    source: Layout
    target: Layout
    cross: Layout


class Pair(NamedTuple):
    """What one pass is given: the encoder's inputs, and the tokens that the decoder reads."""

    source: Inputs
    target: Inputs

    @property
    def rectangles(self) -> Layouts:
        """A row for each source and for each target, padded."""
        source = Padded(self.source.attend)
        return Layouts(source, Padded(self.target.attend), source)


class Both(NamedTuple):
    """What both stacks give."""

    states: Tensor  # [batch, u, d_model] of the decoder, after its final norm
    logits: Tensor | None  # of the next token at each of its positions
    source: Output  # what the encoder gives
    hidden: tuple[Tensor, ...]  # of the decoder: what enters its first layer, then what each layer gives
    weights: dict[int, Tensor]  # layer -> [batch, head, u, u]
    cross: dict[int, Tensor]  # layer -> [batch, head, u, t]: where the decoder looks in the source


class CrossBlock(Block):
    """A decoder layer over an encoder: causal attention, cross-attention, feed-forward."""

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__(spec, normed=normed)
        self.cross = Attention(spec)
        self.norm_cross = Norm(spec, spec.d_model) if spec.norm == "post" or spec.input_norm else nn.Identity()
        self.output_norm_cross = output_norm(spec)
        self.scale_cross = LayerScale(spec, "cross") if spec.layer_scale else nn.Identity()

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        x_BTD = self.residual(x_BTD, self.first_norm(context), partial(self.attend, context=context))
        x_BTD = self.residual(x_BTD, self.norm_cross, partial(self.look, context=context))
        return self.residual(x_BTD, self.norm_2, self.transform)

    def look(self, y_BTD: Tensor, context: Context) -> Tensor:
        assert context.source is not None
        return self.scale_cross(self.output_norm_cross(self.dropout(context.source(self.cross, y_BTD))))

    def cross_weights(self, x_BTD: Tensor, context: Context, memory_BSD: Tensor, core: Core) -> Tensor:
        """Where this layer looks in the source, given what enters it."""
        x_BTD = self.residual(x_BTD, self.first_norm(context), partial(self.attend, context=context))
        y_BTD = self.norm_cross(x_BTD) if self.pre else x_BTD
        return self.cross.weights(y_BTD, memory_BSD, Context(core))


class ParallelCrossBlock(CrossBlock):
    """The feed-forward block reads what enters the layer."""

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        y_BTD = x_BTD + self.attend(self.first_norm(context)(x_BTD), context)
        y_BTD = y_BTD + self.look(self.norm_cross(y_BTD), context)
        return y_BTD + self.transform(self.norm_2(x_BTD))


def read_source(attention: Attention, y_BTD: Tensor, *, memory_BSD: Tensor, core: Core) -> Tensor:
    """Cross-attention over the whole of the encoder's states."""
    return attention(y_BTD, memory_BSD, Context(core))


class PlainDecoder(PlainEncoder):
    """The decoder's stack."""

    def block_of(self, spec: EncoderSpec) -> Callable[..., nn.Module]:
        return ParallelCrossBlock if spec.residual == "parallel" else CrossBlock


class PlainSeq2Seq(nn.Module):
    """An encoder-decoder of any spec, as it is drawn."""

    rectangles_only = True
    here: Tensor

    def __init__(self, spec: Seq2SeqSpec) -> None:
        super().__init__()
        self.spec = spec
        self.encoder, self.decoder = PlainEncoder(spec.encoder), PlainDecoder(spec.decoder)
        self.register_buffer("here", torch.empty(0), persistent=False)
        self.share()

    def share(self) -> None:
        """One token table for both stacks, where the spec says so."""
        if self.spec.shares_table:
            self.decoder.embeddings.source.E_token = self.encoder.embeddings.source.E_token

    def blocks(self) -> Iterator[nn.Module]:
        """Yield every block of layers of both stacks once."""
        yield from self.encoder.blocks()
        yield from self.decoder.blocks()

    def run(self, given: Pair, wanted: Wanted = USUAL, layouts: Layouts | None = None) -> Both:
        """One pass over checked inputs: the encoder, then every position of the target at once."""
        layouts = layouts or given.rectangles
        source = self.encoder.run(given.source, layouts.source, Wanted(hidden=wanted.hidden))
        return self.decode(source, given, wanted, layouts)

    def decode(self, source: Output, given: Pair, wanted: Wanted = USUAL, layouts: Layouts | None = None) -> Both:
        """What the decoder makes of a target, given what the encoder made of the source."""
        layouts = layouts or given.rectangles
        core = core_over(source.states, layouts.cross)
        looking = partial(read_source, memory_BSD=source.states, core=core)
        decoder, target, layout = self.decoder, given.target, layouts.target
        x_BTD = decoder.embeddings(target.inputs, None, target.positions)
        weights, cross, hidden = {}, {}, [x_BTD] if wanted.hidden else []
        contexts = decoder.contexts(x_BTD.shape[1], x_BTD.dtype, layout, target.positions)
        for number, (block, plain) in enumerate(contexts):
            context = plain._replace(source=looking)
            if number in wanted.weights:
                weights[number] = block.weights(x_BTD, context)
                cross[number] = block.cross_weights(x_BTD, context, source.states, core)
            x_BTD = block(x_BTD, context)
            if wanted.hidden:
                hidden.append(x_BTD)
        states_BTD = decoder.final_norm(x_BTD)
        read = decoder.read(states_BTD, None, layout, target.predict_at)
        return Both(states_BTD, read.logits, source, tuple(hidden), weights, cross)


def core_over(memory_BSD: Tensor, layout: Layout) -> Core:
    """The core of cross-attention: every position of the target sees every real one of the source."""
    return layout.core(Rule(), None, t=memory_BSD.shape[1], dtype=memory_BSD.dtype, device=memory_BSD.device)
