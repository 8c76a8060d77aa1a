"""Norms in common conventions: variance divided by n or n − 1, eps inside or outside the root."""

# ruff: noqa: ARG002 - all operations have the same methods, and not each uses all arguments.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Ratio, Ref, Sum, Values, in_full, minus
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise, aligned
from glassformer.program.operations.norms import Variance

EQUAL = 1e-13  # a variance this small relative to the numbers is rounding error: the numbers are equal


@dataclass(frozen=True)
class Spread(Variance):
    """The variance, divided by n − `less`: 0 for the biased one, 1 for the unbiased. Inputs: x[, mean]."""

    less: int = 0

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        size = inputs[0].axis(self.over).size
        return np.asarray(super().evaluate(inputs, output, values) * size / (size - self.less))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        squares = super().opened(inputs, output, cell, values)
        assert isinstance(squares, Ratio)
        size = inputs[0].axis(self.over).size - self.less
        return Ratio(squares.top, Constant(float(size), str(size)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        if not self.less:
            return super().write(inputs, output, names, formatter)
        inner = formatter.minus(*names) if len(names) == 2 else names[0]
        return formatter.ratio(formatter.call("sum", formatter.square(inner)), formatter.minus("n", str(self.less)))


@dataclass(frozen=True)
class Deviation(Elementwise):
    """√(variance + eps), or √variance + eps. Input: the variance."""

    eps: float = 0.0
    place: Literal["inside", "outside"] = "inside"

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        inside = self.eps if self.place == "inside" else 0.0
        return np.asarray(np.sqrt(values[0] + inside) + (self.eps - inside))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        eps = Constant(self.eps, in_full(self.eps))
        variance = Ref(inputs[0], cell)
        if not self.eps:
            return Call("sqrt", variance)
        return Call("sqrt", Sum((variance, eps))) if self.place == "inside" else Sum((Call("sqrt", variance), eps))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        if not self.eps:
            return formatter.root(names[0])
        eps = formatter.number(self.eps)
        return (
            formatter.root(formatter.plus(names[0], eps))
            if self.place == "inside"
            else formatter.plus(formatter.root(names[0]), eps)
        )


@dataclass(frozen=True)
class Centre(Elementwise):
    """`(x − mean) / std`, or `x / rms`; 0 if all numbers are equal. Inputs: x[, mean], deviation."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return inputs[0].axes

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        centred = values[0] - aligned(inputs[1], values[1], output) if len(inputs) == 3 else values[0]
        spread = aligned(inputs[-1], values[-1], output)
        flat = spread <= EQUAL * np.abs(values[0]).max(-1, keepdims=True)
        return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, spread)))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        x, spread = Ref(inputs[0], cell), Ref(inputs[-1], cell)
        width = output.axes[-1]
        row = [abs(Ref(inputs[0], cell | {width.name: i}).evaluate(values)) for i in range(width.size)]
        if spread.evaluate(values) <= EQUAL * max(row):
            return Constant(0.0, "0")
        return Ratio(Sum((x, minus(Ref(inputs[1], cell)))) if len(inputs) == 3 else x, spread)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.ratio(formatter.minus(names[0], names[1]) if len(names) == 3 else names[0], names[-1])
