"""The base classes of operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Expression, Values
from glassformer.program.formatter import Formatter


class Operation(Protocol):
    """One kind of step: the axes of its result, its cost, its value, the arithmetic of one cell, and its notation."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        """The axes of the result."""

    def macs(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        """Multiply-adds in matrix products (0 for other operations)."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        """All floating-point operations, a multiply-add counted as two."""

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        """The tensors that the backward pass needs."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        """The result, given the values of the inputs."""

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        """The arithmetic that gives one cell of the result."""

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        """The right-hand side of the step's equation, its inputs called `names`."""


class Elementwise:
    """Defaults for operations without a matrix product: no multiply-adds, one FLOP per element, nothing saved."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return max(inputs, key=lambda tensor: len(tensor.axes)).axes

    def macs(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 0

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return ()


class Copy(Elementwise):
    """Defaults for operations that copy numbers, or replace them by −∞, without computing."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 0


def aligned(tensor: Tensor, value: Array, output: Tensor) -> Array:
    """`value` with its axes in the order of `output`'s, missing ones of size 1, ready to broadcast."""
    names = [axis.name for axis in tensor.axes]
    order = [names.index(axis.name) for axis in output.axes if axis.name in names]
    shape = [axis.size if axis.name in names else 1 for axis in output.axes]
    return np.transpose(value, order).reshape(shape)


def position_of(output: Tensor, axis: str) -> int:
    """Return the position of an axis."""
    return [item.name for item in output.axes].index(axis)
