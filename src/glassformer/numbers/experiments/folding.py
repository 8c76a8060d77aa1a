"""Folding: the scale and shift of a norm absorbed into the matrices after it, in pre-norm and in post-norm encoders."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, Check, Experiment
from glassformer.numbers.experiments.setting import program_for, requested
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program import Program
from glassformer.program.axes import Array, Floats
from glassformer.program.operations import Affine
from glassformer.spec import EncoderSpec
from glassformer.spec.encoder_fields import NormPlace

TOKENS, MOST_TOKENS = 8, 256
SAME = 1e-11  # folding multiplies matrices, so the last digits differ

START = EncoderSpec(d_model=32, heads=4, layers=4)
CHOSEN = {
    "norm": "the experiment tries both",
    "norm_kind": "the experiment folds a scale and a shift; RMSNorm has no shift",
    "biases": "the folded shift becomes part of the biases",
    "block": "attention alone has no norm",
    "first_norm": "every layer needs its norms",
    "final_norm": "the experiment folds the norms of the layers",
    "embedding_norm": "the experiment folds the norms of the layers",
    "share_layers": "every norm needs its own matrices after it",
    "vocab": "the input is normal numbers",
    "image": "the input is normal numbers",
    "mels": "the input is normal numbers",
    "position": "the input is normal numbers",
    "head": "the experiment compares the vectors of the tokens",
    "pooler": "the experiment compares the vectors of the tokens",
    "batch": "there is one text",
}


@dataclass(frozen=True)
class Depth:
    """After one layer (from 1): the largest difference between the model with folded norms and the original."""

    layer: int
    pre: float
    post: float
    relative: float  # of post-norm: the length of the difference, as a share of the vector's


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Folding(Experiment):
    """The norms of a pre-norm and of a post-norm encoder, folded in the same way."""

    name: ClassVar[str] = "folding"
    claim: ClassVar[str] = (
        "Before a sub-layer (pre), γ and β of a norm can be folded into the matrices that read it, and no output changes. "
        "After the residual sum (post), the residual stream carries γ and β, too, so the same folding changes the outputs: what "
        "is attributed to a folded post-norm model is not true of the original."
    )
    rows: tuple[Depth, ...]
    readers: dict[str, tuple[int, int]]  # by place: readers of all norms, and those among them that are matrices

    @property
    def checks(self) -> tuple[Check, ...]:
        (pre_all, pre_matrices), (post_all, post_matrices) = self.readers["pre"], self.readers["post"]
        return (
            Check("pre: the outputs are the same after every layer", max(row.pre for row in self.rows), high=SAME),
            Check("pre: readers of a norm that are not a matrix", pre_all - pre_matrices, 0, 0),
            Check("post: the outputs differ after the first layer", self.rows[0].post, low=CLEARLY),
            Check("post: the outputs differ after the last layer", self.rows[-1].post, low=CLEARLY),
            Check("post: readers of a norm that are not a matrix", post_all - post_matrices, low=1),
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "rows": [asdict(row) for row in self.rows],
            "readers": {place: list(counts) for place, counts in self.readers.items()},
        }


def folding(*, seed: int = 0, **fields: Any) -> Folding:
    """Fold γ and β of every norm into the matrices that read it, in a pre-norm and in a post-norm encoder."""
    request = requested(START, fields, chosen=CHOSEN)
    tokens = request.t or TOKENS
    if tokens > MOST_TOKENS:
        raise GlassformerError(f"t={tokens} is not allowed here: at most {MOST_TOKENS} tokens.")
    if not request.spec.layers:
        raise GlassformerError("layers=0 has no norms to fold. Give at least layers=1.")
    program_for(request.spec, t=tokens)  # refuse an encoder that is too large before making its input
    x = np.random.default_rng([seed, 1]).normal(size=(1, tokens, request.spec.d_model))
    pairs = {place: _pair(request.spec, place, x, seed) for place in ("pre", "post")}
    apart = {place: [_difference(pair, layer) for layer in range(request.spec.layers)] for place, pair in pairs.items()}
    rows = [
        Depth(
            layer + 1, float(np.abs(before).max()), float(np.abs(after).max()), _share(after, pairs["post"][0].hidden[layer + 1])
        )
        for layer, (before, after) in enumerate(zip(apart["pre"], apart["post"], strict=True))
    ]
    return Folding(
        spec=request.spec,
        seed=seed,
        rows=tuple(rows),
        readers={place: _readers(pair[0].program) for place, pair in pairs.items()},
    )


def folded(program: Program, weights: dict[str, Array]) -> dict[str, Array]:
    """The weights with γ = 1 and β = 0 in every norm that matrices read; its scale and shift are folded into these matrices."""
    new = dict(weights)
    for norm in _norms(program):
        gamma, beta = norm.inputs[1].name, norm.inputs[2].name
        matrices = [step for step in program.steps if _reads(step, norm.name) and isinstance(step.operation, Affine)]
        for step in matrices:
            matrix, bias = (tensor.name for tensor in step.inputs[1:3])
            new[bias] = new[bias] + np.tensordot(weights[beta], new[matrix], axes=1)
            new[matrix] = weights[gamma].reshape(-1, *[1] * (new[matrix].ndim - 1)) * new[matrix]
        if matrices:
            new[gamma], new[beta] = np.ones_like(weights[gamma]), np.zeros_like(weights[beta])
    return new


def _norms(program: Program) -> list[Any]:
    """The last steps of the norms of layers: scaled and shifted."""
    return [step for step in program.steps if step.role == "norm output" and step.block.layer is not None]


def _reads(step: Any, name: str) -> bool:
    return any(tensor.name == name for tensor in step.inputs)


def _readers(program: Program) -> tuple[int, int]:
    """How many steps read a norm's output, and how many of them are matrices."""
    found = [step for norm in _norms(program) for step in program.steps if _reads(step, norm.name)]
    return len(found), sum(isinstance(step.operation, Affine) for step in found)


def _pair(spec: EncoderSpec, place: NormPlace, x: Array, seed: int) -> tuple[Run, Run]:
    program = program_for(spec.replace(norm=place), t=x.shape[1])
    weights = random_weights(program, seed)
    return run(program, weights, {"x": x}), run(program, folded(program, weights), {"x": x})


def _difference(pair: tuple[Run, Run], layer: int) -> Floats:
    return np.asarray(pair[1].hidden[layer + 1] - pair[0].hidden[layer + 1])


def _share(difference: Floats, vectors: Floats) -> float:
    return float((np.linalg.norm(difference, axis=-1) / np.linalg.norm(vectors, axis=-1)).mean())
