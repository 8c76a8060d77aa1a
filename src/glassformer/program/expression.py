"""The arithmetic behind one cell: sums, products and functions of other cells, which evaluate and can be opened."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from glassformer.program.axes import Array, Cell, Tensor

Values: TypeAlias = Mapping[str, Array]


class Ref(NamedTuple):
    """One cell of a tensor: a number that opens in turn."""

    tensor: Tensor
    cell: Cell

    def evaluate(self, values: Values) -> float:
        return float(values[self.tensor.name][self.tensor.at(self.cell)])


class Constant(NamedTuple):
    """A number that comes from the rule itself, with the way it is written (`√64`)."""

    value: float
    text: str

    def evaluate(self, values: Values) -> float:
        return self.value


class Sum(NamedTuple):
    """The sum of the terms."""

    terms: tuple[Expression, ...]

    def evaluate(self, values: Values) -> float:
        return math.fsum(term.evaluate(values) for term in self.terms)


class Product(NamedTuple):
    """The product of the factors."""

    factors: tuple[Expression, ...]

    def evaluate(self, values: Values) -> float:
        return math.prod(factor.evaluate(values) for factor in self.factors)


class Ratio(NamedTuple):
    """`top / bottom`; nothing of anything is nothing, so 0 / 0 is 0."""

    top: Expression
    bottom: Expression

    def evaluate(self, values: Values) -> float:
        top = self.top.evaluate(values)
        return 0.0 if top == 0 else top / self.bottom.evaluate(values)


class Call(NamedTuple):
    """A function of one number."""

    function: str
    argument: Expression

    def evaluate(self, values: Values) -> float:
        return FUNCTIONS[self.function](self.argument.evaluate(values))


Expression: TypeAlias = Ref | Constant | Sum | Product | Ratio | Call

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "sqrt": math.sqrt,
    "square": lambda x: x * x,
    "erf": math.erf,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)),
    "relu": lambda x: max(x, 0.0),
    "sin": math.sin,
    "cos": math.cos,
}


def minus(expression: Expression) -> Product:
    """The negative of an expression."""
    return Product((Constant(-1.0, "−1"), expression))
