"""Norm: mean and variance after each step of LayerNorm, and along the depth of pre-norm and post-norm encoders."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import program_for, requested
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.spec import EncoderSpec
from glassformer.spec.encoder_fields import NormPlace

TOKENS, MOST_TOKENS = 16, 256
LEAST_LAYERS = 6
OFFSET, WIDTH = 1.0, 2.0  # mean and standard deviation of the input, for the norm to remove

START = EncoderSpec(d_model=64, heads=4, layers=24)
CHOSEN = {
    "norm": "the experiment tries both",
    "norm_kind": "the experiment is about LayerNorm; RMSNorm does not subtract the mean",
    "final_norm": "the experiment compares the residual stream before it",
    "first_norm": "every layer needs its norms",
    "embedding_norm": "the input must not be normalised yet",
    "block": "attention alone has no norm",
    "vocab": "the input is normal numbers",
    "image": "the input is normal numbers",
    "mels": "the input is normal numbers",
    "position": "the input is normal numbers",
    "head": "the experiment compares the vectors of the tokens",
    "pooler": "the experiment compares the vectors of the tokens",
    "batch": "there is one text",
}


@dataclass(frozen=True)
class NormStep:
    """One step of LayerNorm: mean and variance over the features of a token, averaged over the tokens."""

    step: str
    mean: float
    variance: float
    values: Floats  # [t, d_model]

    def off_mean(self, wanted: float) -> float:
        """Return the largest deviation of a token's mean from the expected one."""
        return float(np.abs(self.values.mean(axis=-1) - wanted).max())

    def off_variance(self, wanted: float) -> float:
        return float(np.abs(self.values.var(axis=-1) - wanted).max())


@dataclass(frozen=True)
class Depth:
    """The output of layer `layer` (from 1): variance over the features, and relative change by the layer."""

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
        "LayerNorm gives every token mean 0 and variance 1, which γ and β then rescale and shift. After the sum (post) it "
        "keeps the residual stream at that size in every layer; before the sub-layer (pre) the stream grows with depth."
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
            Check("after centring, the mean of every token is 0", centred.off_mean(0), high=ROUNDING),
            Check("… and the variance is unchanged", abs(centred.variance - self.steps[0].variance), high=ROUNDING),
            Check("after normalising, the mean of every token is 0", normalised.off_mean(0), high=ROUNDING),
            Check("… and its variance is 1, except for eps", normalised.off_variance(1), high=1e-4),
            Check("post: the smallest variance of any layer", min(post), 0.5, 2),
            Check("post: the largest variance of any layer", max(post), 0.5, 2),
            Check("pre: variance in the middle / after the first layer", middle.pre / first.pre, low=1.05),
            Check("pre: variance after the last layer / in the middle", last.pre / middle.pre, low=1.05),
            Check("pre: variance after the final norm", self.final, 0.5, 2),
        )

    def numbers(self) -> dict[str, Any]:
        steps = [{"step": row.step, "mean": row.mean, "variance": row.variance} for row in self.steps]
        return {"steps": steps, "depth": [asdict(row) for row in self.depth], "final": self.final}


def norm(*, seed: int = 0, **fields: Any) -> Norm:
    """Measure mean and variance after each step of LayerNorm, and along the depth of a post- and a pre-norm encoder."""
    request = requested(START, fields, chosen=CHOSEN)
    tokens = request.t or TOKENS
    if tokens > MOST_TOKENS:
        raise GlassformerError(f"t={tokens} is not allowed here: at most {MOST_TOKENS} tokens.")
    if request.spec.layers < LEAST_LAYERS:
        raise GlassformerError(f"layers={request.spec.layers} is too few to show a trend. Give at least {LEAST_LAYERS}.")
    program_for(request.spec, t=tokens)  # refuse an encoder that is too large before making its input
    x = OFFSET + WIDTH * np.random.default_rng([seed, 1]).normal(size=(1, tokens, request.spec.d_model))
    post, pre = (_run(request.spec, place, x, seed) for place in ("post", "pre"))
    depth = tuple(
        Depth(
            layer + 1,
            *(_variance(found.hidden[layer + 1]) for found in (post, pre)),
            *(_change(found, layer) for found in (post, pre)),
        )
        for layer in range(request.spec.layers)
    )
    return Norm(spec=request.spec, seed=seed, steps=_steps(post), depth=depth, final=_variance(pre.output))


def _run(spec: EncoderSpec, place: NormPlace, x: Array, seed: int) -> Run:
    program = program_for(spec.replace(norm=place), t=x.shape[1])
    return run(program, random_weights(program, seed), {"x": x})


def _steps(found: Run) -> tuple[NormStep, ...]:
    """Return the steps of the first norm of the first layer."""
    place = "layers.0.norm_1"
    sum_, mean = found["layers.0.sum_1"], found[f"{place}.mean"]
    values = {
        "input": sum_,
        "minus the mean": sum_ - mean[..., None],
        "divided by √(variance + eps)": found[f"{place}.normalised"],
        "times γ, plus β": found[place],
    }
    return tuple(NormStep(step, float(value.mean()), _variance(value), value[0]) for step, value in values.items())


def _variance(value: Array) -> float:
    """Return the variance over the features of a token, averaged over the tokens."""
    return float(value.var(axis=-1).mean())


def _change(found: Run, layer: int) -> float:
    """Return how much a layer changes the vectors, relative to their length."""
    before, after = found.hidden[layer], found.hidden[layer + 1]
    return float((np.linalg.norm(after - before, axis=-1) / np.linalg.norm(before, axis=-1)).mean())
