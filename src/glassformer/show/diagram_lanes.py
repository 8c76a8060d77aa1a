"""Rows of boxes with lanes between them, positioned so that no line passes behind a box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import fmean
from typing import NamedTuple

ORDERINGS = 12  # sweeps through all rows, down and up, that look for fewer crossings
SWEEPS = 60  # sweeps that move boxes; pictures of about twenty boxes converge earlier
PULLS = (
    1.0,
    0.2,
    40.0,
)  # weight of a link by the number of lanes at its ends: keeps boxes below their inputs, and lanes straight


class Slot(NamedTuple):
    """A slot in a row: a box, or, in later rows, the lane of its line to readers further down."""

    name: str
    row: int


class Lanes:
    """Boxes in rows, each below its inputs; a line that passes a row has a lane there, as wide as a narrow box."""

    def __init__(self, ranks: Mapping[str, int], reads: Iterable[tuple[str, str]]) -> None:
        self.ranks = ranks
        self.rows: list[list[Slot]] = [[] for _ in range(max(ranks.values()) + 1)]
        self.links: list[tuple[Slot, Slot]] = []
        readers: dict[str, list[str]] = {name: [] for name in ranks}
        for source, target in reads:
            readers[source].append(target)
        for name, row in ranks.items():
            last = max((ranks[reader] for reader in readers[name]), default=row + 1)
            self._add([Slot(name, at) for at in range(row, max(last, row + 1))], readers[name])
        self.beside: dict[Slot, list[Slot]] = {slot: [] for row in self.rows for slot in row}
        for upper, lower in self.links:
            self.beside[upper].append(lower)
            self.beside[lower].append(upper)
        self._untangle()

    def _add(self, slots: Sequence[Slot], readers: Iterable[str]) -> None:
        for slot in slots:
            self.rows[slot.row].append(slot)
        self.links += pairwise(slots)
        self.links += [(slots[0]._replace(row=self.ranks[reader] - 1), Slot(reader, self.ranks[reader])) for reader in readers]

    def is_lane(self, slot: Slot) -> bool:
        """Whether this slot is a lane, not a box."""
        return slot.row != self.ranks[slot.name]

    def _untangle(self) -> None:
        """Order each row by its neighbours above, then by those below, and so on; keep the order with the fewest crossings."""
        best, rows = self._crossings(self.rows), self.rows
        for sweep in range(ORDERINGS):
            rows = self._ordered(rows, down=sweep % 2 == 0)
            found = self._crossings(rows)
            if found < best:
                best, self.rows = found, rows

    def _ordered(self, rows: Sequence[Sequence[Slot]], *, down: bool) -> list[list[Slot]]:
        made = [list(row) for row in rows]
        for at in range(1, len(made)) if down else range(len(made) - 2, -1, -1):
            index = {slot: i for i, slot in enumerate(made[at - 1 if down else at + 1])}
            wanted = {}
            for i, slot in enumerate(made[at]):
                near = [index[one] for one in self.beside[slot] if one in index]
                wanted[slot] = fmean(near) if near else float(i)
            made[at].sort(key=wanted.__getitem__)
        return made

    def _crossings(self, rows: Sequence[Sequence[Slot]]) -> int:
        index = {slot: i for row in rows for i, slot in enumerate(row)}
        ends = [(upper.row, index[upper], index[lower]) for upper, lower in self.links]
        return sum(a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0 for i, a in enumerate(ends) for b in ends[:i])

    def centres(self, widths: Mapping[str, float], *, space: float, lane: float) -> dict[Slot, float]:
        """Return the centre of every slot: close to its neighbours in other rows, with the minimum gap in its own row."""
        wide = {slot: lane if self.is_lane(slot) else widths[slot.name] for row in self.rows for slot in row}
        gaps = [[0.0, *((wide[one] + wide[other]) / 2 + space for one, other in pairwise(row))] for row in self.rows]
        found: dict[Slot, float] = {}
        for row, gap in zip(self.rows, gaps, strict=True):
            found |= dict(zip(row, spread([0.0] * len(row), [1.0] * len(row), gap), strict=True))
        for sweep in range(SWEEPS):
            for row, gap in list(zip(self.rows, gaps, strict=True))[:: 1 if sweep % 2 == 0 else -1]:
                pulls = [self._pull(slot, found) for slot in row]
                found |= dict(zip(row, spread([at for at, _ in pulls], [weight for _, weight in pulls], gap), strict=True))
        left = min(found[slot] - wide[slot] / 2 for slot in found)
        return {slot: at - left for slot, at in found.items()}

    def _pull(self, slot: Slot, found: Mapping[Slot, float]) -> tuple[float, float]:
        """Return the preferred position of a slot if it were alone in its row, and its weight."""
        near = [(one, PULLS[self.is_lane(slot) + self.is_lane(one)]) for one in self.beside[slot]]
        weight = sum(pull for _, pull in near)
        return (sum(found[one] * pull for one, pull in near) / weight, weight) if near else (found[slot], 1.0)


def spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the positions closest to the preferred ones (least squares) that keep the order and the gaps.

    Without the gaps this is regression by a rising line: neighbours in the wrong order are put together at their mean.
    """
    offsets = list(accumulate(gaps))
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for at, weight, offset in zip(wanted, weights, offsets, strict=True):
        pools.append((at - offset, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (mean, one, few), (other, more, many) = pools.pop(-2), pools.pop()
            pools.append(((mean * one + other * more) / (one + more), one + more, few + many))
    return [at + offset for at, offset in zip((mean for mean, _, n in pools for _ in range(n)), offsets, strict=True)]
