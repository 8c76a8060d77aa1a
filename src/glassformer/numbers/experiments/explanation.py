"""Explanation: two models with equal outputs on a sentence, whose attention differs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, Check, Experiment
from glassformer.numbers.experiments.setting import divisor, program_for, requested, vectors_of, words_of
from glassformer.numbers.run import run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.program.operations.lookups import sinusoidal_table
from glassformer.spec import EncoderSpec

SENTENCE = "the old man watched a small boat that slowly left our harbour"
LEAST_WEIGHT = 1e-3  # of a changed weight, so that its score, a logarithm, stays moderate
SAME = 1e-9  # the second model's queries and keys solve linear equations, which costs a few digits

START = EncoderSpec(d_model=32, heads=2, d_v=4, layers=1, block="attention", position="none")
CHOSEN = {
    "d_k": "scores are chosen freely, which needs as many features as words",
    "kv_heads": "every head of the experiment has its own keys and values",
    "attend": "every weight must be free to change",
    "window": "every weight must be free to change",
    "block": "the experiment uses attention alone",
    "layers": "the experiment uses one layer",
    "vocab": "the words are given as vectors",
    "position": "positions are added to the vectors of the words",
    "image": "the experiment reads words",
    "mels": "the experiment reads words",
    "head": "the experiment compares the vectors of the tokens",
    "pooler": "the experiment compares the vectors of the tokens",
    "final_norm": "the experiment uses attention alone",
    "batch": "there is one sentence",
    "t": "the sentence determines the number of tokens",
}


@dataclass(frozen=True)
class Query:
    """One query of the first head: the word it attends to most, in each model."""

    word: str
    most: str
    weight: float
    weight_there: float  # of the same word in the second model
    most_there: str
    moved: float  # half of the sum of absolute differences of the weights: the share that moved


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(Experiment):
    """A model, and a second one with other queries and keys, whose outputs on the sentence are the same."""

    name: ClassVar[str] = "explanation"
    claim: ClassVar[str] = (
        "Attention weights are not an explanation by themselves: with more tokens than features in a head, other weights mix the "
        "values to the same result. A model with other queries and keys then has the same outputs on a sentence, and attends to "
        "other words."
    )
    words: tuple[str, ...]
    rows: tuple[Query, ...]
    same: float  # largest difference of the outputs on the sentence
    other: float  # … on the same words in the reverse order
    moved: float  # mean share of the attention that moved, over all heads and queries
    changed: int  # queries, over all heads, that attend most to another word
    weights: Floats  # [model, head, t, s]

    @property
    def checks(self) -> tuple[Check, ...]:
        return (
            Check("the outputs on the sentence are the same", self.same, high=SAME),
            Check("share of the attention that goes to other words", self.moved, low=0.05),
            Check("queries that attend most to another word", self.changed, low=1),
            Check("on another order of the words the outputs differ", self.other, low=CLEARLY),
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "rows": [asdict(row) for row in self.rows],
            "same": self.same,
            "other": self.other,
            "moved": self.moved,
            "changed": self.changed,
        }


def explanation(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> Explanation:
    """Build a second model with the same outputs on a sentence, whose weights are as far from the first one's as possible."""
    words = words_of(text)
    base = requested(START, fields, chosen=CHOSEN).spec
    spec = base.replace(d_k=len(words))
    _check_sizes(spec, len(words))
    program = program_for(spec, t=len(words))
    weights = random_weights(program, seed)
    places = sinusoidal_table(len(words), spec.d_model)
    x = (vectors_of(words, spec.d_model, seed) + places)[None]
    one = run(program, weights, {"x": x})
    before = one["layers.0.attention.weights"][0]
    values = one["layers.0.attention.v"][0].transpose(1, 0, 2)
    wanted = np.stack([_elsewhere(grid, value) for grid, value in zip(before, values, strict=True)])
    other = weights | _queries_and_keys(spec, x[0], np.log(wanted))
    two, backward = run(program, other, {"x": x}), (x[0] - places)[::-1] + places
    after = two["layers.0.attention.weights"][0]
    moved = np.abs(after - before).sum(axis=-1) / 2
    turned = [run(program, each, {"x": backward[None]}).output for each in (weights, other)]
    return Explanation(
        spec=spec,
        seed=seed,
        words=tuple(words),
        rows=tuple(_row(words, place, before[0], after[0], moved[0]) for place in range(len(words))),
        same=float(np.abs(two.output - one.output).max()),
        other=float(np.abs(turned[0] - turned[1]).max()),
        moved=float(moved.mean()),
        changed=int((before.argmax(-1) != after.argmax(-1)).sum()),
        weights=np.stack([before, after]),
    )


def _check_sizes(spec: EncoderSpec, words: int) -> None:
    if words < spec.head_v + 2:
        raise GlassformerError(
            f"{words} words leave no freedom: with d_v={spec.head_v} features in a head, the same mix needs the same weights "
            f"up to {spec.head_v + 1} words. Try a longer text or a smaller d_v."
        )
    if words > spec.d_model:
        raise GlassformerError(
            f"{words} words are more than d_model={spec.d_model}: their vectors are not independent. Try a larger d_model."
        )


def _elsewhere(grid: Floats, values: Floats) -> Floats:
    """Weights that mix `values` to the same result, with as little weight as possible on each query's largest key."""
    kept = np.concatenate([values, np.ones((len(values), 1))], axis=1).T  # the mixed values, and the sum of the weights
    return np.stack([_row_elsewhere(row, kept) for row in grid])


def _row_elsewhere(row: Floats, kept: Floats) -> Floats:
    """Walk from `row` where `kept @ weights` is constant, away from the largest weight, along the edges of what is allowed."""
    first, least = int(row.argmax()), min(LEAST_WEIGHT, float(row.min()))
    weights, free = row.copy(), np.ones(len(row), dtype=bool)
    while free[first]:
        _, sizes, directions = np.linalg.svd(kept[:, free])
        rank = int((sizes > sizes[0] * 1e-10).sum())
        null = directions[rank:]
        step = np.zeros(len(row))
        step[free] = -null.T @ null[:, int(free[:first].sum())]
        if step[first] > -1e-9:
            break
        ahead = np.where(step < 0, (weights - least) / np.where(step < 0, -step, 1.0), np.inf)
        blocking = int(ahead.argmin())
        weights = weights + ahead[blocking] * step
        free[blocking] = False
    return np.maximum(weights, least)


def _queries_and_keys(spec: EncoderSpec, x: Floats, scores: Floats) -> dict[str, Array]:
    """Matrices W_Q and W_K that give these scores [head, t, s] on the tokens `x`; their biases are 0."""
    inverse = np.linalg.pinv(x)
    queries, keys = [], []
    for grid in scores:
        left, sizes, right = np.linalg.svd(inverse @ (grid * divisor(spec)) @ inverse.T)
        roots = np.sqrt(sizes[: spec.head_k])
        queries.append(left[:, : spec.head_k] * roots)
        keys.append(right[: spec.head_k].T * roots)
    place = "layers.0.attention."
    found = {f"{place}W_Q": np.stack(queries, axis=1), f"{place}W_K": np.stack(keys, axis=1)}
    none = np.zeros((spec.heads, spec.head_k))
    return found | {f"{place}b_{letter}": none for letter in "QK" if spec.bias("q" if letter == "Q" else "k")}


def _row(words: list[str], place: int, before: Floats, after: Floats, moved: Floats) -> Query:
    first, second = int(before[place].argmax()), int(after[place].argmax())
    here, there = float(before[place, first]), float(after[place, first])
    return Query(words[place], words[first], here, there, words[second], float(moved[place]))
