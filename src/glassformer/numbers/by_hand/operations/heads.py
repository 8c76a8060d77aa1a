"""Small steps: split into heads, concatenate heads, take one row, pick coordinates, one dot product."""

# ruff: noqa: ARG002 - all operations have the same methods, and not each uses all arguments.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Expression, Ref, Values
from glassformer.program.formatter import Formatter, LatexFormatter
from glassformer.program.operations.base import Copy, position_of
from glassformer.program.operations.products import Contract, summed_cells


@dataclass(frozen=True)
class Split(Copy):
    """The last axis cut into equal pieces, one for each head."""

    head: Axis
    width: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (self.head, *inputs[0].axes[:-1], self.width)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        pieces = values[0].reshape(*values[0].shape[:-1], self.head.size, self.width.size)
        return np.moveaxis(pieces, -2, 0)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        feature = cell["head"] * self.width.size + cell[self.width.name]
        return Ref(inputs[0], cell | {inputs[0].axes[-1].name: feature})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return names[0] + formatter.words(f", cut into {self.head.size} heads of {self.width.size}")


@dataclass(frozen=True)
class Concat(Copy):
    """The heads side by side."""

    along: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes[1:-1], self.along)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.moveaxis(values[0], 0, -2).reshape(output.shape)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        width = inputs[0].axes[-1]
        head, feature = divmod(cell[self.along.name], width.size)
        return Ref(inputs[0], cell | {"head": head, width.name: feature})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("concat", names[0])


@dataclass(frozen=True)
class Row(Copy):
    """One token's vector."""

    over: str
    index: int
    label: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(axis for axis in inputs[0].axes if axis.name != self.over)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.take(values[0], self.index, axis=position_of(inputs[0], self.over))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell | {self.over: self.index})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[0], self.label)


@dataclass(frozen=True)
class Inner(Contract):
    """The dot product of two vectors: one number."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.array(float(np.dot(values[0], values[1])))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        dot = r"\cdot" if isinstance(formatter, LatexFormatter) else "·"
        return f"{names[0]} {dot} {names[1]}"


@dataclass(frozen=True)
class Pick(Contract):
    """A product with a matrix of zeros and ones that picks coordinates; `picks` says which, counted from 1."""

    picks: str = ""

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        weight = values[inputs[1].name]
        for at in summed_cells(inputs, output, cell):
            if weight[inputs[1].at(at)]:
                return Ref(inputs[0], at)
        return super().opened(inputs, output, cell, values)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return super().write(inputs, output, names, formatter) + formatter.words(f", which picks coordinates {self.picks}")
