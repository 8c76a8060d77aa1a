"""Activation functions: erf, GELU and SiLU, each with a proven interval around the true value."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.functions import hyperbolic_tangent, logistic, pi, square_root

LARGEST = 8  # beyond this, erf differs from one by less than 1e-28
ROOM = Fraction(1, 10**28)
PRECISE = Context(prec=110)  # terms of the series grow to e^64, and the sum needs 28 digits
SQRT_PI = PRECISE.sqrt(
    Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
)


def error_function(value: Real) -> Real:
    """Return erf, which is increasing, so the ends of the interval bound it."""
    if value.exact and value.low == 0:
        return exactly(0)
    return Real(max(_erf(value.low) - ROOM, Fraction(-1)), min(_erf(value.high) + ROOM, Fraction(1)))


def gelu(value: Real) -> Real:
    """Return an interval with both x Φ(x) and its tanh approximation, since both are called GELU."""
    exact, approximate = exact_gelu(value), gelu_by_tanh(value)
    return Real(min(exact.low, approximate.low), max(exact.high, approximate.high))


def exact_gelu(value: Real) -> Real:
    """Return x Φ(x)."""
    return exactly(Fraction(1, 2)) * value * (exactly(1) + error_function(value / square_root(exactly(2))))


def gelu_by_tanh(value: Real) -> Real:
    inner = square_root(exactly(2) / pi()) * (value + exactly(Fraction(44715, 10**6)) * value * value * value)
    return exactly(Fraction(1, 2)) * value * (exactly(1) + hyperbolic_tangent(inner))


def silu(value: Real) -> Real:
    return value * logistic(value)


@lru_cache(maxsize=1024)
def _erf(value: Fraction) -> Fraction:
    """Return erf by its series, 2/√π Σ (−1)ⁿ x^(2n+1) / (n! (2n+1))."""
    if abs(value) > LARGEST:
        return Fraction(1 if value > 0 else -1)
    x = PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))
    square, power, total, step = PRECISE.multiply(x, x), x, Decimal(0), 0
    while step < 2 * LARGEST**2 or abs(power) > Decimal(10) ** -40:
        total = PRECISE.add(total, PRECISE.divide(power, Decimal(2 * step + 1)))
        step += 1
        power = PRECISE.divide(PRECISE.multiply(PRECISE.minus(power), square), Decimal(step))
    return Fraction(PRECISE.divide(PRECISE.multiply(Decimal(2), total), SQRT_PI))
