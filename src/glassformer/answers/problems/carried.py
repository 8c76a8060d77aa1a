"""Errors carried forward: what follows from earlier claims, whether right, wrong or rounded."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from glassformer.answers.mistakes.chance import HIDDEN
from glassformer.answers.problems.claims import Claimed
from glassformer.answers.problems.layouts import Labels, Place, Reading, readings, recovered
from glassformer.answers.problems.work import Rewrite, Work
from glassformer.program.axes import Array, Floats

MOST_BUMPS = 64  # claimed numbers whose rounding error is propagated
MOST_UNSURE = 25  # the largest effect of earlier rounding on a claim, in units of its last digit


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

    def note(self, claim: Claimed, *, wrong: bool, place: Place | None) -> None:
        """Record a claim, if its numbers can be placed in their tensor."""
        value = recovered(claim.figures.values, self.work, claim.quantity, place)
        rooms = recovered(claim.figures.rooms, self.work, claim.quantity, place)
        if value is None or rooms is None:
            return
        tensor = self.work.names[claim.quantity]
        if place is not None:
            rooms = np.where(value == self.work.values[tensor], 0.0, rooms)
        masked = np.where(value <= HIDDEN, -np.inf, value)
        self.noted[tensor] = _Noted(claim.said, masked, np.abs(rooms), wrong)

    def leads_to(self, claim: Claimed, labels: Labels) -> tuple[tuple[str, ...], str]:
        """Return the wrong claims that this one follows from, and the layout; empty if it follows from none."""
        supposed, names = self.supposed(claim)
        if supposed is None:
            return (), ""
        for reading in readings(supposed, claim.quantity, labels):
            if claim.figures.fitted(reading.value) or self._roughly(claim, supposed, reading, labels):
                return names, reading.layout
        return (), ""

    def supposed(self, claim: Claimed) -> tuple[Work | None, tuple[str, ...]]:
        """Return the work computed from the wrong claims, and which of them the claim depends on."""
        wrong = self._before(claim, only_wrong=True)
        if not wrong:
            return None, ()
        supposed = self.work.supposing({tensor: noted.value for tensor, noted in wrong.items()})
        needed = supposed.before(supposed.names[claim.quantity])
        return supposed, tuple(noted.said for tensor, noted in wrong.items() if tensor in needed)

    def as_rounded(self, claim: Claimed) -> tuple[Rewrite, ...]:
        """Return the claim computed from earlier claims as they were rounded."""
        before = self._before(claim, only_wrong=False)
        if not before or any(noted.wrong for noted in before.values()):
            return ()
        supposed = self.work.supposing({tensor: noted.value for tensor, noted in before.items()})
        names = " and ".join(noted.said for noted in before.values())
        what = f"it was computed from {names} as rounded in the claim"
        return (Rewrite("arithmetic_or_rounding", what, self.work.names[claim.quantity], supposed),)

    def _before(self, claim: Claimed, *, only_wrong: bool) -> dict[str, _Noted]:
        """Return the earlier claims that this quantity depends on."""
        own = self.work.names[claim.quantity]
        return {
            tensor: noted
            for tensor, noted in self.noted.items()
            if (noted.wrong or not only_wrong) and own in self.work.after([tensor])
        }

    def _roughly(self, claim: Claimed, supposed: Work, reading: Reading, labels: Labels) -> bool:
        """Return whether a claim follows from the unrounded earlier claims, each within half a unit of what was written."""
        more = self._unsure(claim, supposed, reading, labels)
        if more is None or more.max(initial=0.0) > MOST_UNSURE * claim.figures.units.max(initial=0.0):
            return False
        return claim.figures.within(reading.value, more)

    def _unsure(self, claim: Claimed, supposed: Work, reading: Reading, labels: Labels) -> Floats | None:
        own = claim.figures.lined_up(reading.value)
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
                with np.errstate(invalid="ignore"):  # both may be infinite for very large claims
                    total = total + np.abs(other.reshape(own.shape) - own)
        return total
