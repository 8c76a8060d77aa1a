"""Scaling: why the scores are divided by the square root of d_k."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import Check, Experiment
from glassformer.numbers.experiments.setting import program_for, requested
from glassformer.numbers.run import run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec
from glassformer.spec.encoder_fields import Scale

WIDTHS = (4, 16, 64, 256, 1024)
TEXTS, TOKENS = 8, 32
MOST_TOKENS = 256

START = EncoderSpec(d_model=64, heads=1, d_k=WIDTHS[0], d_v=4, layers=1, block="attention", biases=())
CHOSEN = {
    "d_k": "the experiment varies it",
    "scale": "the experiment tries it both ways",
    "heads": "the experiment uses one head",
    "block": "the experiment uses attention alone",
    "layers": "the experiment uses one layer",
    "vocab": "the input is normal numbers",
    "position": "the input is normal numbers",
    "image": "the input is normal numbers",
    "mels": "the input is normal numbers",
    "biases": "a bias would add to the spread",
    "window": "the entropy is computed over all tokens",
    "attend": "the entropy is computed over all tokens",
}


@dataclass(frozen=True)
class Spread:
    """Statistics of a softmax: the spread of its scores, its entropy, and the size of its gradient."""

    scores: float  # standard deviation
    entropy: float  # in bits, mean over the rows of weights
    gradient: float  # Frobenius norm of ∂weights/∂scores, median over the rows


@dataclass(frozen=True)
class ScalingRow:
    """One d_k, with unscaled scores and with scores divided by √d_k."""

    d_k: int
    bare: Spread
    scaled: Spread


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scaling(Experiment):
    """Scores, entropy and gradient as d_k grows, with and without 1/√d_k."""

    name: ClassVar[str] = "scaling"
    claim: ClassVar[str] = (
        "The spread of the scores grows like √d_k; dividing by √d_k keeps it near 1. Without it, the softmax puts all its "
        "weight on one token as d_k grows, and its gradient vanishes."
    )
    tokens: int
    rows: tuple[ScalingRow, ...]

    @property
    def most_entropy(self) -> float:
        """The entropy of uniform weights, in bits."""
        return math.log2(self.tokens)

    @property
    def checks(self) -> tuple[Check, ...]:
        last = self.rows[-1]
        against_root = [row.bare.scores / math.sqrt(row.d_k) for row in self.rows]
        scaled = [row.scaled.scores for row in self.rows]
        steps = [later.bare.entropy - row.bare.entropy for row, later in pairwise(self.rows)]
        return (
            *(Check(f"spread of the scores / √d_k, {which}", edge(against_root), 0.7, 1.4) for which, edge in _EDGES),
            *(Check(f"spread of the scaled scores, {which}", edge(scaled), 0.7, 1.4) for which, edge in _EDGES),
            Check("entropy without scaling, largest step from one d_k to the next", max(steps), high=0),
            Check(f"entropy at d_k={last.d_k}, without / with scaling", last.bare.entropy / last.scaled.entropy, high=0.25),
            Check(f"gradient at d_k={last.d_k}, without / with scaling", last.bare.gradient / last.scaled.gradient, high=0.1),
        )

    def numbers(self) -> dict[str, Any]:
        return {"tokens": self.tokens, "rows": [asdict(row) for row in self.rows]}


_EDGES = (("smallest", min), ("largest", max))


def scaling(*, seed: int = 0, **fields: Any) -> Scaling:
    """Measure scores, entropy and the gradient of the softmax as d_k grows, with and without 1/√d_k."""
    request = requested(START, fields, chosen=CHOSEN)
    tokens = request.t or TOKENS
    if not 2 <= tokens <= MOST_TOKENS:
        raise GlassformerError(f"t={tokens} is not allowed here: from 2 to {MOST_TOKENS} tokens.")
    texts = request.batch if "batch" in fields else TEXTS
    if texts > TEXTS * 8:
        raise GlassformerError(f"batch={texts} is not allowed here: at most {TEXTS * 8} texts.")
    program_for(request.spec.replace(d_k=max(WIDTHS)), t=tokens)  # refuse a program that is too large before making its input
    x = np.random.default_rng([seed, 1]).normal(size=(texts, tokens, request.spec.d_model))
    rows = tuple(_row(request.spec.replace(d_k=d_k), x, seed) for d_k in WIDTHS)
    return Scaling(spec=request.spec, seed=seed, tokens=tokens, rows=rows)


def _row(spec: EncoderSpec, x: Array, seed: int) -> ScalingRow:
    return ScalingRow(spec.head_k, _spread(spec, "none", x, seed), _spread(spec, "d_k", x, seed))


def _spread(spec: EncoderSpec, scale: Scale, x: Array, seed: int) -> Spread:
    program = program_for(spec.replace(scale=scale), batch=len(x), t=x.shape[1])
    found = run(program, random_weights(program, seed), {"x": x})
    scores, weights = found["layers.0.attention.scores"], found["layers.0.attention.weights"]
    return Spread(float(scores.std()), float(entropy(weights).mean()), float(np.median(gradient_size(weights))))


def entropy(weights: Array) -> Array:
    """Return the entropy of each row of weights, in bits: from 0 (all on one token) to log2(tokens) (uniform)."""
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(axis=-1)


def gradient_size(weights: Array) -> Array:
    """Return the Frobenius norm of ∂weights/∂scores = diag(w) − w wᵀ, for each row w of weights."""
    squares = (weights**2).sum(axis=-1)
    # Σ (w_i δ_ij − w_i w_j)² = Σ w_i² − 2 Σ w_i³ + (Σ w_i²)²
    inside = squares - 2 * (weights**3).sum(axis=-1) + squares**2
    return np.sqrt(np.maximum(inside, 0))
