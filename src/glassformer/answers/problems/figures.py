"""Written numbers: a value, a vector or a matrix, each number with its own precision."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from glassformer.answers.mistakes.chance import HIDDEN, Evidence
from glassformer.errors import GlassformerError, shown
from glassformer.expressions import Figure, NotUnderstoodError, Real, evaluate, fold, parse, tokens, written
from glassformer.numbers.by_hand.entries import INFINITE
from glassformer.program.axes import Array, Floats

MOST_CHARACTERS, MOST_NUMBERS, DEEPEST, LONGEST = 20_000, 4096, 4, 60
OPEN, CLOSE = "[({", "])}"
# A bracket, a semicolon, or a number, which may have a space after its sign, a fraction bar and a root.
_ONE = r"(?:[^\s\[\](){},;/]*(?:sqrt|√)\s*\([^\[\](){},;]*\)|[^\s\[\](){},;/]+)"
TOKEN = re.compile(rf"[\[\](){{}};]|(?:[+-]\s*)?{_ONE}(?:\s*/\s*{_ONE})?")
WRITE = "write [0.6225, 0.3775] or [[1, 2], [3, 4]], fractions and roots as 7/3 or 1/√2"
HAIR = 1e-9  # tolerance for floating-point errors
FINE = 1e-3  # with a unit this small, the last digit may be off by one; with a coarser one it may only be truncated
WHOLE = 0.05  # tolerance of a small number written without decimals; that of a large one is half a unit

Fit = Literal["exact", "truncated"]


@dataclass(frozen=True, eq=False)
class Figures:
    """Claimed numbers as arrays: the numbers, and the unit of each last digit; the true value may be half a unit away.

    A whole number takes the unit of the decimals around it (`[1, 0.3333]` means 1.0000); without decimals it is exact.
    """

    values: Floats
    units: Floats
    texts: tuple[str, ...]

    @property
    def rooms(self) -> Floats:
        return self.units / 2

    @property
    def whole(self) -> bool:
        """Whether every number was written without decimals."""
        return not np.any(self.units)

    @property
    def places(self) -> int:
        """The number of decimals with which results are shown next to this claim."""
        finest = float(self.units[self.units > 0].min(initial=1.0))
        return max(4, min(8, round(-math.log10(finest))))

    @property
    def text(self) -> str:
        """The numbers as written, without surrounding text."""
        return _nested_text(self.values.shape, iter(self.texts))

    def without_zeros(self) -> Figures | None:
        """Return the numbers without common trailing zeros (0.7300 as 0.73), if two decimals remain; otherwise None."""
        tails = [text.partition(".")[2] for text in self.texts]
        zeros = min((len(tail) - len(tail.rstrip("0")) for tail in tails), default=0)
        left = max(map(len, tails), default=0) - zeros
        plain = all(tail.isdecimal() for tail in tails)
        return replace(self, units=self.units * 10**zeros) if zeros and plain and left >= 2 else None

    def lined_up(self, value: Array) -> Array | None:
        """Return a value in the shape of the claim, ignoring axes of length one; None if the shapes differ."""
        shape = self.values.shape
        same = [size for size in value.shape if size != 1] == [size for size in shape if size != 1]
        return value.reshape(shape) if same else None

    def gaps(self, lined: Array) -> Floats:
        """Return the error of each claimed number; −∞ may be written as any very low number."""
        hidden = lined == -np.inf
        with np.errstate(invalid="ignore"):
            gap = np.abs(np.where(hidden, 0.0, lined) - self.values)
        gap = np.where(hidden, np.where(self.values <= HIDDEN, 0.0, np.inf), gap)
        return np.asarray(np.where(np.isfinite(gap), gap, np.inf), dtype=np.float64)

    def fitted(self, value: Array) -> Fit | None:
        """Compare with a value. `exact`: within half a unit of each last digit. `truncated`: cut off, or off by one."""
        lined = self.lined_up(value)
        if lined is None:
            return None
        gap = self.gaps(lined)
        near = gap <= self.rooms + self._hair
        if near.all():
            return "exact"
        with np.errstate(invalid="ignore"):
            cut = (np.abs(self.values) <= np.abs(lined) + HAIR) & (self.values * lined >= 0)
        fine = (self.units > 0) & (self.units <= FINE * (1 + HAIR))
        return "truncated" if (near | ((cut | fine) & (gap <= self.units + self._hair))).all() else None

    def within(self, value: Array, more: Floats | float) -> bool:
        """Return whether the value lies within half a unit plus `more`."""
        lined = self.lined_up(value)
        return lined is not None and bool((self.gaps(lined) <= self.rooms + more + self._hair).all())

    def near_whole(self, value: Array, *, large: float = WHOLE) -> bool:
        """Return whether the claim is the value rounded to whole numbers; `large` is the tolerance for numbers from 5 on."""
        lined = self.lined_up(value)
        return lined is not None and self.whole and bool((self.gaps(lined) <= np.where(np.abs(lined) >= 5, large, WHOLE)).all())

    def evidence(self, truth: Array) -> Evidence:
        """Return the claim as evidence for the mistakes that give it."""
        return Evidence(self.values, self.units, self.lined_up(truth), self.whole)

    @property
    def _hair(self) -> Floats:
        return HAIR * np.maximum(np.abs(self.values), 1.0)


def read_figures(given: Any, name: str = "the claim") -> Figures:
    """Read numbers from text (`[0.6225, 0.3775]`, `[1 2; 3 4]`), from numbers, or from lists of either."""
    given = given.tolist() if isinstance(given, np.ndarray | np.generic) else given
    cells = list(_cells(_nested(given, name) if isinstance(given, str) else given, name))
    if len({len(where) for where, _ in cells}) != 1:
        raise GlassformerError(f"{name} has rows of different lengths, or no numbers: {WRITE}.")
    shape = tuple(max(where[axis] for where, _ in cells) + 1 for axis in range(len(cells[0][0])))
    if math.prod(shape) != len(cells):
        raise GlassformerError(f"{name} has rows of different lengths: every row needs as many numbers as the first.")
    figures = [figure for _, figure in cells]
    values = np.array([float(figure.value) for figure in figures], dtype=np.float64)
    wholes = np.array([figure.unit == 1 and not figure.rounded for figure in figures])
    units = np.where(wholes, 0.0, np.array([float(figure.unit) for figure in figures]))
    if units.any():
        units = np.where(wholes, units[units > 0].min(), units)
    return Figures(values.reshape(shape), units.reshape(shape), tuple(figure.text for figure in figures))


def _cells(given: Any, name: str, where: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Figure]]:
    if isinstance(given, list | tuple):
        if len(where) == DEEPEST or len(given) > MOST_NUMBERS:
            raise GlassformerError(f"{name} is too deep or too long: at most {DEEPEST} levels and {MOST_NUMBERS:,} numbers.")
        for place, item in enumerate(given):
            yield from _cells(item, name, (*where, place))
    elif isinstance(given, int | float | str) and not isinstance(given, bool):
        yield where, _figure(given if isinstance(given, str) else repr(given), name)
    else:
        raise GlassformerError(f"{name} contains {shown(given)}, which is not a number: {WRITE}.")


def _figure(text: str, name: str) -> Figure:
    """Read one number: decimals at their own precision, fractions and roots exactly."""
    bare = "".join(text.replace("−", "-").replace("\\infty", "∞").split()).removeprefix("+")
    if bare.lower() in INFINITE or bare.lower() == "-infty":
        return Figure(Fraction(-(10**300)), Fraction(0), text="−∞")
    bare = bare.removesuffix(".")
    try:
        if len(bare) > LONGEST:
            raise NotUnderstoodError("too long for a number")
        found = written(parse(fold(tokens(bare))).tree)
        value = found or evaluate(bare)
    except NotUnderstoodError:
        found = value = None
    if isinstance(found, Figure) and (found.unit != 1 or found.value.denominator == 1):
        return replace(found, text=bare)
    if not isinstance(value, Real | Figure):
        raise GlassformerError(f"{name} contains '{shown(text)}', which is not a number: {WRITE}.")
    return Figure(value.middle if isinstance(value, Real) else value.value, Fraction(0), text=bare)


def _nested(text: str, name: str) -> Any:
    """Parse nested lists of words: brackets nest, a semicolon ends a row, commas and spaces separate numbers."""
    if len(text) > MOST_CHARACTERS:
        raise GlassformerError(f"{name} has {len(text):,} characters; at most {MOST_CHARACTERS:,} are allowed.")
    stack: list[list[Any]] = [[]]
    for word in _words(text.replace("−", "-").strip().lstrip("=≈~ "), name):
        if word in OPEN:
            if len(stack) > DEEPEST:
                raise GlassformerError(f"{name} is nested too deeply: a matrix is a list of rows.")
            stack.append([])
        elif word in CLOSE:
            if len(stack) == 1:
                raise GlassformerError(f"{name} closes a bracket that was not opened: {WRITE}.")
            done = _rows(stack.pop(), name)
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    if len(stack) != 1:
        raise GlassformerError(f"{name} opens a bracket that is not closed: {WRITE}.")
    top = _rows(stack[0], name)
    return top[0] if len(top) == 1 else top


def _words(text: str, name: str) -> Iterator[str]:
    """Yield brackets, semicolons and numbers; only commas and spaces are allowed between them."""
    end, last = 0, ","
    for found in TOKEN.finditer(text):
        between = text[end : found.start()]
        apart = "," in between or last in OPEN + ",;"  # `1 -2` is two numbers, `1 - 2` is a calculation
        if between.strip(" ,\t\n\r") or (found[0][1:2].isspace() and not apart):
            raise GlassformerError(f"{name} contains '{shown(text[: found.end()])}', which is not a number: {WRITE}.")
        end, last = found.end(), found[0]
        yield found[0]
    if text[end:].strip(" ,\t\n\r"):
        raise GlassformerError(f"{name} contains '{shown(text[end:])}', which is not a number: {WRITE}.")


def _rows(items: list[Any], name: str) -> list[Any]:
    """Split a list at semicolons into rows; rows that are already lists are kept."""
    if ";" not in items:
        return items
    ends = [place for place, item in enumerate(items) if item == ";"]
    rows = [items[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(items)], strict=True)]
    rows = [row for row in rows if row]
    if not rows:
        raise GlassformerError(f"{name} has no numbers: {WRITE}.")
    return [row[0] for row in rows] if all(len(row) == 1 and isinstance(row[0], list) for row in rows) else rows


def _nested_text(shape: tuple[int, ...], texts: Iterator[str]) -> str:
    if not shape:
        return next(texts).replace("-", "−")
    return "[" + ", ".join(_nested_text(shape[1:], texts) for _ in range(shape[0])) + "]"
