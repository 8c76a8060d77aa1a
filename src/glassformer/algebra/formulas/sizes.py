"""Symbolic sizes, such as `768`, `d`, `d/S` or `h·d_v`, and when two of them are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from glassformer.errors import GlassformerError
from glassformer.expressions.limits import LARGEST_SIZE, SIZE_POWER, SIZE_TERMS

Monomial: TypeAlias = tuple[tuple[str, int], ...]  # (("S", -1), ("d", 1)) is d/S
Terms: TypeAlias = tuple[tuple[Monomial, Fraction], ...]
Agreement: TypeAlias = Literal["same", "different", "bound", "conditional"]

MODEL_WIDTHS = frozenset({"d", "D", "d_model", "D_model"})


@dataclass(frozen=True)
class Size:
    """A polynomial in named sizes with rational coefficients; nearly always one number or one symbol."""

    terms: Terms

    @staticmethod
    def of(value: int | Fraction | str) -> Size:
        if isinstance(value, str):
            return Size((((((value, 1),)), Fraction(1)),))
        return Size((((), Fraction(value)),) if value else ())

    @property
    def number(self) -> int | None:
        """The size as a whole number, if it has no symbols."""
        if len(self.terms) == 1 and not self.terms[0][0] and self.terms[0][1].denominator == 1:
            return int(self.terms[0][1])
        return None

    @property
    def symbol(self) -> str | None:
        """The symbol, if the size is a single symbol."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1 and self.terms[0][0][0][1] == 1:
            return self.terms[0][0][0][0]
        return None

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(symbol for monomial, _ in self.terms for symbol, _ in monomial)

    def __add__(self, other: Size) -> Size:
        return _collected([*self.terms, *other.terms])

    def __mul__(self, other: Size) -> Size:
        return _collected([(_times(a, b), x * y) for a, x in self.terms for b, y in other.terms])

    def __truediv__(self, other: Size) -> Size:
        if len(other.terms) != 1:
            raise GlassformerError(f"a size cannot be divided by {other}: divide by one number or symbol, as in d/S.")
        ((monomial, factor),) = other.terms
        return self * Size(((tuple((symbol, -power) for symbol, power in monomial), 1 / factor),))

    def put_in(self, known: Mapping[str, Size]) -> Size:
        """Return the size with known symbols substituted; a symbol in a denominator needs a value of one term."""
        if not self.symbols & known.keys():
            return self
        total = Size(())
        for monomial, factor in self.terms:
            product = Size.of(factor)
            for symbol, power in monomial:
                value = known.get(symbol, Size.of(symbol))
                for _ in range(abs(power)):
                    product = product * value if power > 0 else product / value
            total = total + product
        return total

    def __str__(self) -> str:
        return " + ".join(_written(monomial, factor) for monomial, factor in self.terms) or "0"


def agreement(left: Size, right: Size) -> Agreement:
    """Compare two sizes. `bound`: a single symbol takes the other's number. `conditional`: equal for some values."""
    if left == right:
        return "same"
    if left.number is not None and right.number is not None:
        return "different"
    lone = left.symbol or right.symbol
    if lone and (left.number is not None or right.number is not None):
        return "bound"
    if len(left.terms) != 1 or len(right.terms) != 1:
        return "conditional"
    ((monomial, factor),) = (left / right).terms
    powers = [power for _, power in monomial]
    if not powers:
        return "different"
    if all(power > 0 for power in powers) or all(power < 0 for power in powers):
        forced = factor if powers[0] > 0 else 1 / factor
        return "different" if forced >= 1 else "conditional"  # d and d/S: equal only if S is 1
    if {symbol for symbol, _ in monomial} <= MODEL_WIDTHS:
        return "conditional"  # d and d_model usually mean the same
    return "different" if len(powers) == 2 and factor == 1 else "conditional"  # d and t differ, but h·d_v may equal d


def _collected(terms: list[tuple[Monomial, Fraction]]) -> Size:
    sums: dict[Monomial, Fraction] = {}
    for monomial, factor in terms:
        sums[monomial] = sums.get(monomial, Fraction(0)) + factor
    kept = sorted((monomial, factor) for monomial, factor in sums.items() if factor)
    if len(kept) > SIZE_TERMS or any(abs(power) > SIZE_POWER for monomial, _ in kept for _, power in monomial):
        raise GlassformerError("a size in this formula has too many terms: give numbers for some of its symbols.")
    if any(abs(factor.numerator) > LARGEST_SIZE**2 or factor.denominator > LARGEST_SIZE for _, factor in kept):
        raise GlassformerError(f"a size in this formula is out of range: sizes are whole numbers from 1 to {LARGEST_SIZE:,}.")
    return Size(tuple(kept))


def _times(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for symbol, power in right:
        powers[symbol] = powers.get(symbol, 0) + power
    return tuple(sorted((symbol, power) for symbol, power in powers.items() if power))


def _written(monomial: Monomial, factor: Fraction) -> str:
    order = sorted(monomial, key=lambda item: (item[0].lower().startswith("d"), item[0]))  # h·d_v, in the usual order
    above = [_power(symbol, power) for symbol, power in order if power > 0]
    below = [_power(symbol, -power) for symbol, power in order if power < 0]
    if factor.numerator != 1 or not above:
        above.insert(0, str(factor.numerator))
    if factor.denominator != 1:
        below.insert(0, str(factor.denominator))
    if not below:
        return "·".join(above)
    return "·".join(above) + "/" + (below[0] if len(below) == 1 else f"({'·'.join(below)})")


def _power(symbol: str, power: int) -> str:
    return symbol if power == 1 else f"{symbol}^{power}"
