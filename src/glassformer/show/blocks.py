"""The encoder as a tree of nested blocks, down to its steps, from which every diagram is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from glassformer.algebra.notation import Equation, Notation
from glassformer.program import Program, Step, Tensor
from glassformer.program.roles import Block, BlockKind
from glassformer.show.palette import Part, block_part, tensor_part

RESIDUALS = ("attention residual", "cross residual", "ffn residual")


@dataclass(frozen=True)
class Node:
    """A block or a step: a step has an equation and no children. Identical layers are one block."""

    name: str
    kind: BlockKind | Literal["step"]
    title: str
    part: Part | None  # None: a layer, which has several
    parameters: int  # of all layers that it represents
    note: str  # the caption in a picture
    output: Tensor
    steps: tuple[Step, ...]
    equation: Equation | None = None
    inner: tuple[Node, ...] = ()
    layers: tuple[int, ...] = ()
    about: str = ""

    @property
    def is_sum(self) -> bool:
        """Whether it is a residual: a plus sign in a circle."""
        return not self.inner and self.output.role in RESIDUALS

    def walk(self) -> Iterator[Node]:
        """This node and all nodes below it."""
        yield self
        for node in self.inner:
            yield from node.walk()


def blocks(written: Notation) -> tuple[Node, ...]:
    """The tree, in order of computation."""
    return _Reader(written).nodes


class _Reader:
    def __init__(self, written: Notation) -> None:
        self.program: Program = written.program
        self.sizes = {parameter.name: parameter.size for parameter in self.program.parameters}
        self.read = {tensor.name for step in self.program.steps for tensor in step.inputs}
        self.equations = {equation.name: equation for equation in written.rows}
        self.nodes: tuple[Node, ...] = ()
        self.owners: set[tuple[str, int]] = set()  # the layers whose weights are counted already, by stack and number
        for section in written.sections:
            steps = [self.program.step_of[equation.name] for equation in section.equations]
            self.nodes += tuple(self.inside(steps, 0, section.layers, section.title))

    def inside(self, steps: Sequence[Step], depth: int, layers: tuple[int, ...] = (), about: str = "") -> Iterator[Node]:
        """Group adjacent steps of the same block; a nested block with one step is shown as that step."""
        for block, found in groupby(steps, key=lambda step: _at(step.block, depth)):
            group = tuple(found)
            if block is None:
                yield from map(self.step, group)
            elif block.kind == "layer":
                yield self.layer(block, group, layers, about)
            elif depth and len(group) == 1:
                yield self.step(group[0], self.title(block))
            else:
                yield self.block(block, group, tuple(self.inside(group, depth + 1)))

    def step(self, step: Step, title: str = "") -> Node:
        count = self.counted((step,))
        equation = self.equations[step.name]
        part = tensor_part(step.output)
        return Node(step.name, "step", title or step.role, part, count, _parameters(count), step.output, (step,), equation)

    def block(self, block: Block, steps: tuple[Step, ...], inner: tuple[Node, ...]) -> Node:
        count = self.counted(steps) + self.stored(steps)
        if block.name == block.part:  # a mask token or an unused bias, which no step reads, is counted
            count = sum(parameter.size for parameter in self.program.parameters if parameter.tensor.block.part == block.name)
        part = block_part(block)
        return Node(
            block.name, block.kind, self.title(block), part, count, _parameters(count), steps[-1].output, steps, inner=inner
        )

    def layer(self, block: Block, steps: tuple[Step, ...], layers: tuple[int, ...], about: str) -> Node:
        inner = tuple(self.inside(steps, len(tuple(_shown(block)))))
        spec = self.program.spec_of(block)
        each, owners = self.counted(steps) + self.stored(steps), {spec.layer_weights(number) for number in layers}
        window = spec.layer_window(layers[0])
        sees = "" if spec.window is None else ", global" if window is None else f", window {window}"
        layer = f"{block.stack} layer".lstrip()
        title = f"{layer} {layers[0]}{sees}" if len(layers) == 1 else f"{len(layers)} × {layer}{sees}"
        known = {number for stack, number in self.owners if stack == block.stack} & owners
        self.owners |= {(block.stack, number) for number in owners}
        note = f"{each:,}" if len(owners) == 1 else f"{len(owners)} × {each:,} = {len(owners) * each:,}"
        note += ", shared" if len(owners) < len(layers) or known else ""
        common = self.common(block) if 0 in layers else 0
        note += f", and {common:,} shared by all layers" if common else ""
        count = each * len(owners - known) + common
        return Node(block.name, block.kind, title, None, count, note, steps[-1].output, steps, None, inner, layers, about)

    def counted(self, steps: Sequence[Step]) -> int:
        """The parameters of some steps. A tied table counts for the embeddings, and one shared by all layers for none of them."""
        own = {
            tensor.name
            for step in steps
            for tensor in step.inputs
            if tensor.name in self.sizes
            and (tensor.block.stack, tensor.block.part) == (step.block.stack, step.block.part)
            and (tensor.block.layer is None) == (step.block.layer is None)
        }
        return sum(self.sizes[name] for name in own)

    def stored(self, steps: Sequence[Step]) -> int:
        """The parameters that no step reads, in the blocks of some steps of a layer."""
        specs = ((step.block, self.program.spec_of(step.block)) for step in steps if step.block.layer is not None)
        blocks = {(block.any_layer, spec.layer_weights(block.layer or 0)) for block, spec in specs}
        unread = (p for p in self.program.parameters if p.block.layer is not None and p.name not in self.read)
        return sum(p.size for p in unread if (p.block.any_layer, p.block.layer) in blocks)

    def common(self, layer: Block) -> int:
        """The parameters shared by all layers that only steps of layers read: they are counted with the first layers."""
        outside = {tensor.name for step in self.program.steps if step.block.layer is None for tensor in step.inputs}
        return sum(
            parameter.size
            for parameter in self.program.parameters
            if (parameter.tensor.block.stack, parameter.tensor.block.part) == (layer.stack, layer.part)
            and parameter.tensor.block.layer is None
            and parameter.name not in outside
        )

    def title(self, block: Block) -> str:
        spec = self.program.spec_of(block)
        stack = f"{block.stack} " if block.stack else ""
        if block.kind == "norm":
            norm = {"layer": "LayerNorm", "rms": "RMSNorm", "scale": "factors"}[spec.norm_kind]
            norm = "LayerNorm" if spec.norm_kind == "scale" and block.part == "head" else norm
            return {"final_norm": f"{stack}final {norm}", "relative_norm": "relative table"}.get(block.word, norm)
        if block.kind in ("attention", "cross"):
            shared = f" on {spec.key_heads}" if spec.group > 1 else ""
            what = "attention" if block.kind == "attention" else "cross-attention"
            return f"{what}, {spec.heads} head{'s' if spec.heads > 1 else ''}{shared}"
        words = {
            "embeddings": f"{stack}embedding",
            "ffn": "feed-forward",
            "mixing": "Fourier transform",
            "head": "next token" if spec.predicts_next else f"head: {spec.head}",
        }
        return words.get(block.kind, block.word)


def _shown(block: Block) -> Iterator[Block]:
    """The blocks around a step that are drawn. `layers` and stacks are not: the blocks of a stack are named after it."""
    return (one for one in block.path if one.kind not in ("layers", "stack"))


def _at(block: Block, depth: int) -> Block | None:
    return next((one for place, one in enumerate(_shown(block)) if place == depth), None)


def _parameters(count: int) -> str:
    return f"{count:,}" if count else "no parameters"
