"""The diagram of an encoder, from its program alone: blocks with parameters, arrows with shapes, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.algebra import Notation, notation
from glassformer.program import Program, Step, Tensor
from glassformer.program.axes import layer_of
from glassformer.program.matrices import as_matrix
from glassformer.program.operations import Add
from glassformer.program.pen import Convention, TextPen
from glassformer.show.palette import Part, part_of
from glassformer.spec import EncoderSpec

WIDTH = 336  # pixels: a telephone held upright
CENTRE = 141.0
BOX, SUM, GAP = (234.0, 36.0), 20.0, 30.0  # width and height of a box, of the circle of a sum, what an arrow takes
FRAME = 14.0  # from a frame to what stands in it
LANE = 16.0  # from a box to the arrow that goes around it


class Box(NamedTuple):
    """A block: `key` is the prefix of its steps, `kind` says whether it is drawn as a box, a sum or plain words."""

    key: str
    kind: str
    title: str
    part: Part
    parameters: int
    steps: tuple[str, ...]
    x: float = 0.0
    y: float = 0.0
    width: float = BOX[0]
    height: float = BOX[1]


class Arrow(NamedTuple):
    """A tensor on its way from one block to another; `points` is the line that it follows."""

    source: str
    target: str
    tensor: str
    label: str
    points: tuple[tuple[float, float], ...]
    around: bool = False


class Frame(NamedTuple):
    """Layers that are alike, drawn once."""

    title: str
    note: str
    layers: tuple[int, ...]
    y: float
    height: float


@dataclass(frozen=True)
class Diagram:
    """Boxes, arrows and frames in pixels, top to bottom."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    frames: tuple[Frame, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        lists = {name: [one._asdict() for one in getattr(self, name)] for name in ("boxes", "arrows", "frames")}
        return {"width": self.width, "height": self.height, **lists}

    def svg(self) -> str:
        """The picture: text in the colour of the page, parts in theirs."""
        from glassformer.show.diagram_svg import diagram_svg

        return diagram_svg(self)


def diagram(program: Program, *, convention: Convention = "rows") -> Diagram:
    """The encoder as one column; layers that are alike are drawn once."""
    sections = notation(program, TextPen(convention))
    return _Column(program, sections, convention).drawn()


def block_of(step: Step) -> str:
    """The block that a step belongs to: `layers.0.attention`, `layers.0.norm_1`, `embeddings`, …"""
    words = step.name.split(".")
    if step.name == "x":
        return "embeddings"
    if words[0] != "layers" or not words[1].isdecimal():
        return words[0] if words[0] != "layers" else "layers.relative"
    if words[2] == "out":  # the last step of a layer bears the layer's name: what it is, its inputs say
        inner = step.inputs[0].name.split(".")
        words[2] = "sum_2" if isinstance(step.operation, Add) else inner[2]
    return ".".join([*words[:2], "attention" if words[2] in ("relative", "relative_norm") else words[2]])


def shape_text(tensor: Tensor, convention: Convention) -> str:
    """`128 × 768`, the matrix of one input; all heads of a head's tensor side by side."""
    return " × ".join(f"{size:,}" for size in as_matrix(tensor, convention).shape) or "1"


