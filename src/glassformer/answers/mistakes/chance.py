"""The expected number of known mistakes that give a claimed value by chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glassformer.program.axes import Floats

HIDDEN = -1e4  # numbers this low stand for −∞ in masked scores
EXACT = 1e-6  # the probability that a fraction or a root matches by chance


@dataclass(frozen=True, eq=False)
class Evidence:
    """The numbers of a claim, the value of one unit of each last digit, and the right numbers (None if the shapes differ).

    A unit of 0 means a number without decimals: a whole number if all of them are (`whole`), otherwise an exact fraction or root.
    """

    values: Floats
    units: Floats
    right: Floats | None
    whole: bool

    def expected_hits(self, candidates: Iterable[Floats]) -> float:
        """Return how many of the candidate values, all of the claim's shape, are expected to match the claim by chance.

        Only candidates near the claim are counted: they are dense close to the right value and close to 0, where a chance
        match is more likely.
        """
        step = np.where(self.units > 0, self.units, 1e-6)
        different = set()
        for candidate in candidates:
            if not self._comparable(candidate):
                continue
            value = _finite(candidate)
            if np.abs(value - _finite(self.values)).max(initial=0.0) <= self._reach:
                different.add(np.round(value / step).tobytes())
        return len(different) * float(np.prod(self.odds))

    @cached_property
    def odds(self) -> tuple[float, ...]:
        """The probability of a chance match for each number of the claim that is not determined by another.

        Numbers that are equal, up to the sign, both in the right value and in the claim count once. If rows sum to one, the
        last number of each row follows from the others.
        """
        beside = np.zeros(self.values.shape) if self.right is None else self.right
        tied = self.values.ndim > 0 and not self.whole and _shares(self.values) and _shares(beside)
        found: dict[tuple[str, str], float] = {}
        for where in np.ndindex(*self.values.shape):
            number, unit, other = float(self.values[where]), float(self.units[where]), float(beside[where])
            if number <= HIDDEN or (tied and where[-1] == self.values.shape[-1] - 1):
                continue
            unit = unit or float(self.whole)
            share = unit / (2 * self._reach + unit) if unit else EXACT
            sign = -1 if (number, other) < (0, 0) else 1
            found[f"{sign * number:.9g}", f"{sign * other:.6g}"] = min(1.0, share)
        return tuple(found.values()) or (1.0,)

    @property
    def freedom(self) -> int:
        """The number of independent numbers in the claim."""
        return len(self.odds)

    @cached_property
    def _reach(self) -> float:
        """The distance within which candidates are counted: twice the distance to the right value, at most that to 0."""
        size = float(np.abs(_finite(self.values)).max(initial=0.0))
        error = np.inf if self.right is None else float(np.abs(_finite(self.values) - _finite(self.right)).max(initial=0.0))
        return max(min(size, 2 * error), float(self.units.max(initial=0.0)), float(self.whole))

    def _comparable(self, value: Floats) -> bool:
        """Return whether a claim of this form can match such a value: whole numbers only match whole values."""
        if np.isnan(value).any() or (value == np.inf).any():
            return False
        return not self.whole or bool(np.allclose(_finite(value), np.round(_finite(value)), atol=1e-9))


def _finite(value: Floats) -> Floats:
    """Return the values with −∞, however it is written, replaced by 0."""
    return np.where(value <= HIDDEN, 0.0, value)


def _shares(value: Floats) -> bool:
    return bool(value.shape[-1] > 1 and (value >= 0).all() and np.allclose(value.sum(-1), 1, atol=0.02))
