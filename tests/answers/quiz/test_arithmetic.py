"""Arithmetic on drawn parameters: exact, bounded, and refused in one line that says what to write."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.answers.quiz.arithmetic import holds, names_used, number_of, worked_out
from glassformer.errors import GlassformerError

VALUES = {"d": 64, "h": 4, "n_1": 3, "x": [1, 2]}


@given(st.integers(1, 10**6), st.integers(1, 1000), st.integers(-1000, 1000))
def test_sums_products_and_remainders_are_exact(d, h, n):
    drawn = {"d": d, "h": h, "n": n}
    assert number_of("d / h", drawn) == Fraction(d, h)
    assert number_of("2 * (d + h) - n", drawn) == 2 * (d + h) - n
    assert number_of("mod(d, h)", drawn) == d % h
    assert number_of("1.5 h", drawn) == Fraction(3, 2) * h
    assert holds("mod(d, h) = 0 and d >= h", drawn) is (d % h == 0 and d >= h)
    assert holds("d != h", drawn) is (d != h)


def test_drawn_vectors_are_known():
    assert worked_out("2 * x", VALUES, None, "answer").value == [2, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d % h", "The remainder is written mod(d, h)"),
        ("__import__('os')", "is no"),
        ("lambda: 1", "is not understood: unexpected ':'"),
        ("w / 2", "'w' is not a quantity"),
        ("d / (h - h)", "division by zero"),
        ("d +", "'d +' ends too early"),
        ("(" * 100 + "d" + ")" * 100, "is not understood"),
        ("*".join(["999999999999999999"] * 9), "is not a number that can be inserted"),
        ("params", "expression = 'params': "),
        ("x", "is not a number that can be inserted"),
        ("", "is not understood"),
    ],
)
def test_anything_else_is_refused_in_one_line(text, message):
    with pytest.raises(GlassformerError) as error:
        number_of(text, VALUES)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_sum_is_not_a_comparison():
    with pytest.raises(GlassformerError, match="'d \\+ h' is not a comparison: write one such as mod"):
        holds("d + h", VALUES)


def test_the_names_of_an_expression_are_found():
    assert names_used("mod(d, h) - n_1") == {"d", "h", "n_1"}


@given(st.text(max_size=60))
def test_no_text_does_more_than_give_a_number_or_one_line(text):
    try:
        number_of(text, VALUES)
        holds(text, VALUES)
    except GlassformerError as error:
        assert "\n" not in str(error)
