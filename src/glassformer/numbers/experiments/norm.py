"""Norm: what each step of LayerNorm does to mean and variance, and what pre and post do along the depth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.numbers.experiments.experiment import ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import asked_for, program_for
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.spec import EncoderSpec, GlassformerError
from glassformer.spec.encoder_spec import NormPlace

TOKENS, MOST_TOKENS = 16, 256
LEAST_LAYERS = 6
OFFSET, WIDTH = 1.0, 2.0  # the input has a mean and a variance that a norm must take away

START = EncoderSpec(d_model=64, heads=4, layers=24)
CHOSEN = {
    "norm": "the experiment tries both",
    "norm_kind": "RMSNorm has no mean to take away; this is about LayerNorm",
    "final_norm": "the experiment compares the stream before it",
    "first_norm": "every layer has its norms here",
    "embedding_norm": "the input shall have a mean and a variance of its own",
    "block": "bare attention has no norm",
    "vocab": "the input is normal numbers",
    "image": "the input is normal numbers",
    "mels": "the input is normal numbers",
    "position": "the input is normal numbers",
    "head": "the experiment looks at the tokens' own vectors",
    "pooler": "the experiment looks at the tokens' own vectors",
    "batch": "there is one text",
}


@dataclass(frozen=True)
class NormStep:
    """One step of LayerNorm: mean and variance over the features of a token, as means over the tokens."""

    step: str
    mean: float
    variance: float
    values: Floats  # [t, d_model]

    def off_mean(self, wanted: float) -> float:
        """How far the mean of the worst token is from what is wanted."""
        return float(np.abs(self.values.mean(axis=-1) - wanted).max())

    def off_variance(self, wanted: float) -> float:
        return float(np.abs(self.values.var(axis=-1) - wanted).max())


@dataclass(frozen=True)
class Depth:
    """What leaves layer `layer` (from 1): variance over the features, and how much the layer changed what came in."""

    layer: int
    post: float
    pre: float
    change_post: float
    change_pre: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Norm(Experiment):
    """The four steps of one LayerNorm, and the residual stream of a post-norm and a pre-norm encoder."""

    name: ClassVar[str] = "norm"
    claim: ClassVar[str] = (
        "LayerNorm gives every token mean 0 and variance 1, then γ and β give what training likes. After the sum (post) "
        "it holds the stream at that size in every layer; before the sub-layer (pre) the stream grows with depth."
    )
    steps: tuple[NormStep, ...]
    depth: tuple[Depth, ...]
    final: float  # variance after the final norm of the pre-norm encoder

    @property
    def checks(self) -> tuple[Check, ...]:
        centred, normalised = self.steps[1], self.steps[2]
        first, middle, last = self.depth[0], self.depth[len(self.depth) // 2], self.depth[-1]
        post = [row.post for row in self.depth]
        return (
            Check("centred, every token's mean is 0", centred.off_mean(0), high=ROUNDING),
            Check("… and the variance as it was", abs(centred.variance - self.steps[0].variance), high=ROUNDING),
            Check("normalised, every token's mean is 0", normalised.off_mean(0), high=ROUNDING),
            Check("… and its variance 1, but for eps", normalised.off_variance(1), high=1e-4),
            Check("post: the smallest variance along the depth", min(post), 0.5, 2),
            Check("post: the largest variance along the depth", max(post), 0.5, 2),
            Check("pre: variance half way / after the first layer", middle.pre / first.pre, low=1.05),
            Check("pre: variance after the last layer / half way", last.pre / middle.pre, low=1.05),
            Check("pre: variance after the final norm", self.final, 0.5, 2),
        )

    def numbers(self) -> dict[str, Any]:
        steps = [{"step": row.step, "mean": row.mean, "variance": row.variance} for row in self.steps]
        return {"steps": steps, "depth": [asdict(row) for row in self.depth], "final": self.final}


def norm(*, seed: int = 0, **fields: Any) -> Norm:
    """Measure mean and variance after each step of LayerNorm, and along the depth of a post- and a pre-norm encoder."""
    asked = asked_for(START, fields, chosen=CHOSEN)
    tokens = asked.t or TOKENS
    if tokens > MOST_TOKENS:
        raise GlassformerError(f"t={tokens} is not allowed here: at most {MOST_TOKENS} tokens.")
    if asked.spec.layers < LEAST_LAYERS:
        raise GlassformerError(f"layers={asked.spec.layers} is too little depth to look along. Give at least {LEAST_LAYERS}.")
    program_for(asked.spec, t=tokens)  # an encoder that is too large is refused before its input is made
    x = OFFSET + WIDTH * np.random.default_rng([seed, 1]).normal(size=(1, tokens, asked.spec.d_model))
    post, pre = (_run(asked.spec, place, x, seed) for place in ("post", "pre"))
    depth = tuple(
        Depth(
            layer + 1,
            *(_variance(found.hidden[layer + 1]) for found in (post, pre)),
            *(_change(found, layer) for found in (post, pre)),
        )
        for layer in range(asked.spec.layers)
    )
    return Norm(spec=asked.spec, seed=seed, steps=_steps(post), depth=depth, final=_variance(pre.output))


def _run(spec: EncoderSpec, place: NormPlace, x: Array, seed: int) -> Run:
    program = program_for(spec.replace(norm=place), t=x.shape[1])
    return run(program, random_weights(program, seed), {"x": x})


def _steps(found: Run) -> tuple[NormStep, ...]:
    """The first norm of the first layer, step by step."""
    place = "layers.0.norm_1"
    sum_, mean = found["layers.0.sum_1"], found[f"{place}.mean"]
    values = {
        "what comes in": sum_,
        "minus its mean": sum_ - mean[..., None],
        "divided by √(variance + eps)": found[f"{place}.normalised"],
        "times γ, plus β": found[place],
    }
    return tuple(NormStep(step, float(value.mean()), _variance(value), value[0]) for step, value in values.items())


def _variance(value: Array) -> float:
    """The variance over the features of a token, the mean over the tokens."""
    return float(value.var(axis=-1).mean())


def _change(found: Run, layer: int) -> float:
    """How far a layer moves the vectors, relative to their length."""
    before, after = found.hidden[layer], found.hidden[layer + 1]
    return float((np.linalg.norm(after - before, axis=-1) / np.linalg.norm(before, axis=-1)).mean())
