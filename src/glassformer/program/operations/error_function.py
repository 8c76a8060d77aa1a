"""The error function for NumPy arrays, accurate to one or two units in the last place."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from glassformer.program.axes import Array

# Below this many numbers the standard library, called for each number, is exact and fast enough.
FEW = 4096
# Numbers per block, chosen to stay in the processor's cache between operations.
CHUNK = 16384


def erf(x: Array) -> Array:
    """The error function of each element."""
    if x.size <= FEW:
        return np.array([math.erf(value) for value in x.ravel()]).reshape(x.shape)
    flat = np.ascontiguousarray(x, dtype=np.float64).ravel()
    result = np.empty_like(flat)
    for start in range(0, flat.size, CHUNK):
        result[start : start + CHUNK] = _near_knots(flat[start : start + CHUNK])
    return result.reshape(x.shape)


# Taylor expansion about the nearest of equally spaced knots. All derivatives of erf at a knot are polynomials times one
# Gaussian, so that two tables are enough; with knots this close, of the fifth term only the part at knot 0 still counts.
PER_UNIT = 1024
REACH = 6  # beyond it, erf is 1 to the last digit


@lru_cache(maxsize=1)
def _tables() -> tuple[Array, Array]:
    """erf and its derivative at each knot."""
    knots = np.arange(-REACH * PER_UNIT, REACH * PER_UNIT + 1) / PER_UNIT
    return np.array([math.erf(knot) for knot in knots]), 2 / math.sqrt(math.pi) * np.exp(-knots * knots)


def _near_knots(x: Array) -> Array:
    values, slopes = _tables()
    clipped = np.fmax(np.fmin(x, REACH), -REACH)  # NaN becomes a number here, and is restored below
    number = np.rint(clipped * PER_UNIT)
    knot = number / PER_UNIT
    away = clipped - knot
    # erf(knot + away) = erf(knot) + slope · away · (1 − z + (2z² − q)/3 − (2z³ − 3zq)/6 + q²/10), z = knot · away, q = away²
    z, q = knot * away, away * away
    series = 1 + z * (z * (2 / 3 - z / 3) - 1) + q * (z / 2 - 1 / 3 + q / 10)
    index = number.astype(np.intp) + REACH * PER_UNIT
    result = values[index] + slopes[index] * away * series
    return np.where(np.isnan(x), np.nan, result)
