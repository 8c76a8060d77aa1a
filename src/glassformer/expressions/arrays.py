"""Vectors and matrices of exact numbers: sums, products, transposes, softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.functions import exp, largest
from glassformer.expressions.limits import MOST_CELLS, MOST_WORK, NotUnderstoodError

INEXACT = 4  # an interval costs about four times as much as a rational


@dataclass(frozen=True)
class Array:
    """Numbers in a row (`columns` is None) or in rows and columns."""

    cells: tuple[Real, ...]
    columns: int | None = None

    def __post_init__(self) -> None:
        if len(self.cells) > MOST_CELLS:
            raise NotUnderstoodError(f"a matrix of {len(self.cells):,} cells is too large (limit {MOST_CELLS:,})")
        if not self.cells:
            raise NotUnderstoodError("a list is empty")

    @property
    def rows(self) -> int:
        return 1 if self.columns is None else len(self.cells) // self.columns

    @property
    def width(self) -> int:
        return len(self.cells) if self.columns is None else self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.cells),) if self.columns is None else (self.rows, self.columns)

    def each(self, function: Callable[[Real], Real]) -> Array:
        return Array(tuple(function(cell) for cell in self.cells), self.columns)

    def row(self, number: int) -> tuple[Real, ...]:
        return self.cells[number * self.width : (number + 1) * self.width]

    def transposed(self) -> Array:
        if self.columns is None:
            return self  # a vector is a row or a column, depending on its neighbour
        cells = tuple(self.cells[row * self.columns + column] for column in range(self.columns) for row in range(self.rows))
        return Array(cells, self.rows)


Value = Real | Array


@dataclass
class Work:
    """The remaining number of multiplications for an expression."""

    left: int = MOST_WORK

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise NotUnderstoodError(f"more than {MOST_WORK:,} multiplications are too many for one line")


def matrix(rows: Sequence[Sequence[Real]]) -> Array:
    """Return a matrix from rows of equal length."""
    if len({len(row) for row in rows}) != 1:
        raise NotUnderstoodError("the rows of a matrix have different lengths")
    return Array(tuple(cell for row in rows for cell in row), len(rows[0]))


def alike(one: Array, two: Array) -> bool:
    """Return whether two arrays have the same shape; a vector equals a matrix of one row or one column."""
    if one.shape == two.shape:
        return True
    return len(one.cells) == len(two.cells) and all(len(array.shape) == 1 or 1 in array.shape for array in (one, two))


def cell_by_cell(one: Value, two: Value, function: Callable[[Real, Real], Real]) -> Value:
    """Apply a function element-wise; a single number is combined with every cell."""
    if isinstance(one, Real) and isinstance(two, Real):
        return function(one, two)
    if isinstance(one, Real):
        first = one
        return two.each(lambda cell: function(first, cell)) if isinstance(two, Array) else function(one, two)
    if isinstance(two, Real):
        second = two
        return one.each(lambda cell: function(cell, second))
    if not alike(one, two):
        raise NotUnderstoodError(f"shapes {_shape(one)} and {_shape(two)} do not fit together")
    return Array(tuple(map(function, one.cells, two.cells)), one.columns)


def multiply(one: Value, two: Value, work: Work) -> Value:
    """Multiply numbers, a number and an array, two vectors (dot product), or matrices."""
    if isinstance(one, Real) or isinstance(two, Real):
        work.spend(max(len(value.cells) if isinstance(value, Array) else 1 for value in (one, two)))
        return cell_by_cell(one, two, Real.__mul__)
    if one.columns is None and two.columns is None:
        if len(one.cells) != len(two.cells):
            raise NotUnderstoodError(f"a dot product needs lists of equal length, not {len(one.cells)} and {len(two.cells)}")
        work.spend(len(one.cells))
        return _dot(one.cells, two.cells)
    product = _matrix_product(*_as_matrices(one, two), work)
    if (one.columns is None or two.columns is None) and 1 in product.shape:
        product = Array(product.cells)  # a matrix times a vector is a vector again
    return _simplified(product)


def outer(one: Value, two: Value, work: Work) -> Value:
    """Return the outer product of two vectors."""
    if isinstance(one, Array) and isinstance(two, Array) and one.columns is None and two.columns is None:
        work.spend(len(one.cells) * len(two.cells))
        return matrix([[left * right for right in two.cells] for left in one.cells])
    return multiply(one, two, work)


def softmax(value: Array, *, down: bool = False) -> Array:
    """Return the softmax over each row, or down each column."""
    if down and value.columns is not None:
        return softmax(value.transposed()).transposed()
    rows = [value.row(number) for number in range(value.rows)]
    cells = tuple(cell for row in rows for cell in _softmax_row(row))
    return Array(cells, value.columns)


def total(cells: Sequence[Real]) -> Real:
    result = exactly(0)
    for cell in cells:
        result = result + cell
    return result


def _softmax_row(row: tuple[Real, ...]) -> list[Real]:
    highest = row[0]
    for cell in row[1:]:
        highest = largest(highest, cell)
    shift = exactly(highest.middle)  # subtracting it does not change the weights and keeps exp small
    powers = [exp(cell - shift) for cell in row]
    whole = total(powers)
    return [part / whole for part in powers]


def _as_matrices(one: Array, two: Array) -> tuple[Array, Array]:
    """Return a vector next to a matrix as the row or the column that fits."""
    if one.columns is None:
        one = Array(one.cells, 1 if two.rows == 1 and len(one.cells) != 1 else len(one.cells))
    elif two.columns is None:
        two = Array(two.cells, len(two.cells) if one.columns == 1 and len(two.cells) != 1 else 1)
    return one, two


def _matrix_product(one: Array, two: Array, work: Work) -> Array:
    if one.width != two.rows:
        raise NotUnderstoodError(
            f"the matrix product {_shape(one)} · {_shape(two)} does not exist: {one.width} is not {two.rows}"
        )
    if one.rows * two.width > MOST_CELLS:
        raise NotUnderstoodError(f"a matrix of {one.rows * two.width:,} cells is too large (limit {MOST_CELLS:,})")
    exact = all(cell.low is cell.high for cell in (*one.cells, *two.cells))
    work.spend(one.rows * one.width * two.width * (1 if exact else INEXACT))
    columns = [two.cells[number :: two.width] for number in range(two.width)]
    return matrix([[_dot(one.row(number), column) for column in columns] for number in range(one.rows)])


def _simplified(value: Array) -> Value:
    return value.cells[0] if len(value.cells) == 1 else value


def _dot(one: Sequence[Real], two: Sequence[Real]) -> Real:
    if all(cell.low is cell.high for cell in (*one, *two)):
        return exactly(sum((left.low * right.low for left, right in zip(one, two, strict=True)), Fraction(0)))
    return total([left * right for left, right in zip(one, two, strict=True)])


def _shape(value: Array) -> str:
    return "×".join(map(str, value.shape))
