"""One batch with each head, feed-forward block or layer silenced in turn; earlier steps are computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from glassformer.errors import GlassformerError
from glassformer.insight.hooks import tapped
from glassformer.insight.taps import Hook
from glassformer.model.attention import Context
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.core import Layout
from glassformer.model.encoder import Inputs, Output
from glassformer.model.fast.encoder import FastEncoder
from glassformer.model.fast.onednn import laid_out, serves
from glassformer.model.fast.unpadding import Inside

Kind = Literal["head", "ffn", "layer"]
KINDS: tuple[Kind, ...] = ("head", "ffn", "layer")


class Part(NamedTuple):
    """A silenced part: the output of a head or feed-forward block is 0; a layer returns its input."""

    kind: Kind
    layer: int
    head: int | None = None

    @property
    def name(self) -> str:
        """`layer 3 head 5`, `layer 3 ffn`, `layer 3`."""
        return f"layer {self.layer}" + {"head": f" head {self.head}", "ffn": " ffn", "layer": ""}[self.kind]


def parts_of(encoder: Encoder, kinds: Sequence[Kind]) -> list[Part]:
    """Every part of these kinds, layer by layer."""
    spec, found = encoder.spec, list[Part]()
    for layer in range(spec.layers):
        found += [Part("head", layer, head) for head in range(spec.heads)] if "head" in kinds else []
        found += [Part("ffn", layer)] if "ffn" in kinds and spec.block == "layer" else []
        found += [Part("layer", layer)] if "layer" in kinds else []
    return found


class StartedBatch(NamedTuple):
    """A batch after its first pass: the input of each layer, the output of the last one, and the other arguments of layers."""

    states: list[Tensor]
    contexts: list[tuple[Any, Context]]
    layout: Layout
    places: Tensor | None  # flat indices of the tokens that the head reads; the last layer computes only these


class PartialPass:
    """Passes that start at any layer, on the fast parts of an encoder."""

    def __init__(self, encoder: Encoder) -> None:
        if encoder.spec.funnel:
            raise GlassformerError("this needs layers that read sequences of one length, and with funnel they are pooled.")
        self.encoder = laid_out(encoder) if isinstance(encoder, FastEncoder) and serves(encoder) else copy(encoder)
        self.encoder.rectangles_only = True  # the hidden states of a packed row could not be changed row by row

    def begin(self, given: Inputs, layout: Layout, *, whole: bool = False) -> StartedBatch:
        """Run the layers and keep the input of each; `whole` computes the last one for every token."""
        x = self.encoder.embeddings(given.inputs, given.segments, given.positions)
        contexts = list(self.encoder.contexts(x.shape[1], x.dtype, layout, given.positions))
        places = None
        if not whole and isinstance(self.encoder, FastEncoder) and self.encoder.head is not None:
            places = self.encoder.places_read(x.shape[0], x.shape[1], Inside(layout, None), given.predict_at)
        states = [x]
        for number, (block, context) in enumerate(contexts):
            if places is not None and number == len(contexts) - 1:
                break
            states.append(block(states[-1], context))
        return StartedBatch(states, contexts, layout, places)

    def end(self, started: StartedBatch, x_BTD: Tensor, first: int) -> Tensor:
        """The logits if `x_BTD` is the input of layer `first`."""
        last = len(started.contexts) - 1
        for number in range(first, last + 1):
            block, context = started.contexts[number]
            if number == last and started.places is not None and isinstance(self.encoder, FastEncoder):
                states_ND = block(x_BTD, context, started.places)[0]
                return _logits(self.encoder.read_alone(self.encoder.final_norm(states_ND), started.layout))
            x_BTD = block(x_BTD, context)
        return _logits(finish(self.encoder, x_BTD, started.layout))


class Silencer:
    """An encoder whose parts are silenced one at a time, batch by batch."""

    def __init__(self, encoder: Encoder, kinds: Sequence[Kind] = KINDS) -> None:
        self.parts = parts_of(encoder, kinds)
        self.partial_pass = PartialPass(encoder)
        names = [f"layers.{layer}.attention.mix" for layer in range(encoder.spec.layers)]
        names += [f"layers.{part.layer}.ffn.out" for part in self.parts if part.kind == "ffn"]
        self.tapped = tapped(encoder, dict.fromkeys(names, _unchanged))
        self.taps = self.tapped.taps

    def logits(self, given: Inputs, layout: Layout) -> Iterator[Tensor]:
        """The logits [batch, class] of the whole encoder, then those with each part silenced, in the order of `parts`."""
        started = self.partial_pass.begin(given, layout)
        yield self.partial_pass.end(started, started.states[-1], len(started.states) - 1)
        held: tuple[int, Tensor] | None = None
        for part in self.parts:
            if part.kind == "layer":
                yield self.partial_pass.end(started, started.states[part.layer], part.layer + 1)
                continue
            if held is None or held[0] != part.layer:
                held = part.layer, self._mix(started, part.layer)
            yield self.partial_pass.end(started, self._changed(started, part, held[1]), part.layer + 1)

    def _mix(self, started: StartedBatch, layer: int) -> Tensor:
        """The mix of all heads of a layer, computed once for all silenced heads."""
        seen: list[Tensor] = []
        self._run(started, layer, {"attention.mix": seen.append})
        return seen[0]

    def _changed(self, started: StartedBatch, part: Part, mix_BTHV: Tensor) -> Tensor:
        """The output of a layer with a head or its feed-forward block silenced."""
        if part.kind == "ffn":
            return self._run(started, part.layer, {"ffn.out": torch.zeros_like}, mix_BTHV)
        silent_BTHV = mix_BTHV.clone()
        silent_BTHV[:, :, part.head] = 0
        return self._run(started, part.layer, {}, silent_BTHV)

    def _run(self, started: StartedBatch, layer: int, hooks: Mapping[str, Hook], mix: Tensor | None = None) -> Tensor:
        block, context = self.tapped.layers[str(self.tapped.spec.layer_weights(layer))], started.contexts[layer][1]
        self.taps.layer = layer
        self.taps.hooks = {f"layers.{layer}.{name}": hook for name, hook in hooks.items()}
        self.taps.held = {} if mix is None else {f"layers.{layer}.attention.mix": mix}
        out: Tensor = block(started.states[layer], context)
        return out


def finish(encoder: Encoder, x_BTD: Tensor, layout: Layout, predict_at: Tensor | None = None) -> Output:
    """Apply final norm, pooler and head to the output of the last layer."""
    states_BTD = encoder.final_norm(x_BTD)
    pooled_BD = encoder.pooler(states_BTD, layout) if encoder.pooler is not None else None
    return encoder.read(states_BTD, pooled_BD, layout, predict_at)


def _logits(output: Output) -> Tensor:
    assert output.logits is not None
    return output.logits


def _unchanged(value: Tensor) -> Tensor:
    return value
