"""Exact numbers with a short form: fractions and roots of fractions, such as 5/4, 1/√2, 1 + 3/√5."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

LARGEST_ROOT = 10**8  # under the root sign, before squares are taken out
LARGEST_PART = 10**40  # numerators and denominators beyond this are no longer "by hand"
MOST_TERMS = 4


class NotExactError(ArithmeticError):
    """The number has no short exact form."""


@dataclass(frozen=True)
class Surd:
    """A sum of fractions times roots: `((1, 5/2), (2, 1/2))` is 5/2 + √2/2. Roots are of square-free numbers."""

    terms: tuple[tuple[int, Fraction], ...]

    @staticmethod
    def of(value: int | Fraction) -> Surd:
        return _surd({1: Fraction(value)})

    @property
    def fraction(self) -> Fraction | None:
        """The number as a fraction, if it is one."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == 1 else None

    def __float__(self) -> float:
        return math.fsum(float(part) * math.sqrt(radicand) for radicand, part in self.terms)

    def __add__(self, other: Surd) -> Surd:
        total = dict(self.terms)
        for radicand, part in other.terms:
            total[radicand] = total.get(radicand, Fraction(0)) + part
        return _surd(total)

    def __mul__(self, other: Surd) -> Surd:
        total: dict[int, Fraction] = {}
        for one, left in self.terms:
            for two, right in other.terms:
                shared = math.gcd(one, two)
                radicand = one * two // shared**2
                total[radicand] = total.get(radicand, Fraction(0)) + left * right * shared
        return _surd(total)

    def __truediv__(self, other: Surd) -> Surd:
        if len(other.terms) != 1:
            raise NotExactError("division by zero or by a sum of roots")
        radicand, part = other.terms[0]
        return self * _surd({radicand: 1 / (part * radicand)})

    def root(self) -> Surd:
        """The square root of a fraction that is not negative."""
        value = self.fraction
        if value is None or value < 0:
            raise NotExactError("the root of a root, or of a negative number")
        outside, inside = _squares_out(value.numerator * value.denominator)
        return _surd({inside: Fraction(outside, value.denominator)})

    @property
    def decimal(self) -> bool:
        """Whether it is a fraction that ends as a decimal."""
        value = self.fraction
        return value is not None and 10**18 % value.denominator == 0

    @property
    def short(self) -> bool:
        """Whether the exact form is short."""
        return self._below(10**5)

    @property
    def telling(self) -> bool:
        """Whether the exact form is more informative than the decimal: 3/√5 is, 43393/(10000√2) is not."""
        return self._below(10**3)

    def _below(self, most: int) -> bool:
        small = all(abs(part.numerator) < most and part.denominator < most and root < 10**4 for root, part in self.terms)
        return small and len(self.terms) <= 2

    def text(self) -> str:
        """`1/√2`, `−7/3`, `1 + 2√3/5`."""
        return _joined([_term_text(radicand, part) for radicand, part in self.terms])

    def latex(self) -> str:
        return _joined([_term_latex(radicand, part) for radicand, part in self.terms]).replace("−", "-")


def parse_surd(text: str) -> Surd | None:
    """`7/3`, `√2`, `1/√2`, `-2√3`, `3*sqrt(5)/2`; None for anything else."""
    plain = re.sub(r"\s*([-+/*√()])\s*", r"\1", text.strip()[:80].replace("−", "-"))
    plain = re.sub(r"\*(?=√|sqrt)", "", plain)
    plain = re.sub(r"sqrt\((\d{1,9})\)|√\((\d{1,9})\)", lambda found: f"√{found[1] or found[2]}", plain)
    found = re.fullmatch(r"([+-]?)(\d{1,15}(?:\.\d{1,15})?)?(?:√(\d{1,9}))?(?:/(\d{1,15})?(?:√(\d{1,9}))?)?", plain)
    if found is None or not any(found.groups()[1:]) or plain.endswith("/"):
        return None
    sign, number, root, below, root_below = found.groups()
    if number is None and root is None:
        return None
    try:
        value = Surd.of(Fraction(number or 1)) * Surd.of(Fraction(root or 1)).root()
        value = value / (Surd.of(Fraction(below or 1)) * Surd.of(Fraction(root_below or 1)).root())
    except (NotExactError, ZeroDivisionError):
        return None
    return value * Surd.of(-1) if sign == "-" else value


def _surd(parts: dict[int, Fraction]) -> Surd:
    kept = tuple(sorted((radicand, part) for radicand, part in parts.items() if part))
    if len(kept) > MOST_TERMS or any(max(abs(p.numerator), p.denominator) > LARGEST_PART or r > LARGEST_ROOT for r, p in kept):
        raise NotExactError("too long to write")
    return Surd(kept)


def _squares_out(number: int) -> tuple[int, int]:
    """`number` as outside² · inside, inside square-free."""
    whole = math.isqrt(number)
    if whole * whole == number:
        return whole, 1
    if number > LARGEST_ROOT:
        raise NotExactError("too large under the root")
    outside, factor = 1, 2
    while factor * factor <= number:
        while number % (factor * factor) == 0:
            number //= factor * factor
            outside *= factor
        factor += 1
    return outside, number


def _parts(radicand: int, part: Fraction) -> tuple[str, int, int, int, int]:
    """Return the sign, and numerator and denominator as number · root: 1/√2 rather than √2/2 if that is shorter."""
    top, bottom = abs(part.numerator), part.denominator
    sign = "−" if part < 0 else ""
    if radicand > 1 and bottom % radicand == 0:
        return sign, top, 1, bottom // radicand, radicand
    return sign, top, radicand, bottom, 1


def _term_text(radicand: int, part: Fraction) -> str:
    def side(number: int, root: int) -> str:
        return str(number) if root == 1 else f"{'' if number == 1 else number}√{root}"

    sign, top, root, bottom, root_below = _parts(radicand, part)
    below = side(bottom, root_below)
    if below == "1":
        return sign + side(top, root)
    return f"{sign}{side(top, root)}/{f'({below})' if root_below > 1 and bottom > 1 else below}"


def _term_latex(radicand: int, part: Fraction) -> str:
    def side(number: int, root: int) -> str:
        return str(number) if root == 1 else f"{'' if number == 1 else number}\\sqrt{{{root}}}"

    sign, top, root, bottom, root_below = _parts(radicand, part)
    below = side(bottom, root_below)
    return sign + (side(top, root) if below == "1" else f"\\frac{{{side(top, root)}}}{{{below}}}")


def _joined(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ −", "− ") or "0"
