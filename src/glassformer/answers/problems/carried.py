"""Errors carried forward: what follows from claims that were made before, right, wrong or rounded."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from glassformer.answers.problems.claims import Claimed
from glassformer.answers.problems.figures import Figures
from glassformer.answers.problems.fitting import Labels, Reading, fitted, lined_up, readings, recovered, within
from glassformer.answers.problems.work import Rewrite, Work
from glassformer.program.axes import Array, Floats

MOST_BUMPS = 64  # claimed numbers whose rounding is followed through the work
MOST_UNSURE = 25  # units of the last digit by which rounding before may move a claim


@dataclass
class _Noted:
    said: str
    value: Array
    rooms: Array
    wrong: bool


@dataclass(eq=False)
class Earlier:
    """The claims judged so far, as values of the work's tensors."""

    work: Work
    noted: dict[str, _Noted] = field(default_factory=dict)  # tensor -> claim

    def note(self, claim: Claimed, *, wrong: bool, place: tuple[int | slice, ...] | None) -> None:
        """Remember a claim, where its numbers can be put back into the tensor that they are of."""
        found = self.work.quantity(claim.quantity)
        value = recovered(claim.figures, self.work, claim.quantity, place)
        if found is None or value is None:
            return
        whole = Figures(claim.figures.grid, claim.figures.rooms, claim.figures.rooms, claim.figures.units)
        rooms = recovered(whole, self.work, claim.quantity, place)
        assert rooms is not None
        tensor = found[0].name
        rooms = np.where(value == found[1], 0.0, rooms) if place is not None else rooms
        self.noted[tensor] = _Noted(claim.said, _masked(value), np.abs(rooms), wrong)

    def leads_to(self, claim: Claimed, labels: Labels) -> tuple[tuple[str, ...], str]:
        """The wrong claims that this one follows from, and the layout in which it does; none where it does not."""
        supposed, names = self.supposed(claim)
        if supposed is None:
            return (), ""
        for reading in readings(supposed, claim.quantity, labels):
            if fitted(claim.figures, reading.value) or self._roughly(claim, supposed, reading, labels):
                return names, reading.layout
        return (), ""

    def supposed(self, claim: Claimed) -> tuple[Work | None, tuple[str, ...]]:
        """The work from the wrong claims on, and which of them it rests on."""
        wrong = self._before(claim, only_wrong=True)
        if not wrong:
            return None, ()
        supposed = self.work.supposing({tensor: noted.value for tensor, noted in wrong.items()})
        needed = _needed(supposed, supposed.names[claim.quantity])
        return supposed, tuple(noted.said for tensor, noted in wrong.items() if tensor in needed)

    def as_rounded(self, claim: Claimed) -> tuple[Rewrite, ...]:
        """The claim worked out from the rounded numbers that were claimed before it."""
        before = self._before(claim, only_wrong=False)
        if not before or any(noted.wrong for noted in before.values()):
            return ()
        supposed = self.work.supposing({tensor: noted.value for tensor, noted in before.items()})
        names = " and ".join(noted.said for noted in before.values())
        what = f"it was worked out from {names} as rounded in the claim"
        return (Rewrite("arithmetic_or_rounding", what, self.work.names[claim.quantity], supposed),)

    def _before(self, claim: Claimed, *, only_wrong: bool) -> dict[str, _Noted]:
        """The claims that this quantity depends on."""
        own = self.work.names[claim.quantity]
        return {
            tensor: noted
            for tensor, noted in self.noted.items()
            if (noted.wrong or not only_wrong) and own in self.work.after([tensor])
        }

    def _roughly(self, claim: Claimed, supposed: Work, reading: Reading, labels: Labels) -> bool:
        """Whether it follows from the claims before they were rounded: each may lie half a unit from what is written."""
        more = self._unsure(claim, supposed, reading, labels)
        if more is None or more.max(initial=0.0) > MOST_UNSURE * claim.figures.units.max(initial=0.0):
            return False
        return within(claim.figures, reading.value, more)

    def _unsure(self, claim: Claimed, supposed: Work, reading: Reading, labels: Labels) -> Floats | None:
        own = lined_up(claim.figures, reading.value)
        cells = [
            (tensor, where)
            for tensor, noted in self._before(claim, only_wrong=True).items()
            for where in np.ndindex(*noted.value.shape)
            if noted.rooms[where] > 0
        ]
        if own is None or len(cells) > MOST_BUMPS:
            return None
        total: Floats = np.zeros(own.shape)
        for tensor, where in cells:
            value = self.noted[tensor].value.copy()
            value[where] += self.noted[tensor].rooms[where]
            bumped = supposed.giving({tensor: value})
            other = next((r.value for r in readings(bumped, claim.quantity, labels) if r.layout == reading.layout), None)
            if other is not None:
                with np.errstate(invalid="ignore"):  # of claims so large that both are infinite: nothing is near them
                    total = total + np.abs(other.reshape(own.shape) - own)
        return total


def _masked(value: Array) -> Array:
    """Very low claimed scores are −∞."""
    return np.where(value <= -1e4, -np.inf, value)


def _needed(work: Work, name: str) -> set[str]:
    wanted = {name}
    for step in reversed(work.program.steps):
        if step.name in wanted:
            wanted |= {tensor.name for tensor in step.inputs}
    return wanted
