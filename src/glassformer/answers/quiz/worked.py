"""Questions worked by hand: numbers, vectors and matrices to some decimals, with the work of known mistakes beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from glassformer.answers.problems import check_worked
from glassformer.answers.quiz import notation
from glassformer.answers.quiz.keys import RIGHT, Judgement, Key, Own, Section, Wrong, explained, unread
from glassformer.answers.quiz.notation import Cells
from glassformer.answers.quiz.workings import workings
from glassformer.numbers.by_hand import Solution
from glassformer.numbers.by_hand.worked import line
from glassformer.numbers.explain import number
from glassformer.program import Tensor
from glassformer.program.axes import Array, Floats
from glassformer.program.pen import TextPen
from glassformer.spec import GlassformerError

CARRIED_DECIMALS = (1, 2, 3)
THIRD_DECIMAL = 6e-4  # a wrong number that is no whole one is written to three decimals at least


@dataclass(frozen=True, eq=False)
class Worked(Key):
    """What a by-hand problem asks for; `cell` (counted from 1) asks for one number of it."""

    solution_: Solution
    ask: str
    cell: tuple[int, ...] = ()
    digits: int = 3
    tolerance: float = 0.001
    convention_credit: Fraction = Fraction(1, 2)
    rule: Mapping[str, str] | None = None  # tensor -> the earlier question that asked for it

    @property
    def wanted(self) -> str:  # type: ignore[override]
        form = {0: "a number", 1: "a vector such as [0.5, 0.25]"}.get(self.value.ndim, "a matrix such as [[1, 2], [3, 4]]")
        return f"{form}, to {self.digits} decimals" if self.digits else form

    @property
    def tensor(self) -> Tensor:
        return self.solution_.program.tensors[self.solution_.names[self.ask]]

    @cached_property
    def value(self) -> Floats:
        return self._chosen(self.solution_.run.values)

    @property
    def text(self) -> str:
        return written(self.value, self.digits)

    def _chosen(self, values: Mapping[str, Array]) -> Floats:
        """The asked numbers of a run, written in the problem's convention."""
        whole = np.asarray(self.solution_.written(self.tensor, values[self.tensor.name]), dtype=float)
        return np.asarray(whole[tuple(place - 1 for place in self.cell)]) if self.cell else whole

    def judge(self, claim: str) -> Judgement:
        grids = notation.grids(claim)
        if not grids:
            return unread(self.wanted)
        fitting = [cells for cells in grids if fits(cells, self.value)]
        if not fitting:
            return self._other_shape(grids[0])
        if any(close(cells, self.value, self.tolerance) for cells in fitting):
            return RIGHT
        known = [wrong for wrong in self.wrongs() if close(fitting[0], wrong.value, max(self.tolerance, THIRD_DECIMAL))]
        if known:
            return explained(known)
        if any(_rounds_to(cells, self.value, self.tolerance) for cells in fitting):
            says = f"right as far as it goes: {self.digits} decimals were asked for, {self.text}"
            return Judgement("rounded", self.convention_credit, says)
        return self._nearly(fitting[0])

    def _other_shape(self, cells: Cells) -> Judgement:
        turned = self.value.T
        if self.value.ndim == 2 and fits(cells, turned) and close(cells, turned, self.tolerance):
            says = "right, but rows and columns are exchanged against the question's convention"
            return Judgement("convention", self.convention_credit, says)
        sizes, claimed = (" × ".join(map(str, shape)) or "one number" for shape in (self.value.shape, cells.shape))
        return Judgement("wrong", Fraction(0), f"wrong: this is {claimed}, and {sizes} is wanted")

    def _nearly(self, cells: Cells) -> Judgement:
        """Intermediates rounded too early, where that gives exactly this; else how many of the numbers are right."""
        for decimals in CARRIED_DECIMALS:
            rough = self._chosen(self.solution_.rounded(decimals).run.values)
            if decimals <= self.digits and close(cells, rough, self.tolerance):
                what = f"intermediates rounded to {decimals} decimal{'s' if decimals > 1 else ''}"
                return explained([Wrong("", None, "arithmetic_or_rounding", what)])
        right = sum(abs(a - b) <= self.tolerance for a, b in zip(cells.values, self.value.ravel(), strict=True))
        if 0 < right < self.value.size:
            says = f"wrong: {right} of {self.value.size} numbers are right, and no known mistake gives the others"
            return Judgement("wrong", Fraction(0), says)
        return explained([])

    def wrongs(self) -> Sequence[Wrong]:
        return self._wrongs

    @cached_property
    def _wrongs(self) -> list[Wrong]:
        found = []
        for code, what, values in workings(self.solution_, self.ask):
            value = self._taken(values)
            if value is None or value.shape != self.value.shape or not np.all(np.isfinite(value)):
                continue
            if float(np.abs(value - self.value).max(initial=0.0)) > 2 * self.tolerance:
                found.append(Wrong(written(value, self.digits or 3), value, code, what))
        return found

    def _taken(self, value: Array) -> Floats | None:
        whole = np.asarray(value, dtype=float)
        if not self.cell:
            return whole
        inside = len(self.cell) == whole.ndim and all(np.array(self.cell) <= whole.shape)
        return np.asarray(whole[tuple(place - 1 for place in self.cell)]) if inside else None

    def searched(self, claim: str) -> Judgement | None:
        """The whole diagnosis of worked numbers: two mistakes at once, slips, other layouts."""
        if self.cell:
            return None
        try:
            (found,) = check_worked(self.solution_.problem, {self.ask: notation.cleaned(claim).rpartition("=")[2]}).judged
        except GlassformerError:
            return None
        if found.right:
            says = f"right under another convention ({found.convention})" if found.convention else "right, but written otherwise"
            return Judgement("convention", self.convention_credit, f"{says}; asked for is {self.text}")
        if len(found.findings) == 1 and len(found.findings[0].codes) > 1:
            (both,) = found.findings
            names = " and ".join(known.name for known in both.mistakes)
            return Judgement("wrong", Fraction(0), f"wrong: {names} ({'; '.join(both.what)})", both.codes, together=True)
        singles = [Wrong("", None, one.codes[0], "; ".join(one.what)) for one in found.findings if len(one.codes) == 1]
        return explained(singles) if singles else None

    def solution(self) -> tuple[Section, ...]:
        pen = TextPen(self.solution_.problem.convention)
        found = []
        for step in replace(self.solution_, asked=(self.ask,)).steps:
            lines = [line(cell, step.run, self.digits + 1) for cell in step.cells if not cell.moves]
            lines += [f"… and {step.left_out} more in the same way"] if step.left_out else []
            if step.value.ndim:
                value = self.solution_.written(step.step.output, step.value)
                lines.append(f"{step.name} = {written(value, self.digits + 1)}")
            found.append((step.rule(pen), tuple(lines)))
        return tuple(found)

    def own(self, claim: str) -> Own | None:
        fitting = [cells for cells in notation.grids(claim) if fits(cells, self.value)]
        return fitting[0] if fitting and not self.cell else None

    def carried(self, earlier: Mapping[str, Own]) -> Key | None:
        if not self.rule or set(self.rule.values()) != set(earlier):
            return None
        changes, rooms = {}, {}
        for name, question in self.rule.items():
            own = earlier[question]
            tensor = self.solution_.program.tensors[self.solution_.names[name]]
            if not isinstance(own, Cells) or len(own.values) != tensor.size:
                return None
            changes[tensor.name] = self._laid(tensor, own.values)
            rooms[tensor.name] = self._laid(tensor, [float(number.room) for number in own.numbers])
        value = self._rerun(changes)
        slack = sum((np.abs(self._rerun(moved) - value) for moved in _moved(changes, rooms)), np.zeros_like(value))
        return CarriedWork(value, self.tolerance + slack, self.digits)

    def _laid(self, tensor: Tensor, values: Sequence[float]) -> Array:
        """A student's numbers in the order in which the tensor is stored."""
        shape = self.solution_.written(tensor, self.solution_.run.values[tensor.name]).shape
        return self.solution_.written(tensor, np.array(values, dtype=float).reshape(shape))

    def _rerun(self, changes: Mapping[str, Array]) -> Floats:
        return self._chosen(self.solution_.run.what_if(changes).after.values)


