"""The arithmetic of one cell: sums, products and functions of other cells, which can be evaluated and expanded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from glassformer.program.axes import Array, Cell, Tensor

Values: TypeAlias = Mapping[str, Array]


class Ref(NamedTuple):
    """One cell of a tensor: a number that can be expanded in turn."""

    tensor: Tensor
    cell: Cell

    def evaluate(self, values: Values) -> float:
        return float(values[self.tensor.name][self.tensor.at(self.cell)])


class Constant(NamedTuple):
    """A number that is part of the rule, with its notation (`√64`)."""

    value: float
    text: str

    def evaluate(self, values: Values) -> float:
        return self.value


class Sum(NamedTuple):
    """The sum of the terms."""

    terms: tuple[Expression, ...]

    def evaluate(self, values: Values) -> float:
        terms = [term.evaluate(values) for term in self.terms]
        try:
            return math.fsum(terms)
        except (OverflowError, ValueError):  # too large, or ∞ − ∞
            return sum(terms)


class Product(NamedTuple):
    """The product of the factors."""

    factors: tuple[Expression, ...]

    def evaluate(self, values: Values) -> float:
        return math.prod(factor.evaluate(values) for factor in self.factors)


class Ratio(NamedTuple):
    """`top / bottom`. By convention 0 / 0 is 0; any other number divided by 0 is ±∞, as in NumPy."""

    top: Expression
    bottom: Expression

    def evaluate(self, values: Values) -> float:
        top, bottom = self.top.evaluate(values), self.bottom.evaluate(values)
        if bottom == 0:
            return 0.0 if top == 0 else math.copysign(math.inf, bottom) * top
        return top / bottom


class Call(NamedTuple):
    """A function of one number."""

    function: str
    argument: Expression

    def evaluate(self, values: Values) -> float:
        return FUNCTIONS[self.function](self.argument.evaluate(values))


Expression: TypeAlias = Ref | Constant | Sum | Product | Ratio | Call


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": _exp,
    "sqrt": lambda x: math.nan if x < 0 else math.sqrt(x),  # as in NumPy: an edited value may be a negative variance
    "square": lambda x: x * x,
    "erf": math.erf,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)),
    "relu": lambda x: max(x, 0.0),
    "sin": math.sin,
    "cos": math.cos,
}


def in_full(value: float) -> str:
    """Return the shortest notation that has exactly this value: `10000`, `1e-05`."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value)).removesuffix(".0")


def minus(expression: Expression) -> Product:
    """The negative of an expression."""
    return Product((Constant(-1.0, "−1"), expression))
