"""Exact numbers: fractions and roots, in the form that a person writes."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.numbers.by_hand.surd import NotExactError, Surd, parse_surd

FRACTIONS = st.fractions(min_value=-50, max_value=50, max_denominator=30)


def surd(whole: Fraction | int, part: Fraction | int = 0, root: int = 1) -> Surd:
    return Surd.of(whole) + Surd.of(part) * Surd.of(root).root()


@pytest.mark.parametrize(
    ("value", "text", "latex"),
    [
        (surd(Fraction(5, 2)), "5/2", r"\frac{5}{2}"),
        (Surd.of(1) / Surd.of(2).root(), "1/√2", r"\frac{1}{\sqrt{2}}"),
        (Surd.of(-3) / Surd.of(5).root(), "−3/√5", r"-\frac{3}{\sqrt{5}}"),
        (Surd.of(8).root(), "2√2", r"2\sqrt{2}"),
        (Surd.of(Fraction(5, 4)).root(), "√5/2", r"\frac{\sqrt{5}}{2}"),
        (surd(1, Fraction(-2, 3), 3), "1 − 2/√3", r"1 - \frac{2}{\sqrt{3}}"),
        (Surd.of(1) / (Surd.of(2) * Surd.of(3).root()), "1/(2√3)", r"\frac{1}{2\sqrt{3}}"),
        (Surd.of(16).root(), "4", "4"),
        (Surd.of(0), "0", "0"),
    ],
)
def test_the_form_that_a_person_writes(value, text, latex):
    assert (value.text(), value.latex()) == (text, latex)


@given(FRACTIONS, FRACTIONS, st.integers(2, 30), FRACTIONS)
def test_sums_and_products_agree_with_decimals(a, b, root, c):
    one, two = surd(a, b, root), surd(c)
    assert float(one + two) == pytest.approx(float(one) + float(two), abs=1e-9)
    assert float(one * one) == pytest.approx(float(one) ** 2, abs=1e-6)


@given(st.fractions(min_value=0, max_value=50, max_denominator=30))
def test_a_root_squared_is_the_number(value):
    assert Surd.of(value).root() * Surd.of(value).root() == Surd.of(value)


@pytest.mark.parametrize("text", ["7/3", "√2", "1/√2", "-2√3", "3*sqrt(5)/2", "sqrt(3)/2", "−1/2", "0.5", "√(2)"])
def test_what_is_parsed_is_the_number(text):
    plain = text.replace("−", "-").replace("√(2)", "√2").replace("√2", "sqrt(2)").replace("2√3", "2*sqrt(3)")
    expected = eval(plain.replace("√", ""), {"sqrt": math.sqrt})  # our own nine texts
    assert float(parse_surd(text) or 0) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "a", "1/0", "/2", "1/", "2**3", "1e5", "√", "--1", "1/2/3", "9" * 40, "nan", "__import__"])
def test_anything_else_is_not_a_number(text):
    assert parse_surd(text) is None


def test_numbers_without_a_short_form_are_refused():
    with pytest.raises(NotExactError):
        Surd.of(1) / surd(1, 1, 2)
    with pytest.raises(NotExactError):
        Surd.of(2).root().root()
    with pytest.raises(NotExactError):
        Surd.of(-1).root()
    with pytest.raises(NotExactError):
        Surd.of(10**41)
