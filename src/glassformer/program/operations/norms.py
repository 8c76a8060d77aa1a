"""LayerNorm and RMSNorm in their steps: mean, variance, normalise, scale and shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum, Values, in_full, minus
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise, aligned, position_of


@dataclass(frozen=True)
class Variance(Elementwise):
    """The mean square of `x − mean` along `over` (two passes: no cancellation); without a mean, of `x` itself."""

    over: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(axis for axis in inputs[0].axes if axis.name != self.over)

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return (len(inputs) + 1) * inputs[0].size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(np.square(_centred(inputs, values)).mean(position_of(inputs[0], self.over)))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        size = inputs[0].axis(self.over).size
        squares = [Call("square", _centred_cell(inputs, cell | {self.over: i})) for i in range(size)]
        return Ratio(Sum(tuple(squares)), Constant(float(size), str(size)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        inner = formatter.minus(*names) if len(names) == 2 else names[0]
        return formatter.call("mean", formatter.square(inner)) + formatter.over(self.over)


@dataclass(frozen=True)
class Normalise(Elementwise):
    """`(x − mean) / √(variance + eps)`; without a mean, `x / √(mean square + eps)`. Inputs: x, [mean,] variance."""

    eps: float

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return inputs[0].axes

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return (len(inputs) - 1) * output.size + 2 * inputs[-1].size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        root = np.sqrt(aligned(inputs[-1], values[-1], output) + self.eps)
        return np.asarray(_centred(inputs[:-1], values[:-1]) / root)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        spread = Sum((Ref(inputs[-1], cell), Constant(self.eps, in_full(self.eps))))
        return Ratio(_centred_cell(inputs[:-1], cell), Call("sqrt", spread))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        top = formatter.minus(names[0], names[1]) if len(names) == 3 else names[0]
        return formatter.ratio(top, formatter.root(formatter.plus(names[-1], formatter.number(self.eps))))


@dataclass(frozen=True)
class Shift(Elementwise):
    """`gamma · x + beta`, feature by feature; without beta, `gamma · x`; with `plus_one`, 1 + gamma stands for gamma (Gemma)."""

    plus_one: bool = False

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return (len(inputs) - 1) * output.size + (inputs[1].size if self.plus_one else 0)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        result = values[0] * aligned(inputs[1], values[1] + 1.0 if self.plus_one else values[1], output)
        return result + aligned(inputs[2], values[2], output) if len(inputs) == 3 else result

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        gamma: Expression = Ref(inputs[1], cell)
        scaled = Product((Sum((Constant(1.0, "1"), gamma)) if self.plus_one else gamma, Ref(inputs[0], cell)))
        return Sum((scaled, Ref(inputs[2], cell))) if len(inputs) == 3 else scaled

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        gamma = f"({formatter.plus('1', names[1])})" if self.plus_one else names[1]
        scaled = formatter.times(gamma, names[0])
        return formatter.plus(scaled, names[2]) if len(names) == 3 else scaled


def _centred(inputs: Sequence[Tensor], values: Sequence[Array]) -> Array:
    return values[0] - aligned(inputs[1], values[1], inputs[0]) if len(inputs) == 2 else values[0]


def _centred_cell(inputs: Sequence[Tensor], cell: Cell) -> Expression:
    return Sum((Ref(inputs[0], cell), minus(Ref(inputs[1], cell)))) if len(inputs) == 2 else Ref(inputs[0], cell)
