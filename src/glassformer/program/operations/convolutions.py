"""Operations for convolutions over sound: weight norm, and WavLM's gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum, Values, minus
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise, aligned


@dataclass(frozen=True)
class Length(Elementwise):
    """The Euclidean norm over all other axes, for each entry along `along`."""

    along: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axis(self.along),)

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 2 * inputs[0].size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        others = tuple(number for number, axis in enumerate(inputs[0].axes) if axis.name != self.along)
        return np.asarray(np.sqrt(np.square(values[0]).sum(others)))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        names = [axis.name for axis in inputs[0].axes]
        sizes = [1 if name == self.along else inputs[0].axis(name).size for name in names]
        cells = ({**dict(zip(names, index, strict=True)), self.along: cell[self.along]} for index in np.ndindex(*sizes))
        return Call("sqrt", Sum(tuple(Call("square", Ref(inputs[0], at)) for at in cells)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("length", names[0]) + formatter.words(f" for each {self.along}")


@dataclass(frozen=True)
class Lengthen(Elementwise):
    """Weight norm (Salimans and Kingma 2016): `g · v / ‖v‖`. Inputs: v, g, the length of v."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 2 * output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0] * aligned(inputs[1], self.factor(values), output)

    def factor(self, values: Sequence[Array]) -> Array:
        """`g / ‖v‖`; 0 where v is 0."""
        return np.divide(values[1], values[2], out=np.zeros_like(values[1], dtype=float), where=values[2] != 0)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ratio(Product((Ref(inputs[1], cell), Ref(inputs[0], cell))), Ref(inputs[2], cell))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.ratio(formatter.times(names[1], names[0]), names[2])


@dataclass(frozen=True)
class Gate(Elementwise):
    """The gate of the relative bias for each token (WavLM): `a · (b · c − 1) + 2`. Inputs: a and b along `over`, c."""

    over: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(axis for axis in inputs[0].axes if axis.name != self.over)

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 4 * output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs

    def halves(self, inputs: Sequence[Tensor], value: Array) -> tuple[Array, Array]:
        """The two gates of each token and head."""
        first, second = np.moveaxis(value, [axis.name for axis in inputs[0].axes].index(self.over), 0)
        return first, second

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        a, b = self.halves(inputs, values[0])
        return np.asarray(a * (b * aligned(inputs[1], values[1], output) - 1) + 2)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        a, b = (Ref(inputs[0], cell | {self.over: place}) for place in (0, 1))
        inner = Sum((Product((b, Ref(inputs[1], cell))), minus(Constant(1.0, "1"))))
        return Sum((Product((a, inner)), Constant(2.0, "2")))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        a, b = formatter.indexed(names[0], "first"), formatter.indexed(names[0], "second")
        return formatter.plus(formatter.times(a, f"({formatter.minus(formatter.times(b, names[1]), '1')})"), "2")
