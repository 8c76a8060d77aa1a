"""Products: contract (a matrix product over named axes), the same with a bias, and the element-wise product."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Constant, Expression, Product, Ratio, Ref, Sum, Values
from glassformer.program.formatter import Formatter
from glassformer.program.matrices import product_order
from glassformer.program.operations.base import Elementwise, aligned


@dataclass(frozen=True)
class Contract:
    """Multiply, and sum over every axis that both inputs have and the output lacks; then divide by `√(terms · divisor)`.

    `terms` is the number of such products in a sum with a common scale.
    """

    divisor: Axis | None = None
    terms: int = 1

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        raise TypeError("a contraction needs the axes of its output: it sums over the others")

    def macs(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return math.prod([axis.size for axis in {*inputs[0].axes, *inputs[1].axes}])

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 2 * self.macs(inputs, output) + (output.size if self.divisor else 0)

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs[:2]

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        result = contract(inputs[0], values[0], inputs[1], values[1], output)
        return result / math.sqrt(self.terms * self.divisor.size) if self.divisor else result

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        total = Sum(products(inputs, output, cell))
        if self.divisor is None:
            return total
        size = self.divisor.size
        text = f"√{size}" if self.terms == 1 else f"√({self.terms} · {size})"
        return Ratio(total, Constant(math.sqrt(self.terms * size), text))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        order = product_order(inputs[0], inputs[1], output, formatter.convention)
        product = formatter.product(*[formatter.transposed(names[number]) if flip else names[number] for number, flip in order])
        if self.divisor is None:
            return product
        under = formatter.symbol(self.divisor.name)
        return formatter.ratio(product, formatter.root(under if self.terms == 1 else formatter.product(str(self.terms), under)))


@dataclass(frozen=True)
class Affine(Contract):
    """A contraction with a weight, plus a bias: `X W + b`."""

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 2 * self.macs(inputs, output) + output.size

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        result = contract(inputs[0], values[0], inputs[1], values[1], output)
        return result + aligned(inputs[2], values[2], output)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Sum((*products(inputs, output, cell), Ref(inputs[2], cell)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.plus(super().write(inputs, output, names, formatter), names[2])


@dataclass(frozen=True)
class Multiply(Elementwise):
    """The element-wise product; an input that lacks an axis is repeated along it."""

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return reduce(np.multiply, [aligned(tensor, value, output) for tensor, value in zip(inputs, values, strict=True)])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Product(tuple(Ref(tensor, cell) for tensor in inputs))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.times(*names)


def summed_cells(inputs: Sequence[Tensor], output: Tensor, cell: Cell) -> Iterator[Cell]:
    """The cells whose products are summed into `cell`: one per combination of the summed axes."""
    kept = {axis.name for axis in output.axes}
    summed = [axis for axis in dict.fromkeys(axis for tensor in inputs for axis in tensor.axes) if axis.name not in kept]
    for index in itertools.product(*(range(axis.size) for axis in summed)):
        yield cell | {axis.name: i for axis, i in zip(summed, index, strict=True)}


def products(inputs: Sequence[Tensor], output: Tensor, cell: Cell) -> tuple[Product, ...]:
    """The terms of a contraction, whose sum is `cell`."""
    cells = summed_cells(inputs[:2], output, cell)
    return tuple(Product((Ref(inputs[0], at), Ref(inputs[1], at))) for at in cells)


def contract(left: Tensor, left_value: Array, right: Tensor, right_value: Array, output: Tensor) -> Array:
    """The contraction as one batched matrix product: einsum would be shorter, but matmul is several times faster."""
    plan = _plan(tuple(a.name for a in left.axes), tuple(a.name for a in right.axes), tuple(a.name for a in output.axes))
    a, b = left_value.transpose(plan.left), right_value.transpose(plan.right)
    batch, rows, inner = a.shape[: plan.batch], a.shape[plan.batch : plan.batch + plan.rows], a.shape[plan.batch + plan.rows :]
    columns = b.shape[plan.batch + plan.inner :]
    a = a.reshape(*batch, math.prod(rows), math.prod(inner))
    b = b.reshape(*batch, math.prod(inner), math.prod(columns))
    return np.matmul(a, b).reshape((*batch, *rows, *columns)).transpose(plan.back)


@dataclass(frozen=True)
class _Plan:
    left: tuple[int, ...]
    right: tuple[int, ...]
    back: tuple[int, ...]
    batch: int
    rows: int
    inner: int


@lru_cache(maxsize=512)
def _plan(left: tuple[str, ...], right: tuple[str, ...], output: tuple[str, ...]) -> _Plan:
    """Return how to transpose the operands to (batch, rows, inner) and (batch, inner, columns), and the product back."""
    batch = [name for name in left if name in right and name in output]
    inner = [name for name in left if name in right and name not in output]
    rows = [name for name in left if name not in right]
    columns = [name for name in right if name not in left]
    made = [*batch, *rows, *columns]
    return _Plan(
        left=tuple(left.index(name) for name in (*batch, *rows, *inner)),
        right=tuple(right.index(name) for name in (*batch, *inner, *columns)),
        back=tuple(made.index(name) for name in output),
        batch=len(batch),
        rows=len(rows),
        inner=len(inner),
    )
