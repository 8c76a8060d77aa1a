"""Compares values with written numbers, at the precision of the written number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from glassformer.expressions.arrays import Array, Value, alike, matrix
from glassformer.expressions.evaluate import unit_factor
from glassformer.expressions.exact import Real, about, exactly, fixed, shown_number, terminating
from glassformer.expressions.numerals import Numeral
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import Grid, List, Measured, Negative, Node, Number, Percent, Power, Product, ungrouped

Agreement = Literal["exact", "rounded", "cut", "near"]
WEAKEST: tuple[Agreement, ...] = ("near", "cut", "rounded", "exact")
SHORT = 6  # decimals that are shown in full
FLOAT_DIGITS, FLOAT_NOISE = 14, Fraction(1, 10**14)  # rounding errors in printed floats
NEGLIGIBLE = Fraction(1, 20)  # the largest value of ≈ 0
SIGNIFICANT = 2  # the fewest significant digits of a rounded number
COARSEST = Fraction(1, 4)  # the largest relative error of a rounded whole number: 512 MiB is not 1 GiB
NEAR = Fraction(1, 200)  # tolerance for two expressions with ≈ between them


@dataclass(frozen=True)
class Figure:
    """A written number: its value, the unit of its last digit, and whether it is marked as rounded."""

    value: Fraction
    unit: Fraction
    rounded: bool = False
    text: str = ""

    @property
    def decimals(self) -> int:
        places = 0
        while places < 60 and self.unit * 10**places < 1:
            places += 1
        return places

    def times(self, factor: Fraction, *, rounded: bool = False) -> Figure:
        return Figure(self.value * factor, abs(self.unit * factor), self.rounded or rounded, self.text)


@dataclass(frozen=True)
class Figures:
    """A list or a matrix of written numbers."""

    cells: tuple[Figure, ...]
    columns: int | None = None


Written = Figure | Figures


def written(node: Node, reading: Reading | None = None) -> Written | None:
    """Return the written numbers of a node; None for anything that has to be computed."""
    node = ungrouped(node)
    usual = reading or Reading()
    match node:
        case Number(numeral):
            return _figure(numeral)
        case Negative(inner):
            found = written(inner, usual)
            return found.times(Fraction(-1)) if isinstance(found, Figure) else None
        case Percent(inner):
            found = written(inner, usual)
            return found.times(Fraction(1, 100 if usual.percent == "hundredth" else 1)) if isinstance(found, Figure) else None
        case Measured(inner, unit):
            found = written(inner, usual)
            factor = unit_factor(unit, usual)
            return found.times(factor, rounded=factor != 1) if isinstance(found, Figure) else None
        case Product(((_, Number(numeral)), (("×" | "·" | "*"), Power(Number(ten), exponent)))) if ten.value == 10:
            power = written(exponent, usual)
            small = isinstance(power, Figure) and power.value.denominator == 1 and abs(power.value) <= 60
            return (
                _figure(numeral).times(Fraction(10) ** int(power.value), rounded=True)
                if isinstance(power, Figure) and small
                else None
            )
        case List(items):
            return _listed([written(item, usual) for item in items])
        case Grid(rows):
            return _stacked([_listed([written(cell, usual) for cell in row]) for row in rows])
        case _:
            return None


def agrees(value: Value, claim: Written, *, loosely: bool) -> Agreement | None:
    """Return how a value agrees with a written number; `loosely` if the text has ≈."""
    if isinstance(value, Array) and len(value.cells) == 1 and isinstance(claim, Figure):
        value = value.cells[0]
    if isinstance(claim, Figure):
        return _agrees(value, claim, loosely=loosely) if isinstance(value, Real) else None
    if isinstance(value, Real):
        return _agrees(value, claim.cells[0], loosely=loosely) if len(claim.cells) == 1 else None
    if not alike(value, as_array(claim)):
        return None
    found = [_agrees(cell, figure, loosely=loosely) for cell, figure in zip(value.cells, claim.cells, strict=True)]
    return min((one for one in found if one), key=WEAKEST.index) if all(found) else None


def equal(one: Value, two: Value, *, loosely: bool) -> Agreement | None:
    """Return how the values of two expressions agree."""
    if isinstance(one, Array) != isinstance(two, Array):
        return None
    pairs = [(one, two)] if isinstance(one, Real) and isinstance(two, Real) else []
    if isinstance(one, Array) and isinstance(two, Array):
        if not alike(one, two):
            return None
        pairs = list(zip(one.cells, two.cells, strict=True))
    if all(left.meets(right) for left, right in pairs):
        return "exact"
    if loosely and all(abs(left.middle - right.middle) <= NEAR * abs(left.middle) for left, right in pairs):
        return "near"
    return None


def as_array(claim: Figures) -> Array:
    return Array(tuple(exactly(cell.value) for cell in claim.cells), claim.columns)


def as_value(claim: Written) -> Value:
    return exactly(claim.value) if isinstance(claim, Figure) else as_array(claim)


def widened(numeral: Numeral) -> Real:
    """Return the interval of numbers that a written decimal may stand for."""
    return about(numeral.value, numeral.unit / 2) if numeral.decimal or numeral.rounded else exactly(numeral.value)


def rounded_like(value: Real, figure: Figure) -> str:
    """Return a value with as many digits as the claim, or in full if that is short."""
    places = terminating(value.middle) if value.exact else None
    if value.whole or (places is not None and places <= SHORT):
        return shown_number(value)
    return fixed(value.middle, figure.decimals) if figure.decimals else shown_number(value)


def shown_value(value: Value, like: Written | None = None) -> str:
    """Return a number or an array as text, with the decimals of the number it is compared with."""
    if isinstance(value, Real):
        return rounded_like(value, like) if isinstance(like, Figure) else shown_number(value)
    figures = like.cells if isinstance(like, Figures) and len(like.cells) == len(value.cells) else (None,) * len(value.cells)
    cells = [
        rounded_like(cell, figure) if figure else shown_number(cell) for cell, figure in zip(value.cells, figures, strict=True)
    ]
    if value.columns is None:
        return f"[{', '.join(cells)}]"
    rows = [cells[start : start + value.columns] for start in range(0, len(cells), value.columns)]
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def _figure(numeral: Numeral) -> Figure:
    return Figure(numeral.value, numeral.unit, numeral.rounded, numeral.text)


def _listed(items: Sequence[Written | None]) -> Written | None:
    cells = [item for item in items if isinstance(item, Figure)]
    if len(cells) == len(items):
        return Figures(tuple(cells)) if cells else None
    return _stacked(items)


def _stacked(rows: Sequence[Written | None]) -> Written | None:
    found = [row for row in rows if isinstance(row, Figures) and row.columns is None]
    if len(found) != len(rows) or not found or len({len(row.cells) for row in found}) != 1:
        return None
    matrix([[exactly(cell.value) for cell in row.cells] for row in found])  # raises an error if it is too large
    return Figures(tuple(cell for row in found for cell in row.cells), len(found[0].cells))


def _agrees(value: Real, figure: Figure, *, loosely: bool) -> Agreement | None:
    """Compare with one number: plain digits are exact; decimals, `110M` and numbers after ≈ allow half a unit."""
    if value.meets(exactly(figure.value)):
        return "exact"
    if figure.decimals >= FLOAT_DIGITS and value.meets(about(figure.value, abs(figure.value) * FLOAT_NOISE)):
        return "rounded"  # 0.30000000000000004
    approximate = loosely or figure.rounded
    if not approximate and figure.unit >= 1:
        return None
    if figure.value == 0 and figure.unit >= 1:  # no significant digit: 0.04 is ≈ 0, but 0.25 is not
        return "rounded" if value.meets(about(Fraction(0), NEGLIGIBLE)) else None
    if figure.unit >= 1 and not value.meets(about(figure.value, abs(figure.value) * COARSEST)):
        return None
    coarse = last_significant(figure) if approximate else figure.unit
    if value.meets(about(figure.value, coarse / 2)):
        return "rounded"
    outwards = figure.value + (figure.unit if value.middle > 0 else -figure.unit)
    return "cut" if value.meets(Real(min(figure.value, outwards), max(figure.value, outwards))) else None


def last_significant(figure: Figure) -> Fraction:
    """Return the unit of the last significant digit: 10 million of 110M."""
    zeros: int = _trailing_zeros(figure)
    return figure.unit * Fraction(10**zeros)


def _trailing_zeros(figure: Figure) -> int:
    """Return the number of insignificant zeros: that of 110M, and one of the two in 300M, since two digits are significant."""
    if figure.value == 0 or figure.unit < 1:
        return 0
    digits = str(abs(figure.value / figure.unit).numerator)
    return min(len(digits) - len(digits.rstrip("0")), max(len(digits) - SIGNIFICANT, 0))
