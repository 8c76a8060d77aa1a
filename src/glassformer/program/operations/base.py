"""What every operation knows about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Expression, Values
from glassformer.program.pen import Pen


class Operation(Protocol):
    """One kind of step. It knows its result's axes, its cost, its value, the arithmetic of one cell, and how it is written."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        """The axes of the result."""

    def macs(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        """Multiply-adds in matrix products (0 for everything that is none)."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        """All floating-point operations, a multiply-add counted as two."""

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        """The tensors that the backward pass needs again."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        """The result, given the values of the inputs."""

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        """The arithmetic that gives one cell of the result."""

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], pen: Pen) -> str:
        """The right-hand side of the step's equation, its inputs called `names`."""


class Elementwise:
    """What operations without a matrix product share: no multiply-adds, one operation an element, nothing saved."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return max(inputs, key=lambda tensor: len(tensor.axes)).axes

    def macs(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 0

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return ()


class Copy(Elementwise):
    """What operations share that move numbers, or put −∞ in their place, and compute none."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 0


def aligned(tensor: Tensor, value: Array, output: Tensor) -> Array:
    """`value` with its axes in the order of `output`'s, missing ones of size 1, ready to broadcast."""
    names = [axis.name for axis in tensor.axes]
    order = [names.index(axis.name) for axis in output.axes if axis.name in names]
    shape = [axis.size if axis.name in names else 1 for axis in output.axes]
    return np.transpose(value, order).reshape(shape)


def position_of(output: Tensor, axis: str) -> int:
    """Where the axis stands."""
    return [item.name for item in output.axes].index(axis)
