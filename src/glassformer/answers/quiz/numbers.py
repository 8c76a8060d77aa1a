"""Answers that are numbers, vectors or matrices: each number is judged, and each right one earns its share of the marks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from glassformer.answers.quiz import claims
from glassformer.answers.quiz.claims import Cells, allows
from glassformer.answers.quiz.marking import RIGHT, Key, Marked, Own, Wrong, explained, marked, unread
from glassformer.numbers.explain import number
from glassformer.program.axes import Floats

LARGE = 1e6  # larger numbers would be written with an exponent, and are not offered as options
HAIR = 1e-9  # tolerance for floating-point errors
THIRD_DECIMAL = 6e-4  # a wrong number that is not whole is written with at least three decimals


class NumbersKey(Key):
    """The key of numbers with some decimals."""

    digits: int
    tolerance: float
    convention_credit: Fraction

    @property
    @abstractmethod
    def value(self) -> Floats: ...

    @property
    def wanted(self) -> str:  # type: ignore[override]
        form = {0: "a number", 1: "a vector such as [0.5, 0.25]"}.get(self.value.ndim, "a matrix such as [[1, 2], [3, 4]]")
        return f"{form}, to {self.digits} decimals" if self.digits else form

    @property
    def text(self) -> str:
        return written(self.value, self.digits)

    def judge(self, claim: str) -> Marked:
        grids = claims.grids(claim)
        if not grids:
            return unread(self.wanted)
        fitting = [cells for cells in grids if fits(cells, self.value)]
        if not fitting:
            return self._other_shape(grids[0])
        if any(close(cells, self.value, self.tolerance) for cells in fitting):
            return RIGHT
        known = [wrong for wrong in self.wrongs() if close(fitting[0], wrong.value, max(self.tolerance, THIRD_DECIMAL))]
        for cells in fitting if not known else ():
            earned = credits_of(cells, self.value, self.tolerance, self.convention_credit)
            if None not in earned:
                says = f"right, but rounded; expected {self.digits} decimals, {self.text}"
                return marked("convention", share(earned), says, convention="rounded")
        earned = max((credits_of(cells, self.value, self.tolerance) for cells in fitting), key=share)
        right = f"{earned.count(1)} of {self.value.size} numbers are right and earn their share" if any(earned) else ""
        return explained(known or self._rounded_early(fitting[0]), share(earned), right)

    def _other_shape(self, cells: Cells) -> Marked:
        turned = self.value.T
        if self.value.ndim == 2 and fits(cells, turned) and close(cells, turned, self.tolerance):
            says = "right, but rows and columns are swapped compared with the question's convention"
            return marked("convention", self.convention_credit, says, convention="transposed")
        sizes, claimed = (" × ".join(map(str, shape)) or "one number" for shape in (self.value.shape, cells.shape))
        return marked("wrong", 0, f"wrong: this is {claimed}, expected {sizes}")

    def _rounded_early(self, _: Cells) -> list[Wrong]:
        return []

    def own(self, claim: str) -> Own | None:
        fitting = [cells for cells in claims.grids(claim) if fits(cells, self.value)]
        return fitting[0] if fitting and not degenerate(fitting[0].values, self.value) else None

    def follows(self, claim: str, value: Floats, slack: Floats) -> Marked | None:
        """Mark a claim against numbers that follow from earlier answers; None if they are degenerate."""
        fitting = [cells for cells in claims.grids(claim) if fits(cells, value)]
        if not fitting or degenerate(value.ravel().tolist(), self.value):
            return None
        earned = max((credits_of(cells, value, slack) for cells in fitting), key=share)
        if share(earned) == 1:
            return RIGHT
        return marked("wrong", share(earned), f"{earned.count(1)} of {value.size} numbers follow")

    def differs(self, value: Any) -> bool:
        """Return whether numbers of the same shape are wrong, even after rounding."""
        if not isinstance(value, np.ndarray) or value.shape != self.value.shape or not np.all(np.abs(value) < LARGE):
            return False
        least = max(2 * self.tolerance, 10.0 ** -(self.digits or 3))
        return float(np.abs(value - self.value).max(initial=0.0)) > least


def degenerate(values: Sequence[float], right: Floats) -> bool:
    """Return whether numbers make what follows trivial: none, infinite, all zero, or all equal if the right ones are not."""
    found = np.asarray(values, dtype=float)
    if found.size == 0 or not np.all(np.isfinite(found)) or (not found.any() and np.any(right)):
        return True
    return found.size > 1 and float(np.ptp(found)) <= HAIR < float(np.ptp(right))


def fits(cells: Cells, value: Floats) -> bool:
    """Return whether written numbers have the shape of a value, ignoring axes of length one."""
    return len(cells.figures) == value.size and [n for n in cells.shape if n != 1] == [n for n in value.shape if n != 1]


def close(cells: Cells, value: Floats, slack: float | Floats) -> bool:
    """Return whether every number lies within the slack."""
    return all(credits_of(cells, value, slack))


def share(earned: Sequence[Fraction | int | None]) -> Fraction:
    """Return the share of the marks that several numbers earn together."""
    return sum((Fraction(one or 0) for one in earned), Fraction(0)) / max(1, len(earned))


def credits_of(
    cells: Cells, value: Floats, slack: float | Floats, rounded: Fraction | None = None
) -> list[Fraction | int | None]:  # fmt: skip
    """Return what each number earns: 1 within the slack, `rounded` if it is right with fewer digits, otherwise None."""
    gaps = np.abs(np.array(cells.values).reshape(value.shape) - value)
    near = (gaps <= np.asarray(slack) + HAIR).ravel()
    pairs = zip(near, cells.figures, value.ravel(), strict=True)
    return [1 if hit else rounded if allows(figure, float(truth)) else None for hit, figure, truth in pairs]


def written(value: Any, digits: int) -> str:
    """Return numbers as text, with ASCII minus signs so that they can be copied: `[0.804, -0.196]`."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"[{', '.join(written(item, digits) for item in value)}]"
    return number(float(value), digits).replace("−", "-")
