"""Questions worked by hand: numbers, vectors and matrices with some decimals, and the results of known mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.problems import check_worked
from glassformer.answers.problems.rules import rewrites
from glassformer.answers.problems.work import Rewrite, Work
from glassformer.answers.quiz.claims import Cells
from glassformer.answers.quiz.marking import Marked, Own, Section, Wrong, marked, simplest
from glassformer.answers.quiz.numbers import NumbersKey, close, written
from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import Solution
from glassformer.numbers.by_hand.worked import line, turned
from glassformer.program import Tensor
from glassformer.program.axes import Array, Floats
from glassformer.program.formatter import TextFormatter

CARRIED_DECIMALS = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class Worked(NumbersKey):
    """The key of a by-hand problem; `cell` (counted from 1) selects one number."""

    solution_: Solution
    ask: str
    cell: tuple[int, ...] = ()
    digits: int = 3
    tolerance: float = 0.001
    convention_credit: Fraction = Fraction(1, 2)
    rule: Mapping[str, str] | None = None  # tensor -> the earlier question that asked for it
    own_wrongs: tuple[Wrong, ...] = ()  # wrong answers from the set's own mistakes

    @property
    def tensor(self) -> Tensor:
        return self.solution_.program.tensors[self.solution_.names[self.ask]]

    @cached_property
    def value(self) -> Floats:
        return self._chosen(self.solution_.run.values)

    def _chosen(self, values: Mapping[str, Array]) -> Floats:
        """Return the requested numbers of a run, in the convention of the problem."""
        whole = np.asarray(self.solution_.written(self.tensor, values[self.tensor.name]), dtype=float)
        return np.asarray(whole[tuple(place - 1 for place in self.cell)]) if self.cell else whole

    def _rounded_early(self, cells: Cells) -> list[Wrong]:
        """Return early rounding as the cause, if it gives exactly these numbers."""
        for decimals in CARRIED_DECIMALS:
            rough = self._chosen(self.solution_.rounded(decimals).run.values)
            if decimals <= self.digits and close(cells, rough, self.tolerance):
                what = f"intermediate results rounded to {decimals} decimal{'s' if decimals > 1 else ''}"
                return [Wrong("", rough, mistake("arithmetic_or_rounding"), what)]
        return []

    def mistaken(self) -> Iterator[Wrong]:
        yield from (wrong for wrong in self.own_wrongs if self.differs(wrong.value))
        for rewrite, values in self._rewritten():
            value = self._taken(values)
            if self.differs(value):
                yield Wrong(written(value, self.digits or 3), value, mistake(rewrite.code, worked=True), rewrite.what)

    def _rewritten(self) -> Iterator[tuple[Rewrite, Array]]:
        """Yield every single mistake in the steps up to the requested quantity, and its result, in the problem's convention."""
        before = {self.tensor.name}  # mistakes in later steps do not matter
        for step in reversed(self.solution_.program.steps):
            before |= {tensor.name for tensor in step.inputs} if step.name in before else set()
        with np.errstate(all="ignore"):
            for rewrite in rewrites(Work.of(self.solution_, self.solution_.problem)):
                found = rewrite.work.quantity(self.ask) if rewrite.step in before else None
                if found is not None:
                    yield rewrite, turned(*found, self.solution_.problem.convention)

    def _taken(self, value: Array) -> Floats | None:
        whole = np.asarray(value, dtype=float)
        if not self.cell:
            return whole
        inside = len(self.cell) == whole.ndim and all(np.array(self.cell) <= whole.shape)
        return np.asarray(whole[tuple(place - 1 for place in self.cell)]) if inside else None

    def searched(self, claim: str) -> Marked | None:
        """Run the full diagnosis: two mistakes at once, slips, other layouts."""
        if self.cell:
            return None
        try:
            (found,) = check_worked(self.solution_.problem, {self.ask: claim.replace("`", "").rpartition("=")[2].strip()}).judged
        except GlassformerError:
            return None
        if found.right:
            says = f"right under another convention ({found.convention})" if found.convention else "right, in another notation"
            return marked("convention", self.convention_credit, f"{says}; expected {self.text}", convention=found.convention)
        return simplest(found.findings)

    def solution(self) -> tuple[Section, ...]:
        formatter = TextFormatter(self.solution_.problem.convention)
        found = []
        for step in replace(self.solution_, requested=(self.ask,)).steps:
            lines = [line(cell, step.run, self.digits + 1) for cell in step.cells if not cell.moves]
            lines += [f"… and {step.left_out} more in the same way"] if step.left_out else []
            if step.value.ndim:
                value = self.solution_.written(step.step.output, step.value)
                lines.append(f"{step.name} = {written(value, self.digits + 1)}")
            found.append((step.rule(formatter), tuple(lines)))
        return tuple(found)

    def own(self, claim: str) -> Own | None:
        return None if self.cell else super().own(claim)

    def carried(self, earlier: Mapping[str, Own], claim: str) -> Marked | None:
        if not self.rule or set(self.rule.values()) != set(earlier):
            return None
        changes, rooms = {}, {}
        for name, question in self.rule.items():
            own = earlier[question]
            tensor = self.solution_.program.tensors[self.solution_.names[name]]
            if not isinstance(own, Cells) or len(own.values) != tensor.size:
                return None
            changes[tensor.name] = self._laid(tensor, own.values)
            rooms[tensor.name] = self._laid(tensor, [float(figure.unit / 2) for figure in own.figures])
        value = self._rerun(changes)
        slack = sum((np.abs(self._rerun(moved) - value) for moved in nudged(changes, rooms)), np.zeros_like(value))
        return self.follows(claim, value, self.tolerance + slack)

    def _laid(self, tensor: Tensor, values: Sequence[float]) -> Array:
        """Return a student's numbers in the storage order of the tensor."""
        shape = self.solution_.written(tensor, self.solution_.run.values[tensor.name]).shape
        return self.solution_.written(tensor, np.array(values, dtype=float).reshape(shape))

    def _rerun(self, changes: Mapping[str, Array]) -> Floats:
        return self._chosen(self.solution_.run.what_if(changes).after.values)


def nudged(changes: Mapping[str, Array], rooms: Mapping[str, Array]) -> list[dict[str, Array]]:
    """Return the changes with each carried number moved by its rounding tolerance, one at a time."""
    found = []
    for name, value in changes.items():
        for where in np.ndindex(*value.shape):
            if rooms[name][where] > 0:
                moved = value.copy()
                moved[where] += rooms[name][where]
                found.append({**changes, name: moved})
    return found
