"""Padding: how padding changes the output, with and without the mask."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import SENTENCE, ids_of, program_for, requested, words_of
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.spec import EncoderSpec

PAD, PADDED = "[PAD]", 3

START = EncoderSpec(d_model=16, heads=2, layers=2, position="sinusoidal")
CHOSEN = {
    "vocab": "the sentence determines the number of words",
    "image": "the experiment reads words",
    "mels": "the experiment reads words",
    "batch": "there is one sentence",
    "t": "the sentence determines the number of tokens",
    "head": "the experiment compares the vectors of the tokens",
    "pooler": "the experiment compares the vectors of the tokens",
}


@dataclass(frozen=True)
class PaddingRow:
    """One comparison: the largest differences, at the real tokens and at the padding."""

    mask: bool
    question: str
    real: float
    padding: float | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Padding(Experiment):
    """The same sentence alone, padded, and padded with other words; with and without the mask."""

    name: ClassVar[str] = "padding"
    claim: ClassVar[str] = (
        "With the mask, padding has attention weight 0, so its content does not affect the real tokens; without the mask "
        "it does. A query whose keys are all masked gets zeros."
    )
    words: tuple[str, ...]
    real: int  # number of real words
    rows: tuple[PaddingRow, ...]
    weight_masked: float  # the largest weight on a padded key, over layers, heads and queries
    weight_bare: float
    no_keys: float  # the largest weight and value of `mix` if all keys are masked
    by_token: Floats  # [with mask / without, real token]: change of each output when the text is padded
    weights: Floats  # [with mask / without, t, s]: layer 0, head 0

    @property
    def checks(self) -> tuple[Check, ...]:
        padded, content, bare_padded, bare_content = (row.real for row in self.rows)
        return (
            Check("with the mask: change of the real tokens by other content in the padding", content, 0, 0),
            Check("with the mask: change of the real tokens by adding padding (rounding only)", padded, high=ROUNDING),
            Check("with the mask: largest weight on padding", self.weight_masked, 0, 0),
            Check("all keys masked: largest weight and value of mix", self.no_keys, 0, 0),
            Check("without the mask: change of the real tokens by adding padding", bare_padded, low=CLEARLY),
            Check("without the mask: change of the real tokens by other content", bare_content, low=CLEARLY),
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "real": self.real,
            "rows": [asdict(row) for row in self.rows],
            "weight_on_padding": {"with_mask": self.weight_masked, "without_mask": self.weight_bare},
            "no_keys": self.no_keys,
        }


def padding(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> Padding:
    """Pad a sentence, change the content of the padding, and measure which tokens change, with and without the mask."""
    words = words_of(text)
    padded = [*words, *[PAD] * PADDED]
    spec = requested(START.replace(vocab=len(set(words)) + 1), fields, chosen=CHOSEN).spec
    if not spec.layers:
        raise GlassformerError("layers=0 has no attention to mask. Give at least layers=1.")
    ids = np.array([ids_of(padded)])
    other = ids.copy()
    other[0, len(words) :] = ids[0, : len(words)][np.arange(PADDED) % len(words)]  # words of the sentence instead of [PAD]
    alone_program, program = program_for(spec, t=len(words)), program_for(spec, t=len(padded), padded=True)
    weights = random_weights(program, seed)
    alone = run(alone_program, weights, {"tokens": ids[:, : len(words)]}).output[0]
    real = (np.arange(len(padded)) < len(words))[None]

    runs = [run(program, weights, {"tokens": ids, "attend": attend}) for attend in (real, np.ones_like(real))]
    rows = tuple(row for found, mask in zip(runs, (True, False), strict=True) for row in _rows(found, alone, other, mask=mask))
    nothing = run(program, weights, {"tokens": ids, "attend": np.zeros_like(real)})
    count = len(words)
    return Padding(
        spec=spec,
        seed=seed,
        words=tuple(padded),
        real=count,
        rows=rows,
        weight_masked=_weight_on_padding(runs[0], count),
        weight_bare=_weight_on_padding(runs[1], count),
        no_keys=max(_largest(nothing, "weights"), _largest(nothing, "mix")),
        by_token=np.stack([np.abs(found.output[0, :count] - alone).max(axis=-1) for found in runs]),
        weights=np.stack([found["layers.0.attention.weights"][0, 0] for found in runs]),
    )


def _rows(found: Run, alone: Array, other: Array, *, mask: bool) -> tuple[PaddingRow, PaddingRow]:
    count = len(alone)
    longer = float(np.abs(found.output[0, :count] - alone).max())
    moved = np.abs(found.what_if({"tokens": other}).output[0]).max(axis=-1)
    return (
        PaddingRow(mask, "padded instead of alone", longer, None),
        PaddingRow(mask, "other words in the padding", float(moved[:count].max()), float(moved[count:].max())),
    )


def _weight_on_padding(found: Run, count: int) -> float:
    layers = range(found.program.spec.layers)
    return max(float(found[f"layers.{layer}.attention.weights"][..., count:].max()) for layer in layers)


def _largest(found: Run, symbol: str) -> float:
    layers = range(found.program.spec.layers)
    return max(float(np.abs(found[f"layers.{layer}.attention.{symbol}"]).max()) for layer in layers)
