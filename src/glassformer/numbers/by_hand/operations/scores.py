"""Operations on scores in exercises: division by a number, the cosine, an explicit mask."""

# ruff: noqa: ARG002 - all operations have the same methods, and not each uses all arguments.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum, Values
from glassformer.program.formatter import Formatter, LatexFormatter
from glassformer.program.matrices import product_order
from glassformer.program.operations.base import Copy, Elementwise, aligned
from glassformer.program.operations.products import Contract, contract, products, summed_cells


@dataclass(frozen=True)
class Divide(Elementwise):
    """Divide by a given number: `√2`, `8`. `of` is the size whose root it is, `d_k`."""

    by: float
    text: str
    of: str = ""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(values[0] / self.by)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ratio(Ref(inputs[0], cell), Constant(self.by, self.text))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        bottom = formatter.root(formatter.symbol(self.of)) if self.of else number_text(self.text, formatter)
        return formatter.ratio(names[0], bottom)


@dataclass(frozen=True)
class Cosine(Contract):
    """The dot product divided by both lengths; a vector of length 0 has cosine 0 with everything. Inputs: q, k."""

    over: str = "d_k"

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        dots = contract(inputs[0], values[0], inputs[1], values[1], output)
        lengths = [
            aligned(self._without(tensor), np.sqrt(np.square(value).sum([a.name for a in tensor.axes].index(self.over))), output)
            for tensor, value in zip(inputs, values, strict=True)
        ]
        both = lengths[0] * lengths[1]
        return np.asarray(np.where(both == 0, 0, dots / np.where(both == 0, 1, both)))

    def _without(self, tensor: Tensor) -> Tensor:
        return tensor._replace(axes=tuple(axis for axis in tensor.axes if axis.name != self.over))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        cells = list(summed_cells(inputs, output, cell))
        lengths = [Call("sqrt", Sum(tuple(Call("square", Ref(tensor, at)) for at in cells))) for tensor in inputs]
        return Ratio(Sum(products(inputs, output, cell)), Product(tuple(lengths)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        order = product_order(inputs[0], inputs[1], output, formatter.convention)
        top = formatter.product(*[formatter.transposed(names[number]) if flip else names[number] for number, flip in order])
        return formatter.ratio(
            top, f"|{names[0]}| \\, |{names[1]}|" if isinstance(formatter, LatexFormatter) else f"(|{names[0]}| |{names[1]}|)"
        )


@dataclass(frozen=True)
class Hide(Copy):
    """Replace scores by −∞ where the mask, the second input, is 0."""

    why: str = "the mask is 0"

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.where(aligned(inputs[1], values[1], output) != 0, values[0], -np.inf)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        if not values[inputs[1].name][inputs[1].at(cell)]:
            return Constant(-math.inf, "−∞ (masked)")
        return Ref(inputs[0], cell)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return names[0] + formatter.words(f", but −∞ where {self.why}")


def number_text(text: str, formatter: Formatter) -> str:
    """A number of the rule as the formatter writes it: `√3`, `7/3`."""
    return formatter.root(text[1:]) if text.startswith("√") else text
