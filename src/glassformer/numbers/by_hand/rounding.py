"""Rounded arithmetic, as with a pocket calculator: every intermediate result is rounded to K decimals before it is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.exactly import exact_constant, work
from glassformer.numbers.by_hand.surd import NotExactError
from glassformer.program import Cell, Program
from glassformer.program.axes import Array
from glassformer.program.expression import FUNCTIONS, Constant, Expression, Product, Ratio, Ref, Sum

MOST_WORK = 50_000
NO_PLACES = 2.0**53  # from here on a float has no fractional part


def rounded(value: float, decimals: int) -> float:
    """Round to `decimals` places, half away from zero."""
    if not math.isfinite(value) or abs(value) >= NO_PLACES:
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def rounded_values(program: Program, given: Mapping[str, Array], decimals: int) -> dict[str, Array]:
    """Evaluate every tensor of the program with rounded intermediate results; given numbers are not rounded."""
    values = dict(given)
    if sum(work(step) for step in program.steps) > MOST_WORK:
        raise GlassformerError(f"too large for rounded arithmetic: more than {MOST_WORK:,} products. Omit --rounded.")
    for step in program.steps:
        result = np.zeros(step.output.shape)
        for index in np.ndindex(*step.output.shape):
            cell: Cell = {axis.name: i for axis, i in zip(step.output.axes, index, strict=True)}
            result[index] = rounded(carried(step.opened(cell, values), values, decimals), decimals)
        values[step.name] = result
    return values


def carried(expression: Expression, values: Mapping[str, Array], decimals: int) -> float:
    """The arithmetic with every power, root and function value rounded to `decimals` places before it is used.

    Sums and products of rounded numbers are computed in full precision, and their result is rounded.
    """
    if isinstance(expression, Ref):
        return expression.evaluate(values)
    if isinstance(expression, Constant):
        return _constant(expression, decimals)
    if isinstance(expression, Sum):
        return math.fsum(carried(term, values, decimals) for term in expression.terms)
    if isinstance(expression, Product):
        return math.prod(carried(factor, values, decimals) for factor in expression.factors)
    if isinstance(expression, Ratio):
        top, bottom = carried(expression.top, values, decimals), carried(expression.bottom, values, decimals)
        return 0.0 if top == 0 or bottom == 0 else top / bottom
    return rounded(FUNCTIONS[expression.function](carried(expression.argument, values, decimals)), decimals)


def _constant(constant: Constant, decimals: int) -> float:
    """Terminating decimals are unchanged; a root such as √2 is rounded."""
    try:
        return constant.value if exact_constant(constant).decimal else rounded(constant.value, decimals)
    except NotExactError:
        return constant.value
