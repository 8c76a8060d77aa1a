"""Exact polynomial fits: how an expression depends on one size, and where it takes a given value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

HIGHEST = 4  # no count, cost or memory has a higher power of one size
LARGEST = 10**12

Polynomial = tuple[Fraction, ...]  # coefficients, the constant first


def fitted(points: Sequence[tuple[int, Fraction]]) -> Polynomial | None:
    """Return the polynomial of degree at most 4 through all points (at least 6), or None if there is none."""
    few = points[: HIGHEST + 1]
    coefficients = [Fraction(0)] * len(few)
    for place, (x, y) in enumerate(few):  # Lagrange interpolation, expanded
        basis, scale = [Fraction(1)], Fraction(1)
        for other, (z, _) in enumerate(few):
            if other != place:
                basis = [Fraction(0), *basis]
                basis = [low - z * high for low, high in zip(basis, [*basis[1:], Fraction(0)], strict=True)]
                scale *= x - z
        coefficients = [total + y * part / scale for total, part in zip(coefficients, basis, strict=True)]
    while len(coefficients) > 1 and not coefficients[-1]:
        coefficients.pop()
    found = tuple(coefficients)
    return found if all(value_at(found, x) == y for x, y in points) else None


def value_at(polynomial: Polynomial, x: int) -> Fraction:
    total = Fraction(0)
    for coefficient in reversed(polynomial):
        total = total * x + coefficient
    return total


def whole_root(polynomial: Polynomial) -> tuple[int | None, int]:
    """Return the positive whole root, or None and the number after which the sign changes."""
    sign_at: Callable[[int], int] = lambda x: (value_at(polynomial, x) > 0) - (value_at(polynomial, x) < 0)  # noqa: E731
    low, high = 1, 2
    if not sign_at(low):
        return low, low
    while high < LARGEST and sign_at(high) == sign_at(low):
        low, high = high, 2 * high
    if sign_at(high) == sign_at(low):
        return None, 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sign_at(middle) == sign_at(low) else (low, middle)
    return (high, high) if not sign_at(high) else (None, low)


def written(polynomial: Polynomial, letter: str) -> str:
    """Return the polynomial as text, highest power first: `1,536 t² + 7,077,888 t`."""
    terms = []
    for power in range(len(polynomial) - 1, -1, -1):
        if coefficient := polynomial[power]:
            number = f"{int(coefficient):,}" if coefficient.denominator == 1 else str(coefficient)
            raised = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) if power > 1 else ""
            terms.append(f"{number} {letter}{raised}" if power else number)
    return " + ".join(terms).replace("+ -", "− ") or "0"
