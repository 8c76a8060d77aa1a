"""The error function for NumPy arrays, to the last digit or two (NumPy has none, and SciPy is too large a guest)."""

from __future__ import annotations

import math

import numpy as np

from glassformer.program.axes import Array

# Below this many numbers the standard library, one by one, is exact and quick enough.
FEW = 4096


def erf(x: Array) -> Array:
    """The error function of each element."""
    if x.size <= FEW:
        return np.array([math.erf(value) for value in x.ravel()]).reshape(x.shape)
    return _table_erf(x)


# Taylor expansion about the nearest of equally spaced knots: derivatives of erf are Hermite polynomials times a Gaussian.
STEP = 1 / 64
REACH = 6.0
ORDER = 7


def _coefficients() -> Array:
    """Row k: the k-th Taylor coefficient of erf at each knot."""
    knots = np.arange(-int(REACH / STEP), int(REACH / STEP) + 1) * STEP
    table = [np.array([math.erf(knot) for knot in knots])]
    gauss = 2 / math.sqrt(math.pi) * np.exp(-knots * knots)
    before, now = np.zeros_like(knots), np.ones_like(knots)  # Hermite polynomials H_-1 = 0, H_0 = 1
    for order in range(1, ORDER + 1):
        table.append((-1) ** (order - 1) * now * gauss / math.factorial(order))
        before, now = now, 2 * knots * now - 2 * (order - 1) * before
    return np.array(table)


_TABLE: list[Array] = []


def _table_erf(x: Array) -> Array:
    if not _TABLE:
        _TABLE.append(_coefficients())
    table = _TABLE[0]
    clipped = np.clip(np.nan_to_num(x, nan=0.0), -REACH, REACH)
    knot = np.rint(clipped / STEP).astype(np.intp)
    away = clipped - knot * STEP
    knot += int(REACH / STEP)
    result = table[ORDER][knot]
    for order in range(ORDER - 1, -1, -1):
        result = result * away + table[order][knot]
    return np.where(np.isnan(x), np.nan, result)
