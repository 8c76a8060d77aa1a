"""LayerNorm and RMSNorm of a list of numbers, and common mistakes in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from glassformer.expressions.arrays import Array, total
from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.functions import square_root
from glassformer.expressions.limits import NotUnderstoodError

EPS = Fraction(1, 10**5)  # may be present or not: the interval contains both

Row = Sequence[Real]


def _centred(row: Row) -> list[Real]:
    mean = total(row) / exactly(len(row))
    return [cell - mean for cell in row]


def _squares(row: Row) -> Real:
    return total([cell * cell for cell in row])


def _divided(row: Row, variance: Real, *, rooted: bool = True, eps: Fraction = EPS) -> list[Real]:
    if variance.low <= 0:
        raise NotUnderstoodError("all numbers in a norm are equal")
    widened = Real(variance.low, variance.high + eps)
    deviation = square_root(widened) if rooted else widened
    return [cell / deviation for cell in row]


def _layer(row: Row, *, less: int = 0, rooted: bool = True, eps: Fraction = EPS) -> list[Real]:
    if len(row) <= less:
        raise NotUnderstoodError("a norm needs more numbers")
    centred = _centred(row)
    return _divided(centred, _squares(centred) / exactly(len(row) - less), rooted=rooted, eps=eps)


def _largest(row: Row) -> Real:
    return max(row, key=lambda cell: cell.middle)


# Functions of a row; the first two can be used in expressions, the others are mistakes.
NORMS: dict[str, Callable[[Row], list[Real]]] = {
    "layernorm": _layer,
    "rmsnorm": lambda row: _divided(row, _squares(row) / exactly(len(row))),
    "unit length": lambda row: _divided(row, _squares(row), eps=Fraction(0)),
    "layernorm over n - 1": lambda row: _layer(row, less=1),
    "layernorm by variance": lambda row: _layer(row, rooted=False),
    "centred": _centred,
    "uncentred": lambda row: _divided(row, _squares(_centred(row)) / exactly(len(row))),
    "largest alone": lambda row: [exactly(int(cell is _largest(row))) for cell in row],
    "equal shares": lambda row: [exactly(Fraction(1, len(row))) for _ in row],
    "shares": lambda row: [cell / total(row) for cell in row],
}


WITHOUT_EPS: dict[str, Callable[[Row], list[Real]]] = {
    "layernorm": lambda row: _layer(row, eps=Fraction(0)),
    "rmsnorm": lambda row: _divided(row, _squares(row) / exactly(len(row)), eps=Fraction(0)),
}


def by_row(value: Array, function: Callable[[Row], list[Real]]) -> Array:
    rows = [value.row(number) for number in range(value.rows)]
    return Array(tuple(cell for row in rows for cell in function(row)), value.columns)
