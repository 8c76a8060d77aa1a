"""A claim is judged at its own precision."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.expressions import agrees, evaluate, fold, parse, shown_value, tokens, written


def verdict(left, right, *, loosely=False):
    claim = written(parse(fold(tokens(right))).tree)
    assert claim is not None
    return agrees(evaluate(left), claim, loosely=loosely)


@pytest.mark.parametrize(
    ("left", "right", "how"),
    [
        ("768 × 768", "589,824", "exact"),
        ("768 × 768", "589,825", None),
        ("2/3", "0.67", "rounded"),
        ("2/3", "0.66", "cut"),
        ("2/3", "0.68", None),
        ("218,671,424", "218 million", "cut"),
        ("218,671,424", "219 million", "rounded"),
        ("218,671,424", "220M", "rounded"),
        ("218,671,424", "217 million", None),
        ("109,482,240", "1.1 × 10^8", "rounded"),
        ("30,720,000", "31,000,000", None),
        ("335,141,888", "340000000", None),
        ("335,141,888", "335M", "rounded"),
        ("335,141,888", "0.335B", "rounded"),
        ("11/3", "4", None),
        ("11/3", "4.0", None),
        ("11/3", "3.7", "rounded"),
        ("softmax([0, ln(3)])", "[0, 0]", None),
        ("softmax([0, ln(3)])", "[0, 1]", None),
        ("softmax([2, 1])", "[0, 0]", None),
        ("softmax([2, 1])", "[1, 0]", None),
        ("0.1 + 0.2", "0.30000000000000004", "rounded"),
        ("1/8", "12.5%", "exact"),
        ("[1/3, 2/3]", "[0.33, 0.67]", "rounded"),
        ("[1/3, 2/3]", "[0.33, 0.76]", None),
        ("[[1,2],[3,4]]", "[[1,2],[3,4]]", "exact"),
        ("[1, 2]", "[1, 2, 3]", None),
    ],
)
def test_a_claim_is_judged_at_its_own_precision(left, right, how):
    assert verdict(left, right) == how


def test_about_makes_trailing_zeros_insignificant():
    assert verdict("109,482,240", "110,000,000", loosely=True) == "rounded"
    assert verdict("109,482,240", "109,482,200", loosely=True) == "rounded"
    assert verdict("109,482,240", "109,482,200") is None


@pytest.mark.parametrize(
    ("left", "right", "how"),
    [
        ("11/3", "4", "rounded"),
        ("11/3", "5", None),
        ("30,720,000", "31,000,000", "rounded"),
        ("1/4", "0", None),
        ("softmax([0, ln(3)])", "[0, 1]", None),
        ("softmax([9, 0])", "[1, 0]", "rounded"),
        ("0.8", "1", "rounded"),
        ("0.5", "1", None),
        ("1.9", "1", None),
    ],
)
def test_a_whole_number_marked_as_rounded_keeps_a_digit(left, right, how):
    assert verdict(left, right, loosely=True) == how


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=4), st.lists(st.integers(0, 1), min_size=2, max_size=4))
def test_whole_numbers_are_never_the_weights_of_a_softmax(scores, claimed):
    assert verdict(f"softmax({scores})", str(claimed)) is None


def test_a_value_is_shown_with_the_digits_of_the_claim():
    claim = written(parse(tokens("0.6225")).tree)
    assert shown_value(evaluate("exp(1)"), claim) == "2.7183"
    assert shown_value(evaluate("1/8"), claim) == "0.125"
    assert shown_value(evaluate("[[1,2],[3,4]]")) == "[[1, 2], [3, 4]]"


def test_an_expression_is_not_a_claim():
    assert written(parse(tokens("3 × 4")).tree) is None
    figure = written(parse(tokens("1.5 × 10^6")).tree)
    assert (figure.value, figure.unit) == (Fraction(1_500_000), Fraction(100_000))