@dataclass(frozen=True, eq=False)
class CarriedWork(Key):
    """The numbers that follow from a student's own earlier ones, as far as those were written down."""

    numbers: Floats
    slack: Floats
    digits: int
    wanted: str = "numbers"

    @property
    def value(self) -> Floats:
        return self.numbers

    @property
    def text(self) -> str:
        return written(self.value, self.digits)

    def judge(self, claim: str) -> Judgement:
        fitting = [cells for cells in notation.grids(claim) if fits(cells, self.value)]
        return RIGHT if any(close(cells, self.value, self.slack) for cells in fitting) else explained([])

    def wrongs(self) -> Sequence[Wrong]:
        return []

    def solution(self) -> tuple[Section, ...]:
        return ()


def fits(cells: Cells, value: Floats) -> bool:
    """Whether numbers as written have the shape of a value; rows and columns of one may be left out or added."""
    return len(cells.numbers) == value.size and [n for n in cells.shape if n != 1] == [n for n in value.shape if n != 1]


def close(cells: Cells, value: Floats, slack: float | Floats) -> bool:
    """Whether every number lies within the slack (a hair of room for floats)."""
    gaps = np.abs(np.array(cells.values).reshape(value.shape) - value)
    return bool(np.all(gaps <= np.asarray(slack) + 1e-9))


def written(value: Any, digits: int) -> str:
    """`[0.804, 0.196]`; plain minus signs, so that it can be copied."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"[{', '.join(written(item, digits) for item in value)}]"
    return number(float(value), digits).replace("−", "-")


def _rounds_to(cells: Cells, value: Floats, tolerance: float) -> bool:
    """Whether every number is the right one, rounded more than was asked for."""
    pairs = zip(cells.numbers, value.ravel(), strict=True)
    return all(one.allows(float(truth)) or abs(float(one.value) - float(truth)) <= tolerance for one, truth in pairs)


def _moved(changes: Mapping[str, Array], rooms: Mapping[str, Array]) -> list[dict[str, Array]]:
    """Each carried number moved by the room that its rounding leaves, one at a time."""
    found = []
    for name, value in changes.items():
        for where in np.ndindex(*value.shape):
            if rooms[name][where] > 0:
                moved = value.copy()
                moved[where] += rooms[name][where]
                found.append({**changes, name: moved})
    return found
