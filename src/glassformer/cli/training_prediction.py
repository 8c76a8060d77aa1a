"""What the algebra says of a training step before there is one: FLOPs and bytes, for any number of rows and tokens."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer import algebra
from glassformer.algebra.memory import Dtype, Kernel
from glassformer.program import build
from glassformer.spec import EncoderSpec

if TYPE_CHECKING:
    from glassformer.training.settings import Settings

ASKED = Fraction(15, 100)  # of the tokens of a masked-token step: its head is used there alone


class OneRow(NamedTuple):
    """What a row of some length adds to a step."""

    flops: float
    activations: float


def prediction(spec: EncoderSpec, settings: Settings, *, dtype: Dtype = "float32", trained: int | None = None) -> dict[str, Any]:
    """Parameters; FLOPs and bytes of a step on the longest inputs; and how both depend on rows and tokens.

    `flops_by` and `bytes_by`: a step costs `fixed`, and each row `row`, and so much a token and a pair of tokens.
    """
    longest = min(settings.max_length, spec.longest or settings.max_length) if spec.reads == "tokens" else None
    t = build(spec, batch=1, t=longest).sizes.t
    lengths = [t] if longest is None else sorted({t, max(1, t // 2), max(1, t // 4)})
    rows = [_row(spec, length if longest is not None else None, settings, dtype) for length in lengths]
    parameters = algebra.count(spec).total
    learned = parameters if trained is None else trained
    flops = _by_length(lengths, [row.flops for row in rows])
    size = _by_length(lengths, [row.activations for row in rows]) | {"fixed": 4.0 * (parameters + 3 * learned)}
    whole = rows[-1]
    return {
        "parameters": parameters,
        "matrix_flops": round(whole.flops * settings.batch_size * settings.accumulate),
        "bytes": round(size["fixed"] + whole.activations * settings.batch_size),
        "batch": settings.batch_size,
        "t": t,
        "flops_by": flops,
        "bytes_by": size,
    }


def _row(spec: EncoderSpec, t: int | None, settings: Settings, dtype: Dtype) -> OneRow:
    """A row through a training step; of a head alone, forward through the body, which keeps nothing for a way back."""
    program = build(spec, batch=1, t=t)
    if settings.train_only == "head":
        return OneRow(algebra.cost(program, which="forward", kernel="fused", dtype=dtype, asked=ASKED).matrix_flops, 0.0)
    kernel: Kernel = "compiled" if settings.precision == "fp8" or settings.compile == "yes" else "fused"
    found = algebra.cost(program, which="training", kernel=kernel, dtype=dtype, optimizer="adamw", asked=ASKED)
    return OneRow(found.matrix_flops, found.memory.activations)


def _by_length(lengths: list[int], costs: list[float]) -> dict[str, float]:
    """The coefficients of row + token · t + pair · t² through some points."""
    powers = np.vander(np.array(lengths, dtype=np.float64), len(lengths), increasing=True)
    found = np.linalg.solve(powers, np.array(costs, dtype=np.float64)).tolist()
    return dict(zip(("row", "token", "pair"), [*found, 0.0, 0.0], strict=False)) | {"fixed": 0.0}
