"""Numbers in all notations, and errors in them."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.entries import chosen, read_entry


def test_lists_rows_and_heads():
    assert read_entry("q", [1, 2]).values.tolist() == [1, 2]
    assert read_entry("Q", [[1, 2], [3, 4]]).shape == (2, 2)
    assert read_entry("W", [[[1], [2]], [[3], [4]]]).shape == (2, 2, 1)


def test_a_table_keeps_the_names_and_the_order_of_its_rows():
    entry = read_entry("k", {"flying": [1, 1], "arrows": [0, -1]})
    assert entry.labels == ("flying", "arrows")
    assert entry.values.tolist() == [[1, 1], [0, -1]]


def test_fractions_are_exact():
    entry = read_entry("x", ["7/3", "1/√2", 0.1])
    assert [cell.text() for cell in entry.exact] == ["7/3", "1/√2", "1/10"]
    np.testing.assert_allclose(entry.values, [7 / 3, 2**-0.5, 0.1])


def test_matrices_in_a_word():
    assert read_entry("W", {"transpose": [[1, 2, 3]]}).shape == (3, 1)
    assert read_entry("W", {"diagonal": [2, 3]}).values.tolist() == [[2, 0], [0, 3]]
    assert chosen(np.array([2.0, 1.0]), 3).values.tolist() == [[0, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([[1, 2], [3]], "Q is ragged: its first row has 2 numbers, row 2 has 1 number. Every row needs the same."),
        ([[1, 2], 3], "Q is ragged: its first row has 2 numbers, row 2 has 1 number. Every row needs the same."),
        ({"a": [1, 2], "b": [3]}, "Q is ragged: a has 2 numbers, b has 1 number. Every row needs the same."),
        (
            [[1, "two"]],
            "Q, row 1, number 2 is the text 'two': write numbers without quotes; only fractions and roots are quoted, "
            'as in "7/3" or "1/√2".',
        ),
        (
            ["1"],
            "Q, number 1 is the text '1': write numbers without quotes; only fractions and roots are quoted, "
            'as in "7/3" or "1/√2".',
        ),
        ("1 2; 3 x", 'Q is the text \'1 2; 3 x\': expected numbers in [brackets], "1 2; 3 4", or "identity".'),
        ([[1, float("nan")]], "Q, row 1, number 2 is NaN: every number must be finite."),
        ([[[0], [float("inf")]]], "Q, head 1, row 2, number 1 is infinite: every number must be finite."),
        ([1e30], "Q, number 1 is 1e+30: sizes worked by hand go from 1e-15 to 1e15."),
        ([10**400], "Q, number 1 is 100000000000000000000000…: sizes worked by hand go from 1e-15 to 1e15."),
        ([True], "Q, number 1 is true: expected a number."),
        ([None], "Q, number 1 is None: expected a number."),
        ([], "Q is empty: give its numbers."),
        ([[]], "Q is empty: give its numbers."),
        ({}, "Q is empty: give its rows."),
        ([[[[1]]]], "Q is nested too deeply: a matrix is a list of rows, and several heads a list of matrices."),
        (
            [[0] * 65] * 64,
            "Q has 4,160 numbers: a matrix worked by hand has at most 4,096. "
            "A model of that size is a spec: see 'glassformer count'.",
        ),
        ([[0]] * 5000, "Q has 5,000 rows: a matrix worked by hand has at most 4,096 numbers."),
        (
            {"flying": [0, 1], "scale": "none"},
            "Q.scale is not a row of numbers. In TOML, plain keys must be above the first [table]; "
            "those below it belong to the table.",
        ),
        ({"pick": [0]}, "Q.pick = [0]: coordinates are whole numbers, counted from 1."),
        ({"pick": [1], "fill": 2}, "Q is described by pick, fill: give one of pick, identity, diagonal, transpose, fill."),
    ],
)
def test_a_bad_matrix_is_refused_in_one_line(value, said):
    with pytest.raises(GlassformerError) as caught:
        read_entry("Q", value)
    assert str(caught.value) == said


def test_a_mask_may_hold_what_others_may_not():
    entry = read_entry("mask", [0, float("-inf"), "-inf", -1e30, True], mask=True)
    assert entry.values.tolist() == [0, float("-inf"), float("-inf"), -1e30, 1]
    with pytest.raises(GlassformerError, match="number 1 is NaN"):
        read_entry("mask", [float("nan")], mask=True)
