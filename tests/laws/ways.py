"""Two implementations behind one call: the float64 program, and the model in two precisions, plain and fast.

A law runs an implementation on an input, changes weights or input, and runs it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.model import Encoder
from glassformer.model.boundary import checks
from glassformer.model.core import Padded
from glassformer.model.encoder import Inputs, Wanted
from glassformer.model.fast import apply
from glassformer.numbers import run
from glassformer.program import build
from glassformer.spec import EncoderSpec

DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}
Array = NDArray[Any]
Weights = Mapping[str, Array]


@dataclass(frozen=True)
class Given:
    """One input, as NumPy arrays."""

    inputs: Array
    segments: Array | None = None
    attend: Array | None = None
    positions: Array | None = None

    def each(self, change: Any) -> Given:
        """The same change to every part that is there."""
        return Given(*(None if part is None else change(part) for part in self.parts))

    def but(self, **parts: Array | None) -> Given:
        return replace(self, **parts)

    @property
    def parts(self) -> tuple[Array | None, ...]:
        return self.inputs, self.segments, self.attend, self.positions


class Answer(NamedTuple):
    """All that comes out: [batch, t, …] for each token (what enters each layer, the end, logits), [batch, …] for the whole."""

    tokens: tuple[Array, ...]
    whole: tuple[Array, ...]


class Inside(NamedTuple):
    """One layer's attention: weights [batch, head, t, s], values [batch, s, head, d_v], their mix [batch, t, head, d_v]."""

    weights: Array
    values: Array
    mix: Array


class Way(Protocol):
    """One implementation of a spec."""

    name: str
    single: bool  # float32
    positions: bool  # whether it takes positions other than 0, 1, 2, …

    def __call__(self, spec: EncoderSpec, weights: Weights, given: Given) -> Answer:
        """What it answers."""

    def inside(self, spec: EncoderSpec, weights: Weights, given: Given) -> list[Inside]:
        """The attention of each layer."""


class ProgramWay:
    """The program, evaluated in float64."""

    name, single, positions = "program", False, False

    def run(self, spec: EncoderSpec, weights: Weights, given: Given) -> Any:
        assert given.positions is None
        t = None if spec.one_length else given.inputs.shape[1]
        program = build(spec, batch=len(given.inputs), t=t, padded=given.attend is not None)
        named = {program.inputs[0].name: given.inputs, "segments": given.segments, "attend": given.attend}
        return run(program, weights, {name: value for name, value in named.items() if value is not None})

    def __call__(self, spec: EncoderSpec, weights: Weights, given: Given) -> Answer:
        found = self.run(spec, weights, given)
        program = found.program
        of_tokens = {step.name: any(axis.name == "t" for axis in step.output.axes) for step in program.steps}
        tokens = [*found.hidden, *(found[name] for name in ("final_norm", "head.logits") if of_tokens.get(name))]
        last = program.steps[-1].name if program.steps else "x"
        whole = [] if of_tokens.get(last, True) else [found[last]]
        return Answer(tuple(tokens), tuple(whole))

    def inside(self, spec: EncoderSpec, weights: Weights, given: Given) -> list[Inside]:
        found = self.run(spec, weights, given)
        layers = [f"layers.{number}.attention." for number in range(spec.layers)]
        values = "v_shared" if spec.group > 1 else "v_rotated" if spec.rotary and spec.rotary_values else "v"  # as mixed
        return [Inside(found[f"{at}weights"], found[at + values], found[f"{at}mix"]) for at in layers]


