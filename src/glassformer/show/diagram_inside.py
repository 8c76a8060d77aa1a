"""The diagram of one block opened: each step as an equation with its shape, below the steps that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from glassformer.algebra import notation
from glassformer.program import Program, Step
from glassformer.program.pen import Convention, TextPen
from glassformer.show.diagram import Arrow, block_of, shape_text
from glassformer.show.diagram_lanes import Lanes, Slot
from glassformer.show.palette import Part, part_of

ROW, SPACE, MARGIN = 58.0, 12.0, 6.0  # from row to row, between two nodes, around them
LANE = 4.0  # the width of a line that goes past a row
TIP = 12.0  # between two arrows that end at one node, and from its edges
LETTER = 6.1  # pixels of an equation's letter, about

Points: TypeAlias = tuple[tuple[float, float], ...]


class Node(NamedTuple):
    """One step of a block: its equation, its shape, and where it stands."""

    name: str
    left: str
    right: str
    shape: str
    part: Part
    x: float
    y: float
    width: float
    height: float = 36.0


@dataclass(frozen=True)
class Inside:
    """The steps of a block, each below what it reads."""

    key: str
    width: float
    height: float
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        lists = {name: [one._asdict() for one in getattr(self, name)] for name in ("nodes", "arrows")}
        return {"key": self.key, "width": self.width, "height": self.height, **lists}

    def svg(self) -> str:
        """The picture."""
        from glassformer.show.diagram_svg import inside_svg

        return inside_svg(self)


def inside(program: Program, key: str, *, convention: Convention = "rows") -> Inside:
    """A block opened: every step as an equation with its shape."""
    steps = [step for step in program.steps if block_of(step) == key]
    equations = {equation.name: equation for equation in notation(program, TextPen(convention)).rows}
    ranks: dict[str, int] = {}
    for step in steps:
        ranks[step.name] = 1 + max((ranks[tensor.name] for tensor in step.inputs if tensor.name in ranks), default=-1)
    nodes: dict[str, Node] = {}
    for step in steps:
        made = equations[step.name]
        shape = shape_text(step.output, convention)
        width = max(96.0, LETTER * max(len(made.left) + len(made.right) + 3, len(shape)) + 14)
        at = MARGIN + ROW * ranks[step.name]
        nodes[step.name] = Node(step.name, made.left, made.right, shape, _part(step, key), 0, at, width)
    reads = list(dict.fromkeys((tensor.name, step.name) for step in steps for tensor in step.inputs if tensor.name in nodes))
    lanes = Lanes(ranks, reads)
    centres = lanes.centres({name: node.width for name, node in nodes.items()}, space=SPACE, lane=LANE)
    nodes = {name: node._replace(x=MARGIN + centres[Slot(name, ranks[name])] - node.width / 2) for name, node in nodes.items()}
    middles = {slot: MARGIN + at for slot, at in centres.items()}
    arrows = [Arrow(one, other, one, "", points) for (one, other), points in _lines(reads, nodes, ranks, middles).items()]
    right = max([*(node.x + node.width for node in nodes.values()), *(at + LANE / 2 for at in middles.values())]) + MARGIN
    bottom = max(node.y + node.height for node in nodes.values()) + MARGIN
    return Inside(key, right, bottom, tuple(nodes.values()), tuple(arrows))


def _part(step: Step, key: str) -> Part:
    return part_of(f"{key}.step" if step.name == "x" or step.name.endswith(".out") else step.name)


def _lines(
    reads: Sequence[tuple[str, str]], nodes: Mapping[str, Node], ranks: Mapping[str, int], middles: Mapping[Slot, float]
) -> dict[tuple[str, str], Points]:
    """Lines from each step to those that read it: slanted between two rows, straight down through the lanes of a row."""
    above = {read: middles[Slot(read[0], ranks[read[1]] - 1)] for read in reads}  # where each line is before its last slant
    found = {}
    for read in reads:
        source, target = (nodes[name] for name in read)
        through = [(middles[Slot(read[0], row)], MARGIN + ROW * row) for row in range(ranks[read[0]] + 1, ranks[read[1]])]
        passing = [point for x, y in through for point in ((x, y), (x, y + source.height))]
        start = (middles[Slot(read[0], ranks[read[0]])], source.y + source.height)
        rivals = sorted(at for other, at in above.items() if other[1] == read[1])
        found[read] = (start, *passing, (_end(target, rivals, above[read]), target.y))
    return found


def _end(target: Node, lines: Sequence[float], line: float) -> float:
    """Where a line meets its box: as straight below as the box allows, and apart from the others that end there."""
    before = lines.index(line)
    low, high = target.x + TIP * (1 + before), target.x + target.width - TIP * (len(lines) - before)
    return min(max(line, low), max(high, low))
