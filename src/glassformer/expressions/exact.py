"""Real numbers without floating point: a rational, or an interval between two rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from glassformer.expressions.limits import MOST_RESULT_BITS, NotUnderstoodError

KEPT_BITS = 200  # of an inexact number: about sixty digits, far more than any claim has


@dataclass(frozen=True, slots=True)
class Real:
    """A number between `low` and `high`, which are equal if it is exact."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> bool:
        return self.low is self.high or self.low == self.high

    @property
    def middle(self) -> Fraction:
        return self.low if self.exact else (self.low + self.high) / 2

    @property
    def whole(self) -> bool:
        return self.exact and self.low.denominator == 1

    def __neg__(self) -> Real:
        return Real(-self.high, -self.low)

    def __add__(self, other: Real) -> Real:
        if self.low is self.high and other.low is other.high:
            value = self.low + other.low
            return bounded(value, value)
        return bounded(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Real) -> Real:
        return self + -other

    def __mul__(self, other: Real) -> Real:
        if self.exact and other.exact:
            product = self.low * other.low
            return bounded(product, product)
        if self.low.numerator >= 0 and other.low.numerator >= 0:
            return bounded(self.low * other.low, self.high * other.high)
        corners = [one * two for one in (self.low, self.high) for two in (other.low, other.high)]
        return bounded(min(corners), max(corners))

    def __truediv__(self, other: Real) -> Real:
        if other.low.numerator <= 0 <= other.high.numerator:
            raise NotUnderstoodError("division by zero")
        if other.exact:
            return self * exactly(1 / other.low)
        return self * bounded(1 / other.high, 1 / other.low)

    def meets(self, other: Real) -> bool:
        """Return whether the two may be the same number."""
        return self.low <= other.high and other.low <= self.high


def exactly(value: Fraction | int) -> Real:
    """Return a rational as a real number."""
    value = Fraction(value)
    return Real(value, value)


def about(value: Fraction, room: Fraction) -> Real:
    """Return the interval of numbers at most `room` away from `value`."""
    return Real(value - room, value + room)


def bounded(low: Fraction, high: Fraction) -> Real:
    """Return a result of limited size: a huge exact one is an error, an inexact one is rounded outwards."""
    for end in (low,) if low is high else (low, high):
        if abs(end.numerator).bit_length() > MOST_RESULT_BITS or end.denominator.bit_length() > 2 * MOST_RESULT_BITS:
            raise NotUnderstoodError("the result has more than 1,000 digits")
    if low is high or low == high:
        return Real(low, low)
    return Real(_coarse(low, upwards=False), _coarse(high, upwards=True))


def _coarse(value: Fraction, *, upwards: bool) -> Fraction:
    above, below = value.numerator, value.denominator
    if below.bit_length() <= KEPT_BITS and abs(above).bit_length() <= KEPT_BITS:
        return value
    shift = KEPT_BITS - abs(above).bit_length() + below.bit_length()
    if shift >= 0:
        above <<= shift
    else:
        below <<= -shift
    whole = -(-above // below) if upwards else above // below
    return Fraction(whole, 1 << shift) if shift >= 0 else Fraction(whole << -shift)


def shown_number(value: Real, *, decimals: int | None = None) -> str:
    """Return a number as text: whole numbers with separators, others with the given decimals or five digits."""
    middle = value.middle
    if middle.denominator == 1 and (value.exact or middle == 0) and not decimals:
        return f"{middle.numerator:,}" if abs(middle) < 10**60 else scientific(middle)
    if decimals is None and value.exact and (places := terminating(middle)) is not None and places <= 8:
        decimals = places
    if decimals is None:
        decimals = max(0, 4 - _magnitude(middle))
    if decimals > 40 or abs(middle) >= 10**60:
        return scientific(middle)
    return fixed(middle, decimals)


def fixed(value: Fraction, decimals: int) -> str:
    """Return a number with fixed decimals, rounded half away from zero, with separators."""
    scaled = abs(value) * 10**decimals
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = f"{whole:0{decimals + 1}d}"
    left, right = (digits[:-decimals], digits[-decimals:]) if decimals else (digits, "")
    sign = "-" if value < 0 and whole else ""
    return f"{sign}{int(left):,}{'.' + right if right else ''}"


def scientific(value: Fraction) -> str:
    """Return a number in scientific notation: `1.2346e+75`."""
    power = _magnitude(value)
    return f"{fixed(value / Fraction(10) ** power, 4)}e{power:+d}"


def _magnitude(value: Fraction) -> int:
    """Return the power of ten of the first digit."""
    if value == 0:
        return 0
    power = len(str(abs(value.numerator))) - len(str(value.denominator))
    return power if abs(value) >= Fraction(10) ** power else power - 1


def terminating(value: Fraction) -> int | None:
    """Return the number of decimals, if they end."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0 and twos <= 64:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0 and fives <= 64:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None
