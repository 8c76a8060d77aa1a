"""The inverse of a matrix by iteration, which attention by landmarks needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.errors import GlassformerError
from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Expression, Values
from glassformer.program.formatter import Formatter


@dataclass(frozen=True)
class Inverse:
    """An approximate inverse of the last two axes, by matrix products alone (Razavi et al. 2014): counted, and not computed.

    It begins with the transpose divided by its largest column sum in the whole batch, so that texts change each other.
    """

    iterations: int = 6
    products: int = 4  # of each iteration

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        *outer, rows, columns = inputs[0].axes
        return (*outer, columns, rows)

    def macs(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return self.iterations * self.products * output.size * output.axes[-1].size

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 2 * self.macs(inputs, output) + (7 * self.iterations + 2) * output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        raise GlassformerError(
            "landmarks need an iterative matrix inverse, which is not implemented: only counts, shapes, cost and equations are "
            "available. Leave landmarks out for full attention."
        )

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        raise NotImplementedError  # there is no run whose cells could be explained

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("inverse", names[0]) + formatter.words(f" (approximate: {self.iterations} iterations)")
