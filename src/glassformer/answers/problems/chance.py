"""How likely it is that a mistake fits by accident: few digits tell little, and many candidates find something to fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glassformer.answers.problems.figures import HIDDEN, Figures
from glassformer.answers.problems.fitting import lined_up
from glassformer.program.axes import Array

ONE = 0.05  # expected accidental hits above which no single mistake is named
WHOLE = 0.25  # the same for claims in whole numbers, which few mistakes give
SLIP = 0.02  # the same for slips, of which there are many more
TWO = 0.001  # the same for two mistakes at once
EXACT = 1e-6  # a fraction or a root fits by accident this often


def chance(figures: Figures, truth: Array, candidates: Sequence[Array]) -> float:
    """How many of the candidates one expects to hit the claim by accident.

    A claim near the right value is judged among the candidates that are near it too: there they lie closer together.
    """
    right = lined_up(figures, truth)
    reach = 2 * _distance(figures, right) + float(figures.units.max(initial=0.0))
    step = np.where(figures.units > 0, figures.units, 1e-6)
    different = set()
    for candidate in candidates:
        value = lined_up(figures, candidate)
        if value is None or not _comparable(figures, value):
            continue
        if right is None or np.abs(_finite(value) - _finite(right)).max(initial=0.0) <= reach:
            different.add(np.round(_finite(value) / step).tobytes())
    return len(different) * float(np.prod(_odds(figures, truth)))


def freedom(figures: Figures, truth: Array) -> int:
    """How many numbers of the claim say something of their own."""
    return len(_odds(figures, truth))


def _comparable(figures: Figures, value: Array) -> bool:
    """Whether a claim of this form could have meant such a value: whole numbers mean what comes out whole."""
    if np.isnan(value).any() or (value == np.inf).any():
        return False
    return not figures.whole or bool(np.allclose(_finite(value), np.round(_finite(value)), atol=1e-9))


def _odds(figures: Figures, truth: Array) -> list[float]:
    """How often a number would fit by accident, for each number of the claim that is not tied to another.

    Numbers that are alike in the right value and in the claim, up to the sign, are alike for a reason: they count once.
    Where rows sum to one, one number of each row follows from the others.
    """
    right = lined_up(figures, truth)
    beside = np.zeros(figures.shape) if right is None else right
    size = 2 * max(np.abs(_finite(beside)).max(initial=0.0), np.abs(_finite(figures.values)).max(initial=0.0))
    if not size:
        return [1.0]
    tied = figures.values.ndim > 0 and not figures.whole and _shares(figures.values) and _shares(beside)
    odds: dict[tuple[str, str], float] = {}
    for where in np.ndindex(*figures.shape):
        number, unit, other = float(figures.values[where]), float(figures.units[where]), float(beside[where])
        if number <= HIDDEN or (tied and where[-1] == figures.shape[-1] - 1):
            continue
        span = min(size, 4 * _distance(figures, right) + 2 * unit) if unit and right is not None else size
        share = unit / span if unit else 1 / (size + 1) if figures.whole else EXACT
        sign = -1 if (number, other) < (0, 0) else 1
        odds[f"{sign * number:.9g}", f"{sign * other:.6g}"] = min(1.0, share)
    return list(odds.values()) or [1.0]


def _distance(figures: Figures, right: Array | None) -> float:
    """How far the claim is off, at most."""
    return float("inf") if right is None else float(np.abs(_finite(figures.values) - _finite(right)).max(initial=0.0))


def _finite(value: Array) -> Array:
    """−∞, however it is written, compared as if it were 0: it takes part in no arithmetic."""
    return np.where(value <= HIDDEN, 0.0, value)


def _shares(value: Array) -> bool:
    return bool(value.shape[-1] > 1 and (value >= 0).all() and np.allclose(value.sum(-1), 1, atol=0.02))