class ModelWay:
    """The model, in evaluation: plain in float64, with its fast parts in float32."""

    positions = True

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype, self.single = dtype, dtype == torch.float32
        self.name = str(dtype).replace("torch.", "model ")
        self.last: tuple[Weights, EncoderSpec, Encoder] | None = None

    def encoder(self, spec: EncoderSpec, weights: Weights) -> Encoder:
        encoder = Encoder(spec, dtype=self.dtype, fresh=False)
        encoder.load_ledger(weights)
        return (apply(encoder) if self.single else encoder).eval()

    def kept(self, spec: EncoderSpec, weights: Weights) -> Encoder:
        """The encoder that was asked last, where it has these weights: making one takes longer than asking it."""
        if self.last is None or self.last[0] is not weights or self.last[1] != spec:
            self.last = (weights, spec, self.encoder(spec, weights))
        return self.last[2]

    def tensors(self, given: Given) -> list[torch.Tensor | None]:
        parts = [None if part is None else torch.from_numpy(np.ascontiguousarray(part)) for part in given.parts]
        return [part.to(self.dtype) if part is not None and part.is_floating_point() else part for part in parts]

    def __call__(self, spec: EncoderSpec, weights: Weights, given: Given) -> Answer:
        inputs, segments, attend, positions = self.tensors(given)
        encoder = self.kept(spec, weights)
        with torch.inference_mode():
            hidden = encoder(inputs, attend, segments, positions=positions, return_hidden=True).hidden
            output = encoder(inputs, attend, segments, positions=positions)  # as used, without access to its parts
        return answer_of(spec, output._replace(hidden=hidden))

    def inside(self, spec: EncoderSpec, weights: Weights, given: Given) -> list[Inside]:
        watch = Watching(self.tensors(given)[2])
        output = self.lying(spec, weights, given, watch)
        seen = watch.seen[: spec.layers]  # a pooler that attends comes after
        return [Inside(numbers(output.weights[i]), *map(numbers, pair)) for i, pair in enumerate(seen)]

    def lying(self, spec: EncoderSpec, weights: Weights, given: Given, layout: Any, *, weights_too: bool = True) -> Any:
        """A pass in a layout of the caller's."""
        encoder = self.encoder(spec, weights)
        inputs, segments, attend, positions = self.tensors(given)
        checked = checks.checked(spec, Inputs(inputs, attend, segments, positions), encoder.here, ())
        encoder.requires_grad_(requires_grad=False)  # torch's counter of FLOPs trips over parameters that want gradients
        with torch.no_grad():
            return encoder.run(checked, layout, Wanted(range(spec.layers if weights_too else 0), hidden=True))


def answer_of(spec: EncoderSpec, output: Any) -> Answer:
    """The model's output, by what it belongs to."""
    tokens = [*output.hidden] if spec.norm_after_last == "all" else [*output.hidden[:-1]]
    tokens.append(output.states)
    whole = [output.next_logits if output.next_logits is not None else output.logits]
    if spec.head in ("tag", "tag_patches", "mlm", "pretrain"):
        tokens.append(output.logits)
        whole = [output.next_logits]
    elif output.logits is None:
        whole = [output.pooled]
    return Answer(tuple(map(numbers, tokens)), tuple(numbers(value) for value in whole if value is not None))


def numbers(tensor: torch.Tensor) -> Array:
    found: Array = tensor.detach().double().numpy()
    return found


class Watching:
    """A padded rectangle that notes what goes into attention and what comes out, or writes the attention out."""

    def __init__(self, attend: torch.Tensor | None, *, written_out: bool = False) -> None:
        self.inner, self.written_out = Padded(attend), written_out
        self.seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def core(self, *args: Any, **kwargs: Any) -> Any:
        return WatchedCore(self.inner.core(*args, **kwargs), self)


class WatchedCore:
    """The core attention of a layer, observed from outside."""

    def __init__(self, core: Any, watch: Watching) -> None:
        self.core, self.watch = core, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def mix(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float, dropout: float) -> torch.Tensor:
        if self.watch.written_out:
            return self.core.weights(q, k, scale=scale).matmul(v.transpose(1, 2)).transpose(1, 2)
        mix = self.core.mix(q, k, v, scale=scale, dropout=dropout)
        self.watch.seen.append((v, mix))
        return mix

    def with_bias(self, bias: torch.Tensor) -> Any:
        return WatchedCore(self.core.with_bias(bias), self.watch)


PROGRAM, DOUBLE, SINGLE = ProgramWay(), ModelWay(torch.float64), ModelWay(torch.float32)
WAYS: tuple[Way, ...] = (PROGRAM, DOUBLE, SINGLE)


def apart(one: Array, other: Array) -> float:
    """The largest difference, as a share of the largest number there (or of 1); infinite where shapes differ."""
    if one.shape != other.shape:
        return float("inf")
    if not one.size:
        return 0.0
    gap = np.abs(one - other).max() / max(1.0, np.abs(other).max())
    return float("inf") if np.isnan(gap) else float(gap)


def furthest(one: Answer, other: Answer, real: Array | None = None) -> float:
    """`apart` over all that came out; where `real` is given, at real tokens alone."""
    gaps = [apart(a, b) for a, b in zip(one.whole, other.whole, strict=True)]
    pairs = zip(one.tokens, other.tokens, strict=True)
    gaps += [apart(a, b) if real is None else apart(a[real], b[real]) for a, b in pairs]
    return max(gaps, default=0.0)
