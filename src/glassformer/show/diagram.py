"""The diagram of an encoder: its blocks, some of them expanded, and the positions of all boxes and arrows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.algebra import Notation, notation
from glassformer.program import Program, Tensor
from glassformer.program.formatter import Convention, TextFormatter
from glassformer.program.matrices import as_matrix
from glassformer.show.blocks import Node, blocks
from glassformer.show.diagram_boxes import INSET, WIDE, Arrow, Box, Group, box_of, frame_width, headed, words_box
from glassformer.show.diagram_rows import Read, stacked
from glassformer.show.diagram_svg import diagram_svg
from glassformer.show.markup import Html

MARGIN, LAST = 6.0, 32.0  # around the picture, and the length of the arrow at its end
ENTRY = ""  # the name of the input from outside


@dataclass(frozen=True)
class Diagram:
    """Boxes and arrows in pixels, top to bottom; an open block comes before its content."""

    label: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        boxes, arrows = ([one._asdict() for one in found] for found in (self.boxes, self.arrows))
        return {"label": self.label, "width": self.width, "height": self.height, "boxes": boxes, "arrows": arrows}

    def svg(self) -> Html:
        """Return the picture: text in the colour of the page, parts in their own colours."""
        return diagram_svg(self.width, self.height, self.label, self.boxes, self.arrows)


def diagram(program: Program, *, opened: Collection[str] | None = None, convention: Convention = "rows") -> Diagram:
    """Return the diagram with these blocks open; by default every kind of layer is open."""
    written = notation(program, TextFormatter(convention))
    tree = blocks(written)
    names = {node.name for node in tree if node.layers} if opened is None else set(opened)
    group = _Layout(written, names).group(tree, words_box(ENTRY, _inputs(program, convention)))
    return _picture("the encoder as a diagram", group, shape_text(program.output, convention))


def inside(program: Program, name: str, *, convention: Convention = "rows") -> Diagram:
    """Return the diagram of one block, with everything in it open."""
    written = notation(program, TextFormatter(convention))
    node = next(node for top in blocks(written) for node in top.walk() if node.name == name)
    group = _Layout(written, {one.name for one in node.walk()}).group(node.inner or (node,))
    return _picture(f"inside {name}", group)


def shape_text(tensor: Tensor, convention: Convention) -> str:
    """`128 × 768`, the matrix of one input; with all heads concatenated."""
    return " × ".join(f"{size:,}" for size in as_matrix(tensor, convention).shape) or "1"


def _picture(label: str, group: Group, shape: str = "") -> Diagram:
    """Return the diagram with a margin, and an arrow for the output."""
    group = group.moved(MARGIN, MARGIN)
    below = MARGIN
    arrows = list(group.arrows)
    if shape:
        x, y = group.end
        arrows.append(headed(Arrow(group.last, "", ((x, y), (x, y + LAST)), shape, (x - 8, y + LAST / 2))))
        below += LAST
    return Diagram(label, group.width + 2 * MARGIN, group.height + MARGIN + below, tuple(group.boxes), tuple(arrows))


class Reading(NamedTuple):
    """One node reads a tensor of another."""

    source: str
    target: str
    tensor: Tensor


class _Layout:
    """Lays out the nodes of one block and of every open block in it."""

    def __init__(self, written: Notation, opened: set[str]) -> None:
        self.program, self.convention, self.opened = written.program, written.formatter.convention, opened

    def group(self, nodes: Sequence[Node], entry: Group | None = None) -> Group:
        """Arrange nodes in rows, each below its inputs; `entry` is the item where tensors enter."""
        found = self.readings(nodes, entered=entry is not None)
        ranks: dict[str, int] = {ENTRY: 0} if entry is not None else {}
        for node in nodes:
            above = [ranks[one.source] for one in found if one.target == node.name]
            ranks[node.name] = 1 + max(above, default=-1 if entry is None else 0)
        alone = {name: list(ranks.values()).count(rank) == 1 for name, rank in ranks.items()}
        made = ({ENTRY: entry} if entry is not None else {}) | {node.name: self.laid(node, alone[node.name]) for node in nodes}
        silent = {ENTRY, *(node.name for node in nodes if node.equation is not None and not node.is_sum)}
        reads = [
            Read(one.source, one.target, "" if one.source in silent else shape_text(one.tensor, self.convention)) for one in found
        ]
        return stacked(made, ranks, reads, last=nodes[-1].name if nodes else ENTRY)

    def laid(self, node: Node, alone: bool) -> Group:  # noqa: FBT001
        """Return a node as one box, or as a frame with its content."""
        if node.name not in self.opened or not node.inner:
            shape = shape_text(node.output, self.convention)
            return box_of(node, shape, wide=alone)
        inner = self.group(node.inner, Group.point(ENTRY))
        width = max(inner.width + 2 * INSET, frame_width(node), WIDE if alone else 0)
        return inner.framed(box_of(node, "", wide=False).boxes[0], width)

    def readings(self, nodes: Sequence[Node], *, entered: bool) -> list[Reading]:
        """Return the connections between nodes, each pair once, and from outside."""
        found: dict[tuple[str, str], Reading] = {}
        givers = {step.name: node.name for node in nodes for step in node.steps}
        of_layer = {(node.steps[0].block.stack, layer): node.name for node in nodes for layer in node.layers}
        last = {node.steps[0].block.stack: node.name for node in nodes if node.layers}
        for node in nodes:
            own = {step.name for step in node.steps}
            for tensor in (tensor for step in node.steps for tensor in step.inputs):
                if tensor.name in own or tensor.name in self.program.written:
                    continue
                source = givers.get(tensor.name)
                if source is None and tensor.block.layer is not None and of_layer:  # of a layer that is not drawn
                    stack = tensor.block.stack
                    same = node.layers and node.steps[0].block.stack == stack
                    source = of_layer.get((stack, tensor.block.layer)) if same else last.get(stack)
                if source is None and entered:
                    source = ENTRY
                if source is not None and source != node.name:
                    found.setdefault((source, node.name), Reading(source, node.name, tensor))
        return list(found.values())


def _inputs(program: Program, convention: Convention) -> str:
    if program.sizes.u is not None:
        return ", ".join(f"{tensor.name} {' × '.join(f'{axis.size:,}' for axis in tensor.axes[1:])}" for tensor in program.inputs)
    if program.spec.one_length:
        return f"{program.spec.reads} {' × '.join(str(axis.size) for axis in program.inputs[0].axes[1:])}"
    if program.spec.reads == "tokens":
        return f"{' and '.join(tensor.name for tensor in program.inputs)}, {program.sizes.t:,} each"
    return f"vectors, {shape_text(program.inputs[0], convention)}"
