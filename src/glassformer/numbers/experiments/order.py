"""Order: without positions, the outputs of an encoder permute with its tokens, and equal words get equal vectors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, get_args

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import SENTENCE, ids_of, program_for, requested, words_of
from glassformer.numbers.run import run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.spec import EncoderSpec
from glassformer.spec.encoder_fields import Position

POSITIONS: tuple[Position, ...] = tuple(
    kind for kind in get_args(Position) if kind in ("none", "learned", "sinusoidal", "rotary", "relative")
)
PERMUTATIONS = 20

START = EncoderSpec(d_model=16, heads=2, layers=2)
CHOSEN = {
    "position": "the experiment tries each kind",
    "positions": "the sentence determines the size of the table",
    "vocab": "the sentence determines the number of words",
    "batch": "the permutations are the batch",
    "t": "the sentence determines the number of tokens",
    "head": "the experiment compares the vectors of the tokens",
    "pooler": "the experiment compares the vectors of the tokens",
}


@dataclass(frozen=True)
class OrderRow:
    """One kind of position: four largest differences, and the outputs of the sentence in its original order."""

    position: str
    moved: float  # outputs compared token by token, at their new positions
    in_place: float  # outputs compared position by position
    mean: float  # the mean over the tokens
    twins: float  # positions with the same word: the largest difference (without positions), the smallest (with positions)
    outputs: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Order(Experiment):
    """The outputs under permutations of the tokens, with each kind of position and with none."""

    name: ClassVar[str] = "order"
    claim: ClassVar[str] = (
        "Without positions an encoder is equivariant to order, not invariant: if the tokens are permuted, the outputs "
        "permute with them, and equal words get equal vectors. Any kind of position makes them differ."
    )
    words: tuple[str, ...]
    permuted: tuple[str, ...]  # the first of the permutations, as words
    rows: tuple[OrderRow, ...]

    @property
    def twin(self) -> str:
        """The word that occurs twice."""
        return next(word for word in self.words if self.words.count(word) > 1)

    @property
    def checks(self) -> tuple[Check, ...]:
        bare, *placed = self.rows
        return (
            Check("without positions the outputs permute with the tokens (equivariant)", bare.moved, high=ROUNDING),
            Check("… and differ position by position (not invariant)", bare.in_place, low=CLEARLY),
            Check("… but their mean does not change (invariant)", bare.mean, high=ROUNDING),
            Check(f"without positions each '{self.twin}' gets the same vector", bare.twins, high=ROUNDING),
            *(Check(f"position={row.position} gives them different vectors", row.twins, low=CLEARLY) for row in placed),
            *(Check(f"position={row.position} makes outputs depend on order", row.moved, low=CLEARLY) for row in placed),
        )

    def numbers(self) -> dict[str, Any]:
        rows = [
            {"position": row.position, "moved": row.moved, "in_place": row.in_place, "mean": row.mean, "twins": row.twins}
            for row in self.rows
        ]
        words = {"words": list(self.words), "permuted": list(self.permuted), "permutations": PERMUTATIONS}
        return {**words, "rows": rows}


def order(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> Order:
    """Permute the tokens of a sentence and compare the outputs, with each kind of position and with none."""
    words = words_of(text)
    if len(set(words)) in (1, len(words)):
        raise GlassformerError("the text must contain a repeated word and two different words: 'Tom a été … été'.")
    spec = requested(START.replace(vocab=len(set(words))), fields, chosen=CHOSEN).spec
    permutations = _permutations(words, seed)
    rows = tuple(_row(spec.replace(position=kind, positions=len(words)), words, permutations, seed) for kind in POSITIONS)
    permuted = tuple(words[place] for place in permutations[0])
    return Order(spec=spec, seed=seed, words=tuple(words), permuted=permuted, rows=rows)


def _permutations(words: list[str], seed: int) -> Array:
    """Return orders of the words that differ from the original; `permutation[i]` is the old position of the word now at i."""
    rng = np.random.default_rng([seed, 2])
    found: list[Array] = []
    while len(found) < PERMUTATIONS:
        permutation = rng.permutation(len(words))
        if [words[place] for place in permutation] != words:
            found.append(permutation)
    return np.array(found)


def _row(spec: EncoderSpec, words: list[str], permutations: Array, seed: int) -> OrderRow:
    program = program_for(spec, batch=1 + len(permutations), t=len(words))
    ids = np.array(ids_of(words))
    outputs = run(program, random_weights(program, seed), {"tokens": np.stack([ids, *ids[permutations]])}).output
    before, after = outputs[0], outputs[1:]
    pairs = [(i, j) for i, j in combinations(range(len(words)), 2) if words[i] == words[j]]
    apart = [float(np.abs(before[i] - before[j]).max()) for i, j in pairs]
    return OrderRow(
        position=spec.position,
        moved=float(np.abs(after - before[permutations]).max()),
        in_place=float(np.abs(after - before).max()),
        mean=float(np.abs(after.mean(axis=1) - before.mean(axis=0)).max()),
        twins=max(apart) if spec.position == "none" else min(apart),
        outputs=before,
    )
