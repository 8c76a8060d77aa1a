"""From scores to weights: softmax, sparsemax, sigmoid, hardmax."""

# ruff: noqa: ARG002 - all operations have the same methods, and not each uses all arguments.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Ratio, Ref, Sum, Values, minus
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise, position_of
from glassformer.program.operations.scores import Softmax


def _each(tensor: Tensor, formatter: Formatter) -> str:
    """Return `of each row` if there are several rows."""
    if len(tensor.axes) < 2:
        return ""
    return formatter.words(" of each row" if formatter.convention == "rows" else " of each column")


@dataclass(frozen=True)
class RowSoftmax(Softmax):
    """Softmax, written as on paper."""

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("softmax", names[0]) + _each(output, formatter)


@dataclass(frozen=True)
class Sparsemax(Elementwise):
    """The nearest point of the simplex (Martins and Astudillo 2016): max(z − τ, 0), τ such that the weights sum to one."""

    over: str

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 5 * output.size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.apply_along_axis(_sparsemax, position_of(output, self.over), values[0])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        refs = [Ref(inputs[0], cell | {self.over: i}) for i in range(output.axis(self.over).size)]
        own = refs[cell[self.over]]
        support = [refs[i] for i in _support(np.array([ref.evaluate(values) for ref in refs]))]
        if not support or own.evaluate(values) == -math.inf:
            return Constant(0.0, "0")
        total = Sum((*support, Constant(-1.0, "−1")))
        return Call("relu", Sum((own, minus(Ratio(total, Constant(float(len(support)), str(len(support))))))))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        rule = formatter.words(": z − threshold where that is positive, else 0; threshold = (sum of those z − 1) / their number")
        return formatter.call("sparsemax", names[0]) + _each(output, formatter) + rule


@dataclass(frozen=True)
class Sigmoid(Elementwise):
    """1 / (1 + e^−x) of each number independently: the weights need not sum to one."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 3 * output.size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(0.5 * (1 + np.tanh(0.5 * values[0])))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Call("sigmoid", Ref(inputs[0], cell))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("sigmoid", names[0])


@dataclass(frozen=True)
class Hardmax(Elementwise):
    """One for the largest, zero for the rest; of equal ones, the first."""

    over: str

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        axis = position_of(output, self.over)
        best = np.expand_dims(values[0].argmax(axis), axis)
        places = np.arange(output.axis(self.over).size).reshape([-1 if i == axis else 1 for i in range(len(output.axes))])
        return np.where((places == best) & np.isfinite(values[0]), 1.0, 0.0)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        row = [Ref(inputs[0], cell | {self.over: i}).evaluate(values) for i in range(output.axis(self.over).size)]
        won = row.index(max(row)) == cell[self.over] and math.isfinite(max(row))
        return Constant(1.0, "1") if won else Constant(0.0, "0")

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return (
            formatter.call("hardmax", names[0])
            + _each(output, formatter)
            + formatter.words(": 1 for the largest, the first of equals")
        )


def _support(row: Array) -> list[int]:
    """The places that keep a weight: the largest k with 1 + k z_(k) > the sum of the k largest."""
    order = [int(place) for place in np.argsort(-row, kind="stable") if math.isfinite(row[place])]
    kept: list[int] = []
    for count, place in enumerate(order, start=1):
        if 1 + count * row[place] <= math.fsum(row[other] for other in order[:count]):
            break
        kept.append(place)
    return kept


def _sparsemax(row: Array) -> Array:
    support = _support(row)
    if not support:
        return np.zeros(row.shape)
    threshold = (math.fsum(row[place] for place in support) - 1) / len(support)
    return np.maximum(np.where(np.isfinite(row), row, threshold) - threshold, 0)
