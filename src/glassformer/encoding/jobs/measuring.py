"""The share of the device's peak that a job reaches: FLOPs counted by the algebra, and a measured peak."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from glassformer.model import LoadedModel
    from glassformer.spec import EncoderSpec

SAMPLED = (8, 64, 128)  # lengths at which the cost is computed; it is a polynomial of the length


def work_of(model: LoadedModel, kind: str, found: Sequence[Any], *, peak: bool) -> dict[str, float]:
    """Return the FLOPs of the matrix products of some passes and, if wanted, the peak of the device that computed them."""
    spec = model.spec.replace(head="none", pooler="none") if kind == "encode" else model.spec
    each = forward_flops(spec)
    tokens, pairs = (sum(getattr(some, name) for some in found) for name in ("tokens", "pairs"))
    rows = sum(len(some.numbers) for some in found)
    here = model.encoder.here
    fastest = peak_of(here.device, here.dtype) if peak else 0.0
    return {"flops": float(np.dot(each, (rows, tokens, pairs))), "peak": fastest}


@cache
def forward_flops(spec: EncoderSpec) -> tuple[float, ...]:
    """Return the FLOPs of a forward pass per text, per token and per pair of tokens."""
    from glassformer import algebra
    from glassformer.program import build

    lengths = sorted({min(t, spec.longest or t) for t in SAMPLED})
    costs = [algebra.cost(build(spec, batch=1, t=t)).matrix_flops for t in lengths]
    powers = np.vander(np.array(lengths, dtype=np.float64), len(lengths), increasing=True)
    found = np.linalg.solve(powers, np.array(costs, dtype=np.float64)).tolist()
    return tuple([*found, 0.0, 0.0][:3])


@cache
def peak_of(device: Any, dtype: Any) -> float:
    """Return the FLOP/s of the largest matrix products on this device, with this process's threads."""
    from glassformer.training.measuring import peak_flops

    return peak_flops(device, dtype)
