"""Vectors and matrices: the products fit or say why not, and nothing grows without bound."""

from fractions import Fraction

import pytest

from glassformer.expressions.arrays import Array, Work, cell_by_cell, matrix, multiply, outer, softmax
from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.limits import NotUnderstoodError


def vector(*values):
    return Array(tuple(exactly(Fraction(value)) for value in values))


def numbers(value):
    return [int(cell.low) for cell in value.cells]


def test_the_product_of_two_vectors_is_their_dot_product():
    assert multiply(vector(1, 2, 3), vector(4, 5, 6), Work()) == exactly(32)


def test_a_vector_next_to_a_matrix_is_the_row_or_the_column_that_fits():
    square = matrix([vector(1, 2).cells, vector(3, 4).cells])
    assert numbers(multiply(square, vector(1, 1), Work())) == [3, 7]
    assert numbers(multiply(vector(1, 1), square, Work())) == [4, 6]


def test_a_column_times_a_row_is_a_matrix():
    assert numbers(outer(vector(1, 2), vector(3, 4), Work())) == [3, 4, 6, 8]


def test_a_number_is_combined_with_every_cell():
    assert numbers(cell_by_cell(exactly(2), vector(1, 2), Real.__mul__)) == [2, 4]


def test_shapes_that_do_not_fit_are_named():
    two_by_three = matrix([vector(1, 2, 3).cells, vector(4, 5, 6).cells])
    with pytest.raises(NotUnderstoodError, match="2×3 · 2×3 does not exist: 3 is not 2"):
        multiply(two_by_three, two_by_three, Work())
    with pytest.raises(NotUnderstoodError, match="2 and 3 do not fit together"):
        cell_by_cell(vector(1, 2), vector(1, 2, 3), Real.__add__)


def test_softmax_runs_over_rows_or_columns():
    scores = matrix([vector(0, 0).cells, vector(0, 1).cells])
    rows, columns = softmax(scores), softmax(scores, down=True)
    assert float(rows.cells[0].middle) == 0.5
    assert float(rows.cells[3].middle) == pytest.approx(0.7310585786)
    assert float(columns.cells[1].middle) == pytest.approx(0.2689414214)


def test_large_scores_do_not_overflow():
    assert [float(cell.middle) for cell in softmax(vector(10_000, 10_000)).cells] == [0.5, 0.5]


def test_cells_and_work_are_limited():
    with pytest.raises(NotUnderstoodError, match=r"4,097 cells is too large \(limit 4,096\)"):
        Array(tuple(exactly(0) for _ in range(4097)))
    square = matrix([[exactly(1)] * 30] * 30)
    with pytest.raises(NotUnderstoodError, match="multiplications are too many"):
        multiply(square, square, Work())
