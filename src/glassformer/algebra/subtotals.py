"""Subtotals of the ledger as a tree: parts, sub-parts, and each matrix with its bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.algebra.parts import PARTS
from glassformer.algebra.rows import Line, Within
from glassformer.program import Parameter, Program, Tensor
from glassformer.program.operations import Affine
from glassformer.program.roles import Block

INSIDE_ATTENTION = ("qkv", "output")
GATHERED = ("norms", "scales")  # parts that occur several times in a layer: listed after the others


@dataclass(frozen=True)
class Subtotal:
    """A part with its count and its own parts; a part without parts is one line of the ledger."""

    name: str  # `qkv`, `W_Q + b_Q`, `W_Q`
    place: str  # `layers.attention.qkv`; of a line, its name in the ledger
    count: int
    block: Block  # the block that it is or belongs to
    parts: tuple[Subtotal, ...] = ()
    line: Line | None = None

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Subtotal]]:
        """This part and everything in it from top to bottom, each with its depth."""
        yield depth, self
        for part in self.parts:
            yield from part.walk(depth + 1)

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.name, "place": self.place, "count": self.count}
        if self.line is not None:
            return found | {"times": self.line.times, "formula": self.line.formula, "numbers": self.line.numbers}
        return found | {"parts": [part.to_dict() for part in self.parts]}


def path_of(parameter: Parameter) -> tuple[Within, ...]:
    """Return the subtotals that a parameter belongs to, outermost first: layers, attention, qkv."""
    path = [Within(block.word, block) for block in parameter.block.path if block.kind != "layer"]
    stacks = [within for within in path if within.block.kind == "stack"]
    outer, *blocks = path[len(stacks) :]
    gathered = [
        Within(word, outer.block)
        for word in GATHERED
        if outer.block.kind == "layers" and PARTS[word][1](parameter) and (word == "norms" or parameter.block.kind == "layer")
    ]
    inside = [Within(word, parameter.block) for word in INSIDE_ATTENTION if PARTS[word][1](parameter)]
    return (*stacks, outer, *gathered, *blocks, *inside)


def biases_of_matrices(program: Program) -> dict[str, Tensor]:
    """Return name of a bias -> the matrix whose product it is added to, as found in the steps."""
    products = [step.inputs for step in program.steps if isinstance(step.operation, Affine)]
    return {bias.name: weight for _, weight, bias in products}


def tree(lines: Sequence[Line], depth: int = 0, above: str = "") -> tuple[Subtotal, ...]:
    """Return the subtotals of some lines, which share their `depth` outermost subtotals."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        row = line.rows[0]
        matrix = row.bias_of.any_layer if row.bias_of else line.name
        groups.setdefault(row.within[depth].name if depth < len(row.within) else matrix, []).append(line)
    parts: list[Subtotal] = []
    for name, group in groups.items():
        count, first = sum(line.count for line in group), group[0].rows[0]
        if depth < len(first.within):
            place = f"{above}{name}"
            parts.append(Subtotal(name, place, count, first.within[depth].block, tree(group, depth + 1, f"{place}.")))
            continue
        leaves = tuple([Subtotal(line.symbol, line.name, line.count, line.rows[0].tensor.block, line=line) for line in group])
        if len(leaves) == 1 or len(groups) == 1:  # a pair that makes up its whole part needs no separate subtotal
            parts += leaves
        else:
            parts.append(Subtotal(" + ".join(leaf.name for leaf in leaves), leaves[0].place, count, leaves[0].block, leaves))
    return tuple(sorted(parts, key=lambda part: part.name in GATHERED))


def largest(parts: Sequence[Subtotal]) -> tuple[Subtotal, ...]:
    """Return the largest part, or several if they are equal: attention, ffn and norms of all layers, other parts as a whole.

    If everything is in one part, its own parts are compared; the result is empty if there is nothing to compare.
    """
    stacked = [inner for part in parts for inner in (part.parts if part.block.kind == "stack" else (part,))]
    pieces = [piece for part in stacked for piece in (part.parts if part.block.kind == "layers" else (part,))]
    while len(pieces) == 1 and pieces[0].parts:
        pieces = list(pieces[0].parts)
    most = max((piece.count for piece in pieces), default=0)
    return tuple(piece for piece in pieces if piece.count == most) if len(pieces) > 1 else ()
