"""Groups arranged in rows, each below its inputs, and the lines between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from glassformer.show.diagram_boxes import Arrow, Group, Point, headed
from glassformer.show.diagram_lanes import Lanes, Slot

GAP, LABELLED = 22.0, 32.0  # between two rows, and where a shape stands between them
SPACE, LANE = 12.0, 4.0  # between two boxes of a row, and the width of a lane between them
TRACK = 10.0  # between two lines that run beside a column
BRANCH = 8.0  # below a box, where a line branches off
TIP = 12.0  # between two arrows that end at one box, and from its edges


class Read(NamedTuple):
    """One item reads the output of another; `label` is written next to the arrow."""

    source: str
    target: str
    label: str


class Rows(NamedTuple):
    """The positions: items by name, the centres of the slots of a row, the upper and lower edges of the rows."""

    items: Mapping[str, Group]
    ranks: Mapping[str, int]
    middles: Mapping[Slot, float]
    tops: Sequence[float]
    bottoms: Sequence[float]

    def middle(self, name: str) -> float:
        return self.middles[Slot(name, self.ranks[name])]

    def top(self, name: str) -> float:
        """Centre an item in its row."""
        rank = self.ranks[name]
        return (self.tops[rank] + self.bottoms[rank] - self.items[name].height) / 2

    def bottom(self, name: str) -> float:
        return self.top(name) + self.items[name].height


def stacked(items: Mapping[str, Group], ranks: Mapping[str, int], reads: Sequence[Read], *, last: str) -> Group:
    """Lay out the items of one block as a group. A column has its lines at its side; other rows have lanes between boxes."""
    column = len(set(ranks.values())) == len(ranks)
    heights = [max(items[name].height for name in ranks if ranks[name] == row) for row in range(max(ranks.values()) + 1)]
    labelled = {ranks[one.source] for one in reads if one.label and ranks[one.target] == ranks[one.source] + 1}
    gaps = [LABELLED if row in labelled else GAP for row in range(len(heights))]
    tops = [0.0, *accumulate(high + gap for high, gap in zip(heights, gaps, strict=True))][: len(heights)]
    bottoms = [top + high for top, high in zip(tops, heights, strict=True)]
    if column:
        middles, width = _column(items, ranks, reads)
    else:
        lanes = Lanes(ranks, [(one.source, one.target) for one in reads])
        middles = lanes.centres({name: item.width for name, item in items.items()}, space=SPACE, lane=LANE)
        width = max(at + (LANE if slot.row != ranks[slot.name] else items[slot.name].width) / 2 for slot, at in middles.items())
    rows = Rows(items, ranks, middles, tops, bottoms)
    placed = [item.moved(rows.middle(name) - item.width / 2, rows.top(name)) for name, item in items.items()]
    lines = _beside(rows, reads) if column else _between(rows, reads)
    arrows = [*(arrow for item in placed for arrow in item.arrows), *_labelled(rows, reads, lines)]
    boxes = tuple(box for item in placed for box in item.boxes)
    return Group(width, bottoms[-1], boxes, tuple(arrows), last, (rows.middle(last), rows.bottom(last)))


def _column(items: Mapping[str, Group], ranks: Mapping[str, int], reads: Sequence[Read]) -> tuple[dict[Slot, float], float]:
    """Stack items in a column; lines that bypass some of them run on the right, the shortest nearest."""
    ends = {one.source: max(ranks[other.target] for other in reads if other.source == one.source) for one in reads}
    far = {name: range(ranks[name] + 1, end) for name, end in ends.items() if end > ranks[name] + 1}
    wide = {ranks[name]: item.width for name, item in items.items()}
    beside: dict[str, float] = {}
    for name, passed in sorted(far.items(), key=lambda one: len(one[1])):
        inner = [at + TRACK for other, at in beside.items() if set(far[other]) & set(passed)]
        beside[name] = max([*(wide[row] / 2 + SPACE for row in passed), *inner])
    half = max([*(one / 2 for one in wide.values()), *(at + LANE / 2 for at in beside.values())])
    middles = {Slot(name, row): half for name, row in ranks.items()}
    return middles | {Slot(name, row): half + beside[name] for name, passed in far.items() for row in passed}, 2 * half


def _beside(rows: Rows, reads: Sequence[Read]) -> dict[Read, list[Point]]:
    """Lead straight down to the next item, or past others at their side, then into the right side or the top of the reader."""
    found = {}
    for one in reads:
        x, source, target = rows.middle(one.source), rows.bottom(one.source), rows.items[one.target]
        if rows.ranks[one.target] == rows.ranks[one.source] + 1:
            found[one] = [(x, source), (x, rows.top(one.target))]
            continue
        lane = rows.middles[Slot(one.source, rows.ranks[one.source] + 1)]
        rivals = sorted(
            rows.middles[Slot(other.source, rows.ranks[other.source] + 1)]
            for other in reads
            if other.target == one.target and rows.ranks[other.source] + 1 < rows.ranks[one.target]
        )
        leaves, top, edge = source + BRANCH, rows.top(one.target), x + target.width / 2
        into = top + target.height / 2 + 8 * (rivals.index(lane) - (len(rivals) - 1) / 2)
        end = [(lane, into), (edge, into)] if lane > edge + SPACE / 2 else [(lane, top)]  # an open block may be wider than that
        found[one] = [(x, leaves), (lane, leaves), *end]
    return found


def _between(rows: Rows, reads: Sequence[Read]) -> dict[Read, list[Point]]:
    """Lead slanted between two rows, and straight down through the lanes of a row."""
    above = {one: rows.middles[Slot(one.source, rows.ranks[one.target] - 1)] for one in reads}  # before the last slant
    found = {}
    for one in reads:
        through = range(rows.ranks[one.source] + 1, rows.ranks[one.target])
        lane = [(rows.middles[Slot(one.source, row)], y) for row in through for y in (rows.tops[row], rows.bottoms[row])]
        rivals = sorted(at for other, at in above.items() if other.target == one.target)
        wide, place = rows.items[one.target].width, rivals.index(above[one])
        left = rows.middle(one.target) - wide / 2
        low, high = left + min(TIP * (1 + place), wide / 2), left + wide - TIP * (len(rivals) - place)
        end = (min(max(above[one], low), max(high, low)), rows.top(one.target))
        found[one] = [(rows.middle(one.source), rows.bottom(one.source)), *lane, end]
    return found


def _labelled(rows: Rows, reads: Sequence[Read], lines: Mapping[Read, Sequence[Point]]) -> list[Arrow]:
    """Return arrows; the first one from an item to the next row is labelled with the shape."""
    said: set[str] = set()
    arrows = []
    for one in reads:
        points = tuple(lines[one])
        near = rows.ranks[one.target] == rows.ranks[one.source] + 1 and one.source not in said
        if not (one.label and near):
            arrows.append(headed(Arrow(one.source, one.target, points)))
            continue
        said.add(one.source)
        (x, top), (end, bottom) = points[0], points[-1]
        arrows.append(headed(Arrow(one.source, one.target, points, one.label, (min(x, end) - 8, (top + bottom) / 2))))
    return arrows
