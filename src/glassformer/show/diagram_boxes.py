"""The elements of a diagram: boxes with text and size, arrows, and groups of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from glassformer.show.blocks import Node
from glassformer.show.palette import Part

Kind: TypeAlias = Literal["words", "sum", "step", "block"]
Point: TypeAlias = tuple[float, float]
Pieces: TypeAlias = tuple[tuple[str, bool], ...]

HEIGHT, CIRCLE = 36.0, 20.0  # of a box, and of the circle of a sum
WIDE, NARROW = 250.0, 104.0  # the least width of a block that has its row to itself, and of any other box
HEADER, INSET = 30.0, 12.0  # of an open block: its title, and the margin around its content
LETTER, BOLD = 6.3, 7.4  # pixels of a letter, about
INDEX = re.compile(r"_(?:\{([^{}]*)\}|([A-Za-z0-9]+))")


class Box(NamedTuple):
    """A block, a step, the circle of a sum, or text without a frame."""

    name: str
    kind: Kind
    part: Part | None
    title: str
    pieces: Pieces  # the title or the equation, cut at its indices: text, and whether it is a subscript
    note: str  # the parameters of a block, the shape of a step
    parameters: int
    shape: str
    open: bool | None  # None: it has no content
    x: float
    y: float
    width: float
    height: float


class Arrow(NamedTuple):
    """A tensor as a line through points; its shape is written to the left of the point `at`."""

    source: str
    target: str
    points: tuple[Point, ...]
    label: str = ""
    at: Point = (0.0, 0.0)
    head: tuple[Point, ...] = ()  # the arrow head as a line; empty if the arrow continues outside


def headed(arrow: Arrow) -> Arrow:
    """An arrow with its head."""
    (fx, fy), (x, y) = arrow.points[-2:]
    length = max(((x - fx) ** 2 + (y - fy) ** 2) ** 0.5, 1e-9)
    ux, uy = (x - fx) / length, (y - fy) / length
    left, right = ((x - 6 * ux + side * uy, y - 6 * uy - side * ux) for side in (-3.5, 3.5))
    return arrow._replace(head=(left, (x, y), right))


@dataclass(frozen=True)
class Group:
    """Boxes and arrows; `last` is the box of the result, which leaves the group at the point `end`."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    last: str
    end: Point

    @classmethod
    def point(cls, name: str) -> Group:
        """An empty group: a point where lines start."""
        return cls(0.0, 0.0, (), (), name, (0.0, 0.0))

    @classmethod
    def single(cls, box: Box) -> Group:
        return cls(box.width, box.height, (box,), (), box.name, (box.width / 2, box.height))

    def moved(self, x: float, y: float) -> Group:
        """Return the group, moved."""
        boxes = tuple(box._replace(x=box.x + x, y=box.y + y) for box in self.boxes)
        arrows = tuple(
            arrow._replace(
                points=tuple((a + x, b + y) for a, b in arrow.points),
                at=(arrow.at[0] + x, arrow.at[1] + y),
                head=tuple((a + x, b + y) for a, b in arrow.head),
            )
            for arrow in self.arrows
        )
        return replace(self, boxes=boxes, arrows=arrows, end=(self.end[0] + x, self.end[1] + y))

    def framed(self, box: Box, width: float) -> Group:
        """Return the content of an open block with a frame."""
        inner = self.moved((width - self.width) / 2, HEADER)
        frame = box._replace(open=True, width=width, height=HEADER + self.height + INSET)
        x, y = inner.end
        out = () if abs(x - width / 2) > 1 else (Arrow(self.last, "", ((x, y), (x, frame.height))),)
        return Group(width, frame.height, (frame, *inner.boxes), (*inner.arrows, *out), box.name, (width / 2, frame.height))


def box_of(node: Node, shape: str, *, wide: bool) -> Group:
    """Return the box of a closed node: a step shows its equation and shape, a block its title and parameters."""
    if node.is_sum:
        return Group.single(_box(node, "sum", "", (("+", False),), shape, (CIRCLE, CIRCLE)))
    if node.equation is not None:
        pieces = scripted(f"{node.equation.left} = {node.equation.right}")
        letters = max(len(shape), sum(0.8 * len(text) if low else len(text) for text, low in pieces))
        return Group.single(_box(node, "step", shape, pieces, shape, (max(NARROW, LETTER * letters + 26), HEIGHT)))
    width = max(frame_width(node), WIDE if wide else NARROW)
    return Group.single(_box(node, "block", node.note, ((node.title, False),), shape, (width, HEIGHT)))


def _box(node: Node, kind: Kind, note: str, pieces: Pieces, shape: str, size: Point) -> Box:
    opens = False if node.inner else None
    return Box(node.name, kind, node.part, node.title, pieces, note, node.parameters, shape, opens, 0.0, 0.0, *size)


def words_box(name: str, words: str) -> Group:
    """Return text without a frame."""
    box = Box(name, "words", None, words, ((words, False),), "", 0, "", None, 0.0, 0.0, LETTER * len(words), 18.0)
    return Group.single(box)


def frame_width(node: Node) -> float:
    """Return the width of a block's title and note side by side."""
    return 12 + 14 * bool(node.inner) + BOLD * len(node.title) + 14 + LETTER * len(node.note) + 10


def scripted(text: str) -> Pieces:
    """Split `W_Q x` into W, the index Q, and x."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for found in INDEX.finditer(text):
        pieces += [(text[at : found.start()], False), (found[1] or found[2] or "", True)]
        at = found.end()
    return tuple((piece, low) for piece, low in [*pieces, (text[at:], False)] if piece)
