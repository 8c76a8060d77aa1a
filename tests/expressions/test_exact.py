"""Numbers are exact or bounded by two rationals, and are shown in the usual notation."""

from fractions import Fraction

import pytest

from glassformer.expressions.exact import Real, about, exactly, fixed, shown_number
from glassformer.expressions.limits import NotUnderstoodError


def test_rationals_stay_exact():
    third = exactly(1) / exactly(3)
    assert third + third + third == exactly(1)
    assert (third * exactly(3)).exact


def test_an_interval_contains_every_product_of_its_ends():
    product = Real(Fraction(-2), Fraction(3)) * Real(Fraction(-5), Fraction(4))
    assert (product.low, product.high) == (-15, 12)


def test_inexact_numbers_stay_short_and_contain_the_true_value():
    value = about(Fraction(1, 3), Fraction(1, 10**70))
    for _ in range(40):
        value = value * exactly(Fraction(7, 9))
    assert value.low <= Fraction(1, 3) * Fraction(7, 9) ** 40 <= value.high
    assert value.low.denominator.bit_length() < 1_000


def test_dividing_by_an_interval_around_zero_is_refused():
    with pytest.raises(NotUnderstoodError, match="division by zero"):
        exactly(1) / about(Fraction(0), Fraction(1))


def test_huge_results_are_refused():
    large = exactly(10**600)
    with pytest.raises(NotUnderstoodError, match="more than 1,000 digits"):
        large * large


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(4_718_592), "4,718,592"),
        (Fraction(-5, 2), "-2.5"),
        (Fraction(1, 3), "0.33333"),
        (Fraction(200_000, 3), "66,667"),
        (Fraction(1, 10**50), "1.0000e-50"),
        (Fraction(10**70), "1.0000e+70"),
    ],
)
def test_numbers_are_shown_in_the_usual_notation(value, text):
    assert shown_number(exactly(value)) == text


def test_halves_are_rounded_away_from_zero():
    assert [fixed(Fraction(5, 2), 0), fixed(Fraction(-5, 2), 0), fixed(Fraction(1, 8), 2)] == ["3", "-3", "0.13"]
