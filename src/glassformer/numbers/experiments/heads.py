"""Heads: their number does not change the parameter count, but it changes the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.numbers.experiments.experiment import CLEARLY, ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import SENTENCE, divisor, program_for, requested, vectors_of, words_of
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.spec import EncoderSpec

MOST_ROWS = 6

START = EncoderSpec(d_model=16, heads=1, layers=1, block="attention")
CHOSEN = {
    "heads": "the experiment varies it",
    "kv_heads": "every head of the experiment has its own keys and values",
    "d_k": "it must be d_model / heads, or the count would depend on the heads",
    "d_v": "it must be d_model / heads, or the count would depend on the heads",
    "block": "the experiment uses attention alone",
    "layers": "the experiment uses one layer",
    "vocab": "the words are given as vectors",
    "position": "positions inside the heads would depend on the head width",
    "image": "the experiment reads words",
    "mels": "the experiment reads words",
    "head": "the experiment compares the vectors of the tokens",
    "pooler": "the experiment compares the vectors of the tokens",
    "final_norm": "the experiment uses attention alone",
    "batch": "there is one sentence",
    "t": "the sentence determines the number of tokens",
}


@dataclass(frozen=True)
class HeadsRow:
    """One way to split the same matrices into heads."""

    heads: int
    d_k: int
    parameters: int
    moved: float  # largest difference of the output from that of one head
    scores: float  # difference of the summed scores of the heads, before scaling, from those of one head
    blocks: float  # difference of the sum of full-width heads that are zero outside their block
    weights: Floats  # [head, t, s]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Heads(Experiment):
    """The same weight matrices split into 1, 2, 4, … heads."""

    name: ClassVar[str] = "heads"
    claim: ClassVar[str] = (
        "With d_k = d_model / heads, the number of heads does not change the parameter count, but it changes the output: "
        "h heads equal h full-width heads that are zero outside their own block of features, each with its own softmax."
    )
    words: tuple[str, ...]
    rows: tuple[HeadsRow, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        others = self.rows[1:]
        counts = [row.parameters for row in self.rows]
        return (
            Check("parameters: largest minus smallest count", max(counts) - min(counts), low=0, high=0),
            *(Check(f"{row.heads} heads give a different output from one", row.moved, low=CLEARLY) for row in others),
            Check(
                "the scores of the heads, before scaling, sum to those of one head",
                max(r.scores for r in self.rows),
                high=ROUNDING,
            ),
            Check(
                "the heads equal full-width heads with zeros outside their block", max(r.blocks for r in self.rows), high=ROUNDING
            ),
        )

    def numbers(self) -> dict[str, Any]:
        names = ("heads", "d_k", "parameters", "moved", "scores", "blocks")
        return {"words": list(self.words), "rows": [{name: getattr(row, name) for name in names} for row in self.rows]}


def heads(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> Heads:
    """Split the same weight matrices into 1, 2, 4, … heads: count the parameters, compare the outputs."""
    words = words_of(text)
    spec = requested(START, fields, chosen=CHOSEN).spec
    matrices = random_weights(program_for(spec, t=len(words)), seed)
    x = vectors_of(words, spec.d_model, seed)[None]
    one = _attend(spec, matrices, x)
    rows = tuple(_row(spec.replace(heads=count), matrices, x, one) for count in _counts(spec.d_model))
    return Heads(spec=spec, seed=seed, words=tuple(words), rows=rows)


def _counts(d_model: int) -> list[int]:
    """Return the powers of two that divide d_model, or all divisors if there are few such powers."""
    divisors = [count for count in range(1, d_model + 1) if d_model % count == 0]
    powers = [count for count in divisors if count & (count - 1) == 0]
    return (powers if len(powers) > 2 else divisors)[:MOST_ROWS]


def _attend(spec: EncoderSpec, matrices: dict[str, Array], x: Array) -> Run:
    """Run attention with the given matrices split into the heads of `spec`, which is a reshape."""
    program = program_for(spec, t=x.shape[1])
    return run(program, {p.name: matrices[p.name].reshape(p.tensor.shape) for p in program.parameters}, {"x": x})


def _row(spec: EncoderSpec, matrices: dict[str, Array], x: Array, one: Run) -> HeadsRow:
    found = _attend(spec, matrices, x)
    scores, whole = ((_unscaled(each)).sum(axis=1) for each in (found, one))
    return HeadsRow(
        heads=spec.heads,
        d_k=spec.head_k,
        parameters=sum(parameter.size for parameter in found.program.parameters),
        moved=float(np.abs(found.output - one.output).max()),
        scores=float(np.abs(scores - whole).max()),
        blocks=float(np.abs(_sum_of_blocks(spec, matrices, x) - found.output).max()),
        weights=found["layers.0.attention.weights"][0],
    )


def _unscaled(found: Run) -> Array:
    return found["layers.0.attention.scores"] * divisor(found.program.spec)


def _sum_of_blocks(spec: EncoderSpec, matrices: dict[str, Array], x: Array) -> Array:
    """Sum the outputs of full-width heads, one per block of features, with queries and values zero outside the block."""
    whole = spec.replace(heads=1, scale="none")
    place = "layers.0.attention."
    total = np.zeros(x.shape)
    for head in range(spec.heads):
        block = np.zeros(spec.d_model)
        block[head * spec.head_k : (head + 1) * spec.head_k] = 1
        own = dict(matrices)
        for symbol, factor in (("W_Q", block / divisor(spec)), ("b_Q", block / divisor(spec)), ("W_V", block), ("b_V", block)):
            if place + symbol in own:
                own[place + symbol] = own[place + symbol] * factor
        if head and place + "b_O" in own:
            own[place + "b_O"] = np.zeros(spec.d_model)  # the output bias is added once
        total += _attend(whole, own, x).output
    return total
