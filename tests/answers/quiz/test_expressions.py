"""The small arithmetic of a question."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.answers.quiz.expressions import holds, names_in, value_of
from glassformer.spec import GlassformerError

VALUES = {"d": 64, "h": 4, "n_1": 3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("d / h", 16),
        ("d % h", 0),
        ("2 * (d + h) - n_1", 133),
        ("-d + 70", 6),
        ("d - h - h", 56),
        ("d / h / h", 4),
        ("1.5 * h", 6),
        ("h / d", Fraction(1, 16)),
    ],
)
def test_sums_and_products_are_exact(text, value):
    assert value_of(text, VALUES) == value


@pytest.mark.parametrize(
    ("text", "true"),
    [("d % h == 0", True), ("d % h == 0 and h > 4", False), ("d != 4 * h and h <= 4", True), ("d < h", False), ("d >= 64", True)],
)
def test_comparisons_hold_or_not(text, true):
    assert holds(text, VALUES) is true


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os')", "is not understood from ''os')' on"),
        ("d ** h", "is not understood"),
        ("d.real", "is not understood from '.real' on"),
        ("d[0]", "is not understood"),
        ("lambda: 1", "is not understood"),
        ("e / 2", "no parameter is 'e'."),
        ("d / (h - h)", "divides by zero"),
        ("d +", "a number or a parameter is wanted where 'the end' stands"),
        ("(d", "a closing bracket is wanted"),
        ("d h", "the end is wanted where 'h' stands"),
        ("(" * 100 + "d" + ")" * 100, "is not understood"),
        ("d + " * 200, "is too long"),
        ("*".join(["999999999999999999"] * 9), "becomes too large"),
        ("", "a number or a parameter is wanted"),
    ],
)
def test_anything_else_is_refused_in_one_line(text, message):
    with pytest.raises(GlassformerError) as error:
        value_of(text, VALUES)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_sum_is_no_comparison():
    with pytest.raises(GlassformerError, match="a comparison, as in d % h == 0 is wanted"):
        holds("d + h", VALUES)


def test_the_names_of_an_expression_are_found():
    assert names_in("d % h == 0 and n_1 > 2") == {"d", "h", "n_1"}


@given(st.text(max_size=60))
def test_no_text_does_more_than_give_a_number_or_one_line(text):
    try:
        value_of(text, VALUES)
        holds(text, VALUES)
    except GlassformerError as error:
        assert "\n" not in str(error)
