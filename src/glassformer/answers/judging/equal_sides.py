"""A claim that is a chain, `12 × 768² = 7,077,888 ≈ 7.1M`: every side is held against the next, not the last one alone."""

from __future__ import annotations

import re
from fractions import Fraction

from glassformer.answers.claimed import SUFFIXES, Number
from glassformer.answers.judging.meanings import cleaned, side_meant
from glassformer.program import Program
from glassformer.spec import shown

LOOSE = Fraction(1, 100)  # what ≈ may hide
RELATION = r"=|≈|≃|\\approx|\\simeq"
NAME = r"\\?[A-Za-z][\w{}\\]*(?:\s*\([^)]*\))?"  # `d_k = …`, `N = …`: a label, and no claim about a size


def broken_link(text: str, program: Program, unit: str = "") -> str:
    """The sentence about the first two neighbours of a chain that are not the same number; empty where there are none."""
    parts = re.split(f"({RELATION})", cleaned(text))
    sides, signs = parts[::2], parts[1::2]
    known: tuple[str, list[Number]] | None = None
    loosely = False
    for place, side in enumerate(side.strip() for side in sides):
        loosely = loosely or (place > 0 and signs[place - 1] != "=")
        label = place == 0 and re.fullmatch(NAME, side) is not None
        numbers = [] if label or not side else side_meant(side, program, unit)
        if not numbers:
            known = None  # a side that is not understood is nothing to hold its neighbours against
            continue
        if known is not None and not any(_same(one, two, loosely=loosely) for one in known[1] for two in numbers):
            return f"{shown(known[0])} is {_written(known[1][0])}, not {shown(side)}: the two sides are not the same number"
        known, loosely = (side, numbers), False
    return ""


def _same(one: Number, two: Number, *, loosely: bool) -> bool:
    """Within what both were rounded to; a unit that only one of the two bears is no difference."""
    for factor in (Fraction(1), *{Fraction(size) for size in SUFFIXES.values()}):
        for left, right in ((one, two), (two, one)):
            if factor != 1 and _bears(left.text) == _bears(right.text):
                continue
            gap = abs(left.value * factor - right.value)
            room = left.room * factor + right.room + _decimals(left) * factor + _decimals(right)
            if gap <= room + (LOOSE * abs(right.value) if loosely else abs(right.value) / 10**9):
                return True
    return False


def _bears(text: str) -> bool:
    """Whether a unit or a word stands behind the number."""
    return any(word in SUFFIXES for word in re.findall(r"[a-z%]+", text.lower()))


def _decimals(number: Number) -> Fraction:
    """What rounding of the numbers inside a formula may have moved it by: half a unit of each, in the whole."""
    share = Fraction(0)
    for whole, decimals in re.findall(r"(\d+)\.(\d+)", number.text) if number.exact else ():
        value = Fraction(f"{whole}.{decimals}")
        share += Fraction(1, 2 * 10 ** len(decimals)) / value if value else Fraction(0)
    return share * abs(number.value)


def _written(number: Number) -> str:
    value = number.value
    return f"{value.numerator:,}" if value.denominator == 1 else f"{float(value):,.4g}"
