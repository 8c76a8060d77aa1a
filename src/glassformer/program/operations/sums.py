"""Sums and rearrangements: add, scale by a number, mean along an axis, join, share, take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Constant, Expression, Product, Ratio, Ref, Sum, Values
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Copy, Elementwise, aligned, position_of


@dataclass(frozen=True)
class Add(Elementwise):
    """The sum; an input that lacks an axis is repeated along it."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return (len(inputs) - 1) * output.size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return reduce(np.add, [aligned(tensor, value, output) for tensor, value in zip(inputs, values, strict=True)])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Sum(tuple(Ref(tensor, cell) for tensor in inputs))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.plus(*names)


@dataclass(frozen=True)
class Scale(Elementwise):
    """Multiply by a number given by the spec, with its notation: `√d_model`, `1/2`."""

    factor: float
    text: str

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0] * self.factor

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        named = self.text.startswith("√") and self.text[1:].isidentifier()  # the rule says √d_model, the numbers √8
        text = f"√{round(self.factor**2)}" if named else self.text
        return Product((Constant(self.factor, text), Ref(inputs[0], cell)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        if self.text.startswith("1/√"):
            return formatter.ratio(names[0], formatter.root(formatter.symbol(self.text[3:])))
        factor = formatter.root(formatter.symbol(self.text[1:])) if self.text.startswith("√") else self.text
        return formatter.product(factor, names[0])


@dataclass(frozen=True)
class Reduction(Elementwise):
    """One number along `over`: one operation for each number that it reads."""

    over: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(axis for axis in inputs[0].axes if axis.name != self.over)

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return inputs[0].size


@dataclass(frozen=True)
class Mean(Reduction):
    """The mean along `over`; with a second input, the mean of the positions that are not padding."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        axis = position_of(inputs[0], self.over)
        if len(inputs) == 1:
            return np.asarray(values[0].mean(axis))
        real = aligned(inputs[1], values[1].astype(float), inputs[0])
        kept = np.where(real, values[0], 0.0)  # not a product with 0, since padding may contain NaN
        return np.asarray(kept.sum(axis) / np.maximum(real.sum(axis), 1))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        size = inputs[0].axis(self.over).size
        cells = [cell | {self.over: i} for i in range(size)]
        if len(inputs) == 2:
            cells = [at for at in cells if values[inputs[1].name][inputs[1].at(at)]]
        return Ratio(Sum(tuple(Ref(inputs[0], at) for at in cells)), Constant(float(max(len(cells), 1)), str(len(cells))))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("mean", names[0]) + formatter.over(self.over)


@dataclass(frozen=True)
class Join(Copy):
    """Concatenate inputs along the axis `along`, which is called `of` in the inputs; an input without it is one entry."""

    along: Axis
    of: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        template = max(inputs, key=lambda tensor: len(tensor.axes))
        return tuple(self.along if axis.name == self.of else axis for axis in template.axes)

    def _length(self, tensor: Tensor) -> int:
        return next((axis.size for axis in tensor.axes if axis.name == self.of), 1)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        where = position_of(output, self.along.name)
        pieces = []
        for tensor, value in zip(inputs, values, strict=True):
            length = self._length(tensor)
            shape = [length if number == where else axis.size for number, axis in enumerate(output.axes)]
            part = Tensor("", tuple(Axis(axis.name, size) for axis, size in zip(output.axes, shape, strict=True)))
            pieces.append(np.broadcast_to(aligned(tensor.seen(**{self.of: self.along.name}), value, part), shape))
        return np.concatenate(pieces, axis=where)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        index = cell[self.along.name]
        for tensor in inputs:
            length = self._length(tensor)
            if index < length:
                return Ref(tensor, cell | {self.of: index})
            index -= length
        raise IndexError(f"{self.along.name}={cell[self.along.name]} is past the end")

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("concat", *names)


@dataclass(frozen=True)
class Share(Copy):
    """Each entry along `of` read by a group of entries along `into`: of 8 heads on 2, heads 0 to 3 read 0, the others 1."""

    of: str
    into: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(self.into if axis.name == self.of else axis for axis in inputs[0].axes)

    def _group(self, tensor: Tensor) -> int:
        return self.into.size // tensor.axis(self.of).size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.repeat(values[0], self._group(inputs[0]), axis=position_of(inputs[0], self.of))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell | {self.of: cell[self.into.name] // self._group(inputs[0])})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("share", names[0]) + formatter.words(f" (each read by {self._group(inputs[0])} heads)")


@dataclass(frozen=True)
class Split(Copy):
    """Split one axis into several, the last varying fastest: 768 features into 12 heads of 64."""

    of: str
    into: tuple[Axis, ...]

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(new for axis in inputs[0].axes for new in (self.into if axis.name == self.of else (axis,)))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0].reshape(output.shape)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        index = 0
        for axis in self.into:
            index = index * axis.size + cell[axis.name]
        return Ref(inputs[0], cell | {self.of: index})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("split", names[0]) + formatter.words(f" into {' × '.join(axis.name for axis in self.into)}")


@dataclass(frozen=True)
class Merge(Copy):
    """Several axes read as one, the last of them running fastest: the inverse of `Split`."""

    of: tuple[str, ...]
    into: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        kept = [axis for axis in inputs[0].axes if axis.name not in self.of[1:]]
        return tuple(self.into if axis.name == self.of[0] else axis for axis in kept)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0].reshape(output.shape)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        places = np.unravel_index(cell[self.into.name], tuple(inputs[0].axis(name).size for name in self.of))
        return Ref(inputs[0], cell | {name: int(place) for name, place in zip(self.of, places, strict=True)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("merge", names[0]) + formatter.words(f" ({' × '.join(self.of)} side by side)")


@dataclass(frozen=True)
class Stack(Copy):
    """Inputs with the same axes, one for each entry of a new axis, which comes last."""

    along: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes, self.along)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.stack(values, axis=-1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[cell[self.along.name]], cell)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("stack", *names)


@dataclass(frozen=True)
class Blank(Copy):
    """The input at real positions, and zeros at padding. Inputs: x, which positions are real."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.where(aligned(inputs[1], values[1], output), values[0], 0.0)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell) if values[inputs[1].name][inputs[1].at(cell)] else Constant(0.0, "0")

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("where", names[1], names[0], "0")


@dataclass(frozen=True)
class Total(Reduction):
    """The sum along `over`."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(values[0].sum(position_of(inputs[0], self.over)))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Sum(tuple(Ref(inputs[0], cell | {self.over: i}) for i in range(inputs[0].axis(self.over).size)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("sum", names[0]) + formatter.over(self.over)


@dataclass(frozen=True)
class Slice(Copy):
    """The entries from `start` up to `stop` along an axis."""

    over: str
    start: int
    stop: int

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(Axis(a.name, self.stop - self.start) if a.name == self.over else a for a in inputs[0].axes)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.take(values[0], range(self.start, self.stop), axis=position_of(inputs[0], self.over))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell | {self.over: cell[self.over] + self.start})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[0], f"{self.start} … {self.stop - 1}")


@dataclass(frozen=True)
class Take(Copy):
    """One entry along an axis: the first or the last token; with a second input, of those that are not padding."""

    over: str
    index: int

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return tuple(axis for axis in inputs[0].axes if axis.name != self.over)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        if len(inputs) == 1:
            return np.take(values[0], self.index, axis=position_of(inputs[0], self.over))
        places = self._places(values[1])
        return values[0][np.arange(len(places)), places]

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        index = self.index % inputs[0].axis(self.over).size
        if len(inputs) == 2:
            index = int(self._places(values[inputs[1].name])[cell["batch"]])
        return Ref(inputs[0], cell | {self.over: index})

    def _places(self, real: Array) -> Array:
        """Return the position of the first or last token of each row that is not padding."""
        return np.asarray(np.argmax(real, axis=1) if self.index == 0 else real.shape[1] - 1 - np.argmax(real[:, ::-1], axis=1))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[0], "first" if self.index == 0 else "second" if self.index == 1 else "last")
