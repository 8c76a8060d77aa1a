"""The whole Transformer (Vaswani et al. 2017, section 3.1): an encoder, and a decoder whose layers also read its output."""

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
    """The layouts of sources, of targets, and of sources as the targets read them."""

    source: Layout
    target: Layout
    cross: Layout


class Pair(NamedTuple):
    """The inputs of a forward pass: those of the encoder, and the tokens that the decoder reads."""

    source: Inputs
    target: Inputs

    @property
    def rectangles(self) -> Layouts:
        """A row for each source and for each target, padded."""
        source = Padded(self.source.attend)
        return Layouts(source, Padded(self.target.attend), source)


class Both(NamedTuple):
    """The outputs of both stacks."""

    states: Tensor  # [batch, u, d_model] of the decoder, after its final norm
    logits: Tensor | None  # of the next token at each of its positions
    source: Output  # the output of the encoder
    hidden: tuple[Tensor, ...]  # of the decoder: the input of its first layer, then the output of each layer
    weights: dict[int, Tensor]  # layer -> [batch, head, u, u]
    cross: dict[int, Tensor]  # layer -> [batch, head, u, t]: cross-attention weights


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
        """The cross-attention weights of this layer, given its input."""
        x_BTD = self.residual(x_BTD, self.first_norm(context), partial(self.attend, context=context))
        y_BTD = self.norm_cross(x_BTD) if self.pre else x_BTD
        return self.cross.weights(y_BTD, memory_BSD, Context(core))


class ParallelCrossBlock(CrossBlock):
    """The feed-forward block reads the input of the layer."""

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
    """An encoder-decoder of any spec, as in the paper."""

    rectangles_only = True
    here: Tensor

    def __init__(self, spec: Seq2SeqSpec) -> None:
        super().__init__()
        self.spec = spec
        self.encoder, self.decoder = PlainEncoder(spec.encoder), PlainDecoder(spec.decoder)
        self.register_buffer("here", torch.empty(0), persistent=False)
        self.share()

    def share(self) -> None:
        """Share one token table between both stacks, if the spec says so."""
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
        """The decoder's output for a target, given the encoder's output for the source."""
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
    """The core of cross-attention: every position of the target attends to every real position of the source."""
    return layout.core(Rule(), None, t=memory_BSD.shape[1], dtype=memory_BSD.dtype, device=memory_BSD.device)
