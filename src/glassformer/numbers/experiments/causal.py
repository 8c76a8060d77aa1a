"""Causal: a later token changes no earlier output of a decoder, exactly; without the mask it does."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import SENTENCE, ids_of, program_for, requested, words_of
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program import Program
from glassformer.program.axes import Array, Floats
from glassformer.program.operations import Mask
from glassformer.spec import DecoderSpec

START = DecoderSpec(d_model=16, heads=2, layers=2, position="sinusoidal", next_token=False)
CHOSEN = {
    "vocab": "the sentence determines the number of words",
    "batch": "there is one sentence",
    "t": "the sentence determines the number of tokens",
    "next_token": "the experiment compares the vectors of the tokens",
}


@dataclass(frozen=True)
class CausalRow:
    """One word replaced: the largest change of the outputs before it, at it, and after it."""

    word: str
    before: float | None  # None if there are none
    at: float
    after: float | None
    before_bare: float | None  # without the mask


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Causal(Experiment):
    """Each word of a sentence replaced by another: which outputs change, with the causal mask and without."""

    name: ClassVar[str] = "causal"
    claim: ClassVar[str] = (
        "With the causal mask, a token changes no output before it: the difference is exactly 0, because its weights there are "
        "0. So the outputs of a text include those of each of its prefixes. Without the mask they change."
    )
    words: tuple[str, ...]
    rows: tuple[CausalRow, ...]
    above: float  # the largest weight on a later key
    beginnings: float  # the largest difference between the outputs of a text and those of its prefixes alone
    moved: Floats  # [with mask / without, replaced word, output]: largest change
    weights: Floats  # [with mask / without, t, s]: layer 0, head 0

    @property
    def checks(self) -> tuple[Check, ...]:
        earlier, itself = [row.before for row in self.rows if row.before is not None], min(row.at for row in self.rows)
        bare = min(row.before_bare for row in self.rows if row.before_bare is not None)
        return (
            Check("causal: change of the outputs before a replaced token", max(earlier), 0, 0),
            Check("causal: largest weight on a later token", self.above, 0, 0),
            Check("causal: outputs of a text against those of its prefixes (rounding only)", self.beginnings, high=ROUNDING),
            Check("causal: change of the output at a replaced token", itself, low=CLEARLY),
            Check("without the mask: change of the outputs before a replaced token", bare, low=CLEARLY),
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "rows": [asdict(row) for row in self.rows],
            "weight_on_later_tokens": self.above,
            "beginnings": self.beginnings,
        }


def causal(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> Causal:
    """Replace each word of a sentence in turn, and measure which outputs change, with the causal mask and without."""
    words = words_of(text)
    spec = requested(START.replace(vocab=len(set(words)) + 1), fields, chosen=CHOSEN).spec
    if not spec.layers:
        raise GlassformerError("layers=0 has no attention to mask. Give at least layers=1.")
    ids, other = np.array([ids_of(words)]), len(set(words))
    program = program_for(spec, t=len(words))
    weights = random_weights(program, seed)
    masked = run(program, weights, {"tokens": ids})
    bare = run(unmasked(program), weights, {"tokens": ids})
    moved = np.stack([_moved(found, ids, other) for found in (masked, bare)])
    short = (run(program_for(spec, t=t), weights, {"tokens": ids[:, :t]}) for t in range(1, len(words)))
    apart = [float(np.abs(found.output[0] - masked.output[0, : found.program.sizes.t]).max()) for found in short]
    drawn = [found["layers.0.attention.weights"] for found in (masked, bare)]
    layers = [masked[f"layers.{layer}.attention.weights"] for layer in range(spec.layers)]
    return Causal(
        spec=spec,
        seed=seed,
        words=tuple(words),
        rows=tuple(_row(words, place, moved) for place in range(len(words))),
        above=max(float(np.triu(grid, 1).max()) for grid in layers),
        beginnings=max(apart),
        moved=moved,
        weights=np.stack([grid[0, 0] for grid in drawn]),
    )


def unmasked(program: Program) -> Program:
    """The same program, with tokens that also attend to later ones; a window stays."""
    steps = [
        step._replace(operation=replace(step.operation, causal=False)) if isinstance(step.operation, Mask) else step
        for step in program.steps
    ]
    return replace(program, steps=steps)


def _moved(found: Run, ids: Array, other: int) -> Floats:
    """[replaced word, output]: the largest change of each output if one word is replaced."""
    changes = []
    for place in range(ids.shape[1]):
        new = ids.copy()
        new[0, place] = other
        changes.append(np.abs(found.what_if({"tokens": new}).output[0]).max(axis=-1))
    return np.stack(changes)


def _row(words: list[str], place: int, moved: Floats) -> CausalRow:
    masked, bare = moved[0, place], moved[1, place]
    return CausalRow(
        words[place],
        before=float(masked[:place].max()) if place else None,
        at=float(masked[place]),
        after=float(masked[place + 1 :].max()) if place + 1 < len(words) else None,
        before_bare=float(bare[:place].max()) if place else None,
    )
