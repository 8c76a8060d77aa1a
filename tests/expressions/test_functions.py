"""Roots, powers and functions: the interval always holds the true value, and is narrow."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.expressions import functions
from glassformer.expressions.exact import exactly
from glassformer.expressions.limits import NotUnderstoodError

FUNCTIONS = {
    functions.exp: math.exp,
    functions.sine: math.sin,
    functions.cosine: math.cos,
    functions.hyperbolic_tangent: math.tanh,
    functions.logistic: lambda x: 1 / (1 + math.exp(-x)),
}


@pytest.mark.parametrize("ours", FUNCTIONS)
@given(value=st.fractions(-20, 20, max_denominator=1000))
def test_functions_agree_with_floating_point(ours, value):
    found = ours(exactly(value))
    assert found.high - found.low <= Fraction(1, 10**30) * max(1, abs(found.high))
    assert float(found.middle) == pytest.approx(FUNCTIONS[ours](float(value)), rel=1e-12, abs=1e-12)


@given(st.fractions(Fraction(1, 1000), 10**9, max_denominator=1000))
def test_a_squared_root_contains_the_number(value):
    root = functions.square_root(exactly(value))
    assert root.low**2 <= value <= root.high**2


def test_perfect_squares_and_powers_of_the_base_are_exact():
    assert functions.square_root(exactly(Fraction(9, 16))) == exactly(Fraction(3, 4))
    assert functions.log_to(2, exactly(Fraction(1, 8))) == exactly(-3)
    assert functions.log_to(10, exactly(1000)) == exactly(3)


def test_the_logarithm_inverts_the_exponential():
    found = functions.logarithm(functions.exp(exactly(Fraction(7, 3))))
    assert found.low <= Fraction(7, 3) <= found.high


def test_exponents_are_limited():
    with pytest.raises(NotUnderstoodError, match=r"exponent 387420489 is too large \(limit 64\)"):
        functions.power(exactly(9), exactly(9**9))
    assert functions.power(exactly(2), exactly(-3)) == exactly(Fraction(1, 8))
    assert float(functions.power(exactly(10_000), exactly(Fraction(1, 4))).middle) == pytest.approx(10)


def test_a_masked_score_has_almost_no_weight():
    weight = functions.exp(exactly(-(10**9)))
    assert weight.low == 0 < weight.high < Fraction(1, 10**200)


@pytest.mark.parametrize(("function", "value"), [(functions.square_root, -1), (functions.logarithm, 0), (functions.exp, 10**6)])
def test_an_undefined_value_is_refused(function, value):
    with pytest.raises(NotUnderstoodError):
        function(exactly(value))
