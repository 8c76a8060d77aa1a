"""The diagram of one block opened: each step as an equation with its shape, below the steps that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.algebra import notation
from glassformer.program import Program, Step
from glassformer.program.pen import Convention, TextPen
from glassformer.show.diagram import Arrow, block_of, shape_text
from glassformer.show.palette import Part, part_of

ROW, SPACE, MARGIN = 58.0, 12.0, 6.0  # from row to row, between two nodes, around them
LETTER = 6.1  # pixels of an equation's letter, about


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
    widest = max(_wide(row) for row in _rows(nodes.values()))
    for row in _rows(nodes.values()):
        x = (widest - _wide(row)) / 2 + MARGIN
        for node in row:
            nodes[node.name] = node._replace(x=x)
            x += node.width + SPACE
    reads = [(tensor.name, step.name) for step in steps for tensor in step.inputs if tensor.name in nodes]
    arrows = [Arrow(one, other, one, "", _line(nodes[one], nodes[other], nodes.values())) for one, other in reads]
    right = max([widest + MARGIN, *(x for arrow in arrows for x, _ in arrow.points)]) + MARGIN
    bottom = max(node.y + node.height for node in nodes.values()) + MARGIN
    return Inside(key, right, bottom, tuple(nodes.values()), tuple(arrows))


def _part(step: Step, key: str) -> Part:
    return part_of(f"{key}.step" if step.name == "x" or step.name.endswith(".out") else step.name)


def _rows(nodes: Iterable[Node]) -> list[list[Node]]:
    rows: dict[float, list[Node]] = {}
    for node in nodes:
        rows.setdefault(node.y, []).append(node)
    return list(rows.values())


def _wide(row: list[Node]) -> float:
    return sum(node.width + SPACE for node in row) - SPACE


def _line(source: Node, target: Node, nodes: Iterable[Node]) -> tuple[tuple[float, float], ...]:
    """Down from one to the other; past the side of what stands between, where something does."""
    start = source.x + source.width / 2
    end = min(max(start, target.x + 14), target.x + target.width - 14)
    below, above = source.y + source.height, target.y
    between = [node for node in nodes if source.y < node.y < target.y]
    if not between:
        return (start, below), (end, above)
    if all(not node.x - 4 <= start <= node.x + node.width + 4 for node in between):
        return (start, below), (start, above - 12), (end, above)
    side = max(node.x + node.width for node in (source, target, *between)) + 6 * (1 + len(_rows(between)))
    return (source.x + source.width, below - 10), (side, below - 10), (side, above + 10), (target.x + target.width, above + 10)
