"""Roots, powers, exp, logarithms and trigonometric functions, each with a proven interval around the true value."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from glassformer.expressions.exact import Real, bounded, exactly
from glassformer.expressions.limits import LARGEST_EXP, LARGEST_EXPONENT, NotUnderstoodError

DIGITS = 50  # exp and ln of `decimal` are correctly rounded, so one unit outwards on each side bounds the true value
EXTRA_BITS = 220
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
PI_ROOM = Fraction(1, 10**98)
TINY = Fraction(1, 10**300)
LARGEST_ANGLE = 10**9
LONGEST_SHOWN = 10**15

_FLOOR = Context(prec=DIGITS, rounding=ROUND_FLOOR)
_CEILING = Context(prec=DIGITS, rounding=ROUND_CEILING)


def pi() -> Real:
    return Real(PI - PI_ROOM, PI + PI_ROOM)


def euler() -> Real:
    return exp(exactly(1))


def square_root(value: Real) -> Real:
    if value.high < 0:
        raise NotUnderstoodError("square root of a negative number")
    low = _root_below(max(value.low, Fraction(0)))
    high = low if value.exact else _root_below(value.high)
    return Real(low, low) if value.exact and low * low == value.low else bounded(low, high + _room(value.high))


def exp(value: Real) -> Real:
    """Return e to the power of a number; tiny results are the interval from 0 to 1e-300."""
    if value.high > LARGEST_EXP:
        raise NotUnderstoodError(f"exp of more than {LARGEST_EXP} is too large")
    if value.exact and value.low == 0:
        return exactly(1)
    if value.high < -LARGEST_EXP:
        return Real(Fraction(0), TINY)
    low = Fraction(0) if value.low < -LARGEST_EXP else _outwards(Context.exp, value.low)[0]
    return bounded(low, _outwards(Context.exp, value.high)[1])


def logarithm(value: Real) -> Real:
    """Return the natural logarithm."""
    if value.low <= 0:
        raise NotUnderstoodError("logarithm of a number that is not positive")
    if value.exact and value.low == 1:
        return exactly(0)
    return bounded(_outwards(Context.ln, value.low)[0], _outwards(Context.ln, value.high)[1])


def log_to(base: int, value: Real) -> Real:
    """Return the logarithm to base 2 or 10, exact if it is a whole number."""
    if value.exact and value.low > 0:
        for power in range(-LARGEST_EXPONENT, LARGEST_EXPONENT + 1):
            if value.low == Fraction(base) ** power:
                return exactly(power)
    return logarithm(value) / logarithm(exactly(base))


def power(base: Real, exponent: Real) -> Real:
    """Return a power: exact for whole exponents, a square root for 1/2, otherwise by exp and ln."""
    size = max(abs(exponent.low), abs(exponent.high))
    if size > LARGEST_EXPONENT:
        shown = str(exponent.low) if exponent.whole and size < LONGEST_SHOWN else f"of more than {LARGEST_EXPONENT}"
        raise NotUnderstoodError(f"exponent {shown} is too large (limit {LARGEST_EXPONENT})")
    if exponent.whole:
        return _whole_power(base, exponent.low.numerator)
    if exponent.exact and exponent.low == Fraction(1, 2):
        return square_root(base)
    if base.low <= 0:
        raise NotUnderstoodError("fractional power of a number that is not positive")
    return exp(exponent * logarithm(base))


def sine(value: Real) -> Real:
    return _angle(value, 1)


def cosine(value: Real) -> Real:
    return _angle(value, 0)


def hyperbolic_tangent(value: Real) -> Real:
    if value.exact and value.low == 0:
        return value
    if value.low < -LARGEST_EXP / 2 or value.high > LARGEST_EXP / 2:
        sign = 1 if value.low > 0 else -1
        return Real(min(Fraction(sign), sign - sign * TINY), max(Fraction(sign), sign - sign * TINY))
    twice = exp(value + value)
    return exactly(1) - exactly(2) / (twice + exactly(1))


def logistic(value: Real) -> Real:
    return exactly(1) / (exactly(1) + exp(-value))


def absolute(value: Real) -> Real:
    if value.low >= 0:
        return value
    return -value if value.high <= 0 else Real(Fraction(0), max(-value.low, value.high))


def largest(first: Real, second: Real) -> Real:
    return Real(max(first.low, second.low), max(first.high, second.high))


def floor(value: Real) -> Real:
    low, high = (end.numerator // end.denominator for end in (value.low, value.high))
    if low != high:
        raise NotUnderstoodError("the number is too close to a whole number to be rounded")
    return exactly(low)


def _whole_power(base: Real, exponent: int) -> Real:
    if exponent < 0:
        return exactly(1) / _whole_power(base, -exponent)
    if exponent % 2 == 0 and base.low < 0 < base.high:
        base = absolute(base)
    result = exactly(1)
    for _ in range(exponent):
        result = result * base
    return result


def _root_below(value: Fraction) -> Fraction:
    """Return the largest fraction on a grid whose square is at most `value`; the exact root if it is rational."""
    scale = max(0, EXTRA_BITS - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    root = isqrt(value.numerator * value.denominator << 2 * scale)
    return Fraction(root, value.denominator << scale)


def _room(value: Fraction) -> Fraction:
    scale = max(0, EXTRA_BITS - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    return Fraction(1, value.denominator << scale)


@lru_cache(maxsize=4096)
def _outwards(function: Callable[[Context, Decimal], Decimal], value: Fraction) -> tuple[Fraction, Fraction]:
    """Return lower and upper bounds of a function at a rational number."""
    under = _FLOOR.divide(Decimal(value.numerator), Decimal(value.denominator))
    over = _CEILING.divide(Decimal(value.numerator), Decimal(value.denominator))
    low, high = _FLOOR.next_minus(function(_FLOOR, under)), _CEILING.next_plus(function(_CEILING, over))
    return Fraction(low), Fraction(high)


def _angle(value: Real, odd: int) -> Real:
    """Return sin (odd=1) or cos (odd=0) by its series, after subtracting whole turns."""
    middle, width = value.middle, (value.high - value.low) / 2
    if abs(middle) > LARGEST_ANGLE:
        raise NotUnderstoodError(f"an angle of more than {LARGEST_ANGLE:,} is too large")
    turns = round(middle / (2 * PI))
    rest = middle - turns * 2 * PI
    rest = Fraction(round(rest * 2**EXTRA_BITS), 2**EXTRA_BITS)
    term, total, square = (rest if odd else Fraction(1)), Fraction(0), rest * rest
    for step in range(odd + 1, 90, 2):
        total += term
        term = -term * square / (step * (step + 1))
        term = Fraction(round(term * 2**EXTRA_BITS), 2**EXTRA_BITS)
    room = width + Fraction(1, 10**55)
    return Real(total - room, total + room) if middle or not value.exact else exactly(1 - odd)
