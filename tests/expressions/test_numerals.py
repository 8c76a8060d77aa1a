"""Written numbers."""

from fractions import Fraction

import pytest

from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.numerals import read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("40,000", 40_000),
        ("40{,}000", 40_000),
        (r"40\,000", 40_000),
        ("40\u2009000", 40_000),
        ("40_000", 40_000),
        ("40'000", 40_000),
        ("12,34,567", 1_234_567),
        ("1.234.567", 1_234_567),
        ("1,234.5", Fraction(2469, 2)),
        (".5", Fraction(1, 2)),
        ("0{,}27", Fraction(27, 100)),
        ("1.5e6", 1_500_000),
        ("2E-3", Fraction(1, 500)),
        ("0x200", 512),
        ("0b101", 5),
    ],
)
def test_every_separator_is_read(text, value):
    assert read(text).value == value


@pytest.mark.parametrize(("text", "value"), [("0,62", Fraction(31, 50)), ("1.234,5", Fraction(2469, 2)), ("589.824", 589_824)])
def test_a_decimal_comma_is_read_if_requested(text, value):
    assert read(text, "comma").value == value


@pytest.mark.parametrize("text", ["1.2.3", "12,34", "0,001", "1,2,3"])
def test_an_ambiguous_number_is_refused(text):
    with pytest.raises(NotUnderstoodError, match="is not an unambiguous number"):
        read(text)


def test_the_last_digit_says_how_precise_a_number_is():
    assert [read(text).unit for text in ("0.62", "218", "1.5e6")] == [Fraction(1, 100), 1, 100_000]
    million = read("218").scaled(6, "million")
    assert (million.value, million.unit, million.rounded, million.text) == (218_000_000, 1_000_000, True, "218 million")


def test_long_numbers_are_refused():
    assert read("9" * 200).value == int("9" * 200)
    with pytest.raises(NotUnderstoodError, match="more than 200 digits"):
        read("9" * 201)
    with pytest.raises(NotUnderstoodError, match="exponent"):
        read("1e999")
