"""Predicted FLOPs and bytes of a training step, from the algebra, for any number of rows and tokens."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer import algebra
from glassformer.algebra.memory import Dtype
from glassformer.model.kept import COMPILED, FUSED, FUSED_ON_CPU
from glassformer.program import Program, build
from glassformer.spec import EncoderSpec

if TYPE_CHECKING:
    from glassformer.training.choosing import Choice
    from glassformer.training.settings import Settings


class OneRow(NamedTuple):
    """Cost that one row adds to a step."""

    flops: float
    activations: float


def prediction(
    spec: EncoderSpec, settings: Settings, *, dtype: Dtype = "float32", choice: Choice | None = None, device: str = "cpu"
) -> dict[str, Any]:
    """Return the parameter count, the FLOPs and bytes of a step of maximum length, and how both scale.

    `choice` says which weights are trained (None: all), and whether there are adapters.
    `flops_by` and `bytes_by` hold coefficients: `fixed` per step, `row` per row, `token` per token, `pair` per token pair.
    """
    longest = min(settings.max_length, spec.longest or settings.max_length) if spec.reads == "tokens" else None
    program = chosen(build(spec, batch=1, t=longest), choice)
    t = program.sizes.t
    lengths = [t] if longest is None else sorted({t, max(1, t // 2), max(1, t // 4)})
    every = [chosen(build(spec, batch=1, t=length if longest is not None else None), choice) for length in lengths]
    rows = [_row(one, settings, dtype, device) for one in every]
    parameters = sum(one.size for one in program.parameters)
    learned = sum(one.size for one in program.parameters if program.trained is None or one.name in program.trained)
    flops = _by_length(lengths, [row.flops for row in rows])
    size = _by_length(lengths, [row.activations for row in rows]) | {"fixed": 4.0 * (parameters + 3 * learned)}
    whole, batch = rows[-1], settings.rows_at(t)
    return {
        "parameters": parameters,
        "matrix_flops": round(whole.flops * batch * settings.accumulate),
        "bytes": round(size["fixed"] + whole.activations * batch),
        "batch": batch,
        "t": t,
        "flops_by": flops,
        "bytes_by": size,
    }


def chosen(program: Program, choice: Choice | None) -> Program:
    """Return the program with what is trained."""
    return program if choice is None else choice.program(program)


def _row(program: Program, settings: Settings, dtype: Dtype, device: str) -> OneRow:
    """Cost of one row in a training step."""
    asked = Fraction(1, program.sizes.t) if program.spec.reads_one_token else Fraction(str(settings.mlm_probability))
    eager = FUSED_ON_CPU if device == "cpu" else FUSED
    memory_model = COMPILED if settings.precision == "fp8" or settings.compile == "yes" else eager
    if settings.checkpointing == "yes":
        memory_model = memory_model.with_checkpoints()
    found = algebra.cost(
        program, which="training", memory_model=memory_model, dtype=dtype, optimizer="adamw", predicted_share=asked
    )
    return OneRow(found.matrix_flops, found.memory.activations)


def _by_length(lengths: list[int], costs: list[float]) -> dict[str, float]:
    """Fit the coefficients of row + token · t + pair · t² to the given points."""
    powers = np.vander(np.array(lengths, dtype=np.float64), len(lengths), increasing=True)
    found = np.linalg.solve(powers, np.array(costs, dtype=np.float64)).tolist()
    return dict(zip(("row", "token", "pair"), [*found, 0.0, 0.0], strict=False)) | {"fixed": 0.0}
