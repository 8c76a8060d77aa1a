"""The same arithmetic with exact numbers: fractions and roots, or no result if there is no exact form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.numbers.by_hand.surd import NotExactError, Surd, parse_surd
from glassformer.program import Cell, Program, Step
from glassformer.program.axes import Array
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum

Exact = NDArray[Any]  # of Surd, or None where a cell has no exact form
MOST_WORK = 4000  # products in a step; larger ones are not worked exactly

ZERO, ONE = Surd.of(0), Surd.of(1)
AT_ZERO = {"exp": ONE, "sin": ZERO, "cos": ONE, "erf": ZERO, "tanh": ZERO, "sigmoid": Surd.of(Fraction(1, 2))}


def exact_values(program: Program, given: Mapping[str, Exact], values: Mapping[str, Array]) -> dict[str, Exact]:
    """Every tensor of the program with the exact form of each cell that has one."""
    found = dict(given)
    for step in program.steps:
        found[step.name] = _exact_step(step, found, values)
    return found


def _exact_step(step: Step, found: Mapping[str, Exact], values: Mapping[str, Array]) -> Exact:
    result = np.full(step.output.shape, None, dtype=object)
    if work(step) > MOST_WORK:
        return result
    reader = _Reader(found, values)
    for index in np.ndindex(*step.output.shape):
        cell: Cell = {axis.name: i for axis, i in zip(step.output.axes, index, strict=True)}
        try:
            result[index] = reader.read(step.opened(cell, values))
        except (NotExactError, ZeroDivisionError):
            continue
    return result


def work(step: Step) -> int:
    """Number of cells times the number of terms of each."""
    kept = {axis.name for axis in step.output.axes}
    summed = {axis.name: axis.size for tensor in step.inputs for axis in tensor.axes if axis.name not in kept}
    return step.output.size * math.prod(summed.values())


class _Reader:
    """Evaluates an expression exactly, or raises NotExactError."""

    def __init__(self, exact: Mapping[str, Exact], values: Mapping[str, Array]) -> None:
        self.exact = exact
        self.values = values

    def read(self, expression: Expression) -> Surd:
        if isinstance(expression, Ref):
            return self._cell(expression)
        if isinstance(expression, Constant):
            return exact_constant(expression)
        if isinstance(expression, Sum):
            return sum((self.read(term) for term in expression.terms), ZERO)
        if isinstance(expression, Product):
            return math.prod((self.read(factor) for factor in expression.factors), start=ONE)
        if isinstance(expression, Ratio):
            return self._ratio(expression)
        return self._call(expression)

    def _cell(self, ref: Ref) -> Surd:
        value = self.exact[ref.tensor.name][ref.tensor.at(ref.cell)]
        if not isinstance(value, Surd):
            raise NotExactError("it depends on numbers that are not exact")
        return value

    def _ratio(self, ratio: Ratio) -> Surd:
        if isinstance(ratio.top, Call) and ratio.top.function == "exp" and isinstance(ratio.bottom, Sum):
            return self._share(ratio.top, ratio.bottom)
        top = self.read(ratio.top)
        return top if top == ZERO else top / self.read(ratio.bottom)

    def _share(self, top: Call, bottom: Sum) -> Surd:
        """A softmax of equal scores: each weight is the same, and that of a masked score is 0."""
        if top.argument.evaluate(self.values) == -math.inf:
            return ZERO
        arguments = [term.argument for term in bottom.terms if isinstance(term, Call)]
        seen = {self.read(argument) for argument in arguments if argument.evaluate(self.values) != -math.inf}
        if len(seen) != 1:
            raise NotExactError("powers of e")
        return Surd.of(Fraction(1, sum(argument.evaluate(self.values) != -math.inf for argument in arguments)))

    def _call(self, call: Call) -> Surd:
        argument = self.read(call.argument)
        rules: dict[str, Callable[[], Surd]] = {
            "sqrt": argument.root,
            "square": lambda: argument * argument,
            "relu": lambda: argument if float(argument) > 0 else ZERO,
        }
        if call.function in rules:
            return rules[call.function]()
        if argument == ZERO and call.function in AT_ZERO:
            return AT_ZERO[call.function]
        raise NotExactError(call.function)


def exact_constant(constant: Constant) -> Surd:
    """A number of the rule, from the way it is written: `2`, `√64`, `1e-05`, `1/8`."""
    if constant.value == 0:
        return ZERO
    found = parse_surd(constant.text)
    if found is None:
        try:
            found = Surd.of(Fraction(constant.text.replace("−", "-")))
        except (ValueError, ZeroDivisionError):
            raise NotExactError(constant.text) from None
    if not math.isclose(float(found), constant.value, rel_tol=1e-12):
        raise NotExactError("the text is not the value")
    return found
