"""Predicted FLOPs and bytes of a training step, from the algebra, for any number of rows and tokens."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer import algebra
from glassformer.algebra.memory import Dtype
from glassformer.model.kept import COMPILED, FUSED, FUSED_ON_CPU
from glassformer.program import Program, build
from glassformer.spec import EncoderSpec, Seq2SeqSpec

if TYPE_CHECKING:
    from glassformer.training.choosing import Choice
    from glassformer.training.settings import Settings


# The terms of the cost of a row, as powers of the length of its text (t) and, for encoder-decoders, of its target (u).
POWERS = {"row": (0, 0), "token": (1, 0), "pair": (2, 0), "target": (0, 1), "target_pair": (0, 2), "cross": (1, 1)}


class OneRow(NamedTuple):
    """Cost that one row adds to a step."""

    flops: float
    activations: float


def prediction(
    spec: EncoderSpec,
    settings: Settings,
    *,
    dtype: Dtype = "float32",
    choice: Choice | None = None,
    device: str = "cpu",
    texts: int = 1,
) -> dict[str, Any]:
    """Return the parameter count, the FLOPs and bytes of a step of maximum length, and how both scale.

    `texts` is the number of sequences of a row, which is 2 or 3 for sentence embeddings. `choice` says which weights are trained
    (None: all), and whether there are adapters.
    `flops_by` and `bytes_by` hold coefficients: those of `POWERS`, and `fixed` per step.
    """
    longest = min(settings.max_length, spec.longest or settings.max_length) if spec.reads == "tokens" else None
    program = chosen(build(spec, batch=1, t=longest), choice)
    t, paired = program.sizes.t, isinstance(spec, Seq2SeqSpec)
    lengths: list[tuple[int | None, int]] = [(None, 0)] if longest is None else [*lengths_for(t, paired=paired)]
    measured = [(one or t, other) for one, other in lengths]
    every = [chosen(build(spec, batch=1, t=one, u=other or None), choice) for one, other in lengths]
    cache = settings.gradient_cache if texts > 1 else None
    rows = [_row(one, settings, dtype, device, twice=cache is not None) for one in every]
    parameters = sum(one.size for one in program.parameters)
    learned = sum(one.size for one in program.parameters if program.trained is None or one.name in program.trained)
    flops = _by_length(measured, [row.flops for row in rows])
    size = _by_length(measured, [row.activations for row in rows]) | {"fixed": 4.0 * (parameters + 3 * learned)}
    if cache is not None:  # only the activations of one part are stored at a time
        size = dict.fromkeys(size, 0.0) | {"fixed": size["fixed"] + rows[-1].activations * cache / t}
        rows = [row._replace(activations=0.0) for row in rows]
    whole, batch = rows[-1], texts * settings.rows_at(2 * t if paired else texts * t)
    return {
        "parameters": parameters,
        "matrix_flops": round(whole.flops * batch * settings.accumulate),
        "bytes": round(size["fixed"] + whole.activations * batch),
        "batch": batch,
        "t": t,
        "flops_by": flops,
        "bytes_by": size,
    } | ({"u": t} if paired else {})


def chosen(program: Program, choice: Choice | None) -> Program:
    """Return the program with what is trained."""
    return program if choice is None else choice.program(program)


def lengths_for(t: int, *, paired: bool) -> list[tuple[int, int]]:
    """Return different lengths of a source and a target, from which all coefficients can be computed, the longest last."""
    half, quarter = max(1, t // 2), max(1, t // 4)
    if not paired:
        return [(length, 0) for length in sorted({t, half, quarter})]
    return list(dict.fromkeys([(quarter, quarter), (half, quarter), (t, quarter), (quarter, half), (quarter, t), (t, t)]))


def _row(program: Program, settings: Settings, dtype: Dtype, device: str, *, twice: bool = False) -> OneRow:
    """Cost of one row in a training step; with a gradient cache, the forward pass is computed twice."""
    asked = Fraction(1, program.sizes.t) if program.spec.reads_one_token else Fraction(str(settings.mlm_probability))
    asked = Fraction(1) if program.spec.predicts_next else asked
    eager = FUSED_ON_CPU if device == "cpu" else FUSED
    memory_model = COMPILED if settings.precision == "fp8" or settings.compile == "yes" else eager
    if settings.checkpointing == "yes":
        memory_model = memory_model.with_checkpoints()
    cost = partial(algebra.cost, program, memory_model=memory_model, dtype=dtype, predicted_share=asked)
    found = cost(which="training", optimizer="adamw")
    again = cost(which="forward").matrix_flops if twice else 0.0
    return OneRow(found.matrix_flops + again, found.memory.activations)


def _by_length(lengths: list[tuple[int, int]], costs: list[float]) -> dict[str, float]:
    """Fit the coefficients of the powers of t and u to the given points."""
    names = [name for name in POWERS if lengths[0][1] or not POWERS[name][1]][: len(lengths)]
    points = np.array(lengths, dtype=np.float64)
    powers = np.stack([points[:, 0] ** POWERS[name][0] * points[:, 1] ** POWERS[name][1] for name in names], axis=1)
    found, *_ = np.linalg.lstsq(powers, np.array(costs, dtype=np.float64))
    return dict.fromkeys(POWERS, 0.0) | dict(zip(names, found.tolist(), strict=True)) | {"fixed": 0.0}