class _Column:
    """The layout: one pass down the blocks, then the arrows between them."""

    def __init__(self, program: Program, sections: Notation, convention: Convention) -> None:
        self.program, self.convention = program, convention
        self.spec = program.spec
        self.chosen = [(section.layers, {equation.name for equation in section.equations}) for section in sections.sections]
        self.block: dict[str, str] = {step.name: block_of(step) for step in program.steps}
        self.block |= {tensor.name: "input" for tensor in program.inputs}
        self.boxes: dict[str, Box] = {}
        self.y = 6.0

    def drawn(self) -> Diagram:
        self.place(Box("input", "words", _inputs(self.program, self.convention), "embedding", 0, ()))
        frames = [frame for layers, names in self.chosen for frame in self.section(layers, names)]
        arrows = tuple(self.arrows())
        height = self.y + 34
        return Diagram(WIDTH, height, tuple(self.boxes.values()), arrows, tuple(frames))

    def section(self, layers: tuple[int, ...], names: set[str]) -> Iterator[Frame]:
        """The blocks of a section, in a frame where they are a layer."""
        blocks: dict[str, list[Step]] = {}
        for step in self.program.steps:
            if step.name in names and self.block[step.name] != "layers.relative":
                blocks.setdefault(self.block[step.name], []).append(step)
        top = self.y + GAP
        if layers:
            self.y += GAP + 22
        for key, steps in blocks.items():
            self.place(self.box(key, steps))
        if layers:
            self.y += FRAME
            title, note = self.frame_words(layers, list(blocks))
            yield Frame(title, note, layers, top, self.y - top)

    def box(self, key: str, steps: list[Step]) -> Box:
        kind = "sum" if isinstance(steps[-1].operation, Add) and len(steps) == 1 else "box"
        read = {tensor.name for step in steps for tensor in step.inputs}
        own = [
            parameter
            for parameter in self.program.parameters
            if parameter.name.startswith(f"{key}.") or (parameter.name in read and layer_of(parameter.name) is not None)
        ]
        count = sum(parameter.size for parameter in own)
        part: Part = "norm" if kind == "sum" else "attention" if key.endswith(".attention") else part_of(key)
        return Box(key, kind, _title(key, self.spec), part, count, tuple(step.name for step in steps))

    def place(self, box: Box) -> None:
        self.y += 0 if box.kind == "words" else GAP
        width, height = (SUM, SUM) if box.kind == "sum" else (BOX[0], 20.0 if box.kind == "words" else BOX[1])
        self.boxes[box.key] = box._replace(x=CENTRE - width / 2, y=self.y, width=width, height=height)
        self.y += height

    def frame_words(self, layers: tuple[int, ...], keys: list[str]) -> tuple[str, str]:
        each, count = sum(self.boxes[key].parameters for key in keys), len(layers)
        window = self.spec.layer_window(layers[0])
        sees = "" if self.spec.window is None else ", global" if window is None else f", window {window}"
        if count == 1:
            return f"layer {layers[0]}{sees}", f"{each:,}"
        if self.spec.share_layers is not None:
            return f"{count} × layer{sees}", f"{each:,}, shared"
        for_all = [one.size for one in self.program.parameters if one.name.startswith("layers.") and layer_of(one.name) is None]
        if for_all and layers[0] == 0:
            what = "relative table" if self.spec.disentangled else "relative bias"
            return f"{count} × layer{sees}", f"{count} × {each:,} + {sum(for_all):,} {what}"
        return f"{count} × layer{sees}", f"{count} × {each:,}" + ("" if sees else f" = {count * each:,}")

    def arrows(self) -> Iterator[Arrow]:
        """Straight down to the next block; around the others."""
        order = list(self.boxes)
        seen: set[tuple[str, str, str]] = set()
        lanes = 0
        for source, target, tensor in self.edges(order):
            if (source, target, tensor.name) in seen:
                continue
            seen.add((source, target, tensor.name))
            label = shape_text(tensor, self.convention)
            if order.index(target) == order.index(source) + 1:
                start, end = self.boxes[source], self.boxes[target]
                down = ((CENTRE, start.y + start.height), (CENTRE, end.y))
                yield Arrow(source, target, tensor.name, "" if source == "input" else label, down)
            else:
                right = self.boxes[target].kind == "sum"
                lanes += not right
                line = self.around(source, target, order, 0 if right else lanes)
                yield Arrow(source, target, tensor.name, label, line, around=True)
        last = self.boxes[order[-1]]
        below = ((CENTRE, last.y + last.height), (CENTRE, self.y + GAP))
        yield Arrow(order[-1], "", self.program.output.name, shape_text(self.program.output, self.convention), below)

    def edges(self, order: list[str]) -> Iterator[tuple[str, str, Tensor]]:
        """What goes from block to block; a layer that is not drawn gives what the block above gives."""
        for place, target in enumerate(order):
            for tensor in (tensor for name in self.boxes[target].steps for tensor in self.program.step_of[name].inputs):
                source = self.block.get(tensor.name)
                if source is None or source in (target, "layers.relative"):
                    continue
                if source not in order[:place]:
                    source = self.above(target, order)
                yield source, target, tensor

    def above(self, target: str, order: list[str]) -> str:
        """What stands for the layer before a drawn one: the block above its frame; after the layers, the last that is drawn."""
        if not target.startswith("layers."):
            return next(key for key in reversed(order) if key.startswith("layers."))
        scope = ".".join([*target.split(".")[:2], ""])
        first = next(place for place, key in enumerate(order) if key.startswith(scope))
        return order[first - 1]

    def around(self, source: str, target: str, order: list[str], lane: int) -> tuple[tuple[float, float], ...]:
        """From the arrow below `source`, past what lies between, to the side of `target`: a sum's right, or the left."""
        following, end = self.boxes[order[order.index(source) + 1]], self.boxes[target]
        side = CENTRE - BOX[0] / 2 - LANE / 2 - 4 * (lane - 1) if lane else CENTRE + BOX[0] / 2 + LANE
        top, middle = following.y - 11, end.y + end.height / 2
        into = end.x if lane else end.x + end.width
        return (CENTRE, top), (side, top), (side, middle), (into, middle)


def _inputs(program: Program, convention: Convention) -> str:
    sizes = program.sizes
    if program.spec.one_length:
        return f"{program.spec.reads} {' × '.join(str(axis.size) for axis in program.inputs[0].axes[1:])}"
    if program.spec.reads == "tokens":
        return f"{' and '.join(tensor.name for tensor in program.inputs)}, {sizes.t:,} each"
    return f"vectors, {shape_text(program.inputs[0], convention)}"


def _on_fewer(spec: EncoderSpec) -> str:
    """Where several heads of queries share keys and values."""
    return f" on {spec.key_heads}" if spec.group > 1 else ""


def _title(key: str, spec: EncoderSpec) -> str:
    word = key.rpartition(".")[2]
    norm = {"layer": "LayerNorm", "rms": "RMSNorm"}[spec.norm_kind]
    titles = {
        "embeddings": "embedding",
        "attention": f"attention, {spec.heads} head{'s' if spec.heads > 1 else ''}{_on_fewer(spec)}",
        "ffn": "feed-forward",
        "norm_1": norm,
        "norm_2": norm,
        "final_norm": f"final {norm}",
        "scaled_1": "layer scale",
        "scaled_2": "layer scale",
        "head": f"head: {spec.head}",
    }
    return titles.get(word, "+" if word.startswith("sum") else word)
