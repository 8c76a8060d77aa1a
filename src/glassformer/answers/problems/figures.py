"""Numbers as somebody wrote them down: a value, a vector or a matrix, each number with its own precision."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from glassformer.answers.claimed import MOST_CHARACTERS, MOST_NUMBERS, Grid, Number, parse_number
from glassformer.numbers.by_hand.surd import parse_surd
from glassformer.program.axes import Floats
from glassformer.spec import GlassformerError, shown

DEEPEST = 4
HIDDEN = -1e4  # a number this low stands for −∞ in a row of masked scores
OPEN, CLOSE = "[({", "])}"
TOKEN = re.compile(r"[\[({\])};,\s]|[^\[({\])};,\s]+")
PLAIN = re.compile(r"[+-]?(?:\d{1,24}\.?\d{0,24}|\.\d{1,24})(?:e[+-]?\d{1,2})?%?", re.I)
INFINITE = re.compile(r"-\s*(?:inf|infinity|∞|infty|\\infty)", re.I)
WRITE = "write [0.6225, 0.3775] or [[1, 2], [3, 4]], fractions and roots as 7/3 or 1/√2"


@dataclass(frozen=True, eq=False)
class Figures:
    """A claimed grid as arrays: the numbers, how far the truth may lie from each, and one unit of each last digit.

    A whole number has no unit of its own: among decimals it has theirs (`[1, 0.3333]` means 1.0000), alone it is exact.
    """

    grid: Grid
    values: Floats
    rooms: Floats
    units: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def whole(self) -> bool:
        """Whether every number was written without decimals."""
        return not np.any(self.units)

    @property
    def decimals(self) -> int:
        """Decimals of the longest number."""
        return max((len(number.text.partition(".")[2]) for number in self.grid.numbers), default=0)

    def without_zeros(self) -> Figures | None:
        """The same without zeros at the end of every number (0.7300 as 0.73), where two decimals are left; None elsewhere."""
        tails = [number.text for number in self.grid.numbers if number.room and "." in number.text]
        zeros = min((len(text) - len(text.rstrip("0")) for text in tails), default=0)
        if not zeros or len(tails) < len(self.grid.numbers) or "e" in "".join(tails) or self.decimals - zeros < 2:
            return None
        return Figures(self.grid, self.values, self.rooms * 10**zeros, self.units * 10**zeros)

    @property
    def text(self) -> str:
        """The numbers as they were written, and nothing else that stood around them."""
        numbers = iter(self.grid.numbers)
        return _nested_text(self.shape, numbers)


def read_figures(given: Any, name: str = "the claim") -> Figures:
    """From text (`[0.6225, 0.3775]`, `[1 2; 3 4]`), from numbers, or from lists of either."""
    given = given.tolist() if isinstance(given, np.ndarray | np.generic) else given
    cells = list(_from_text(given, name) if isinstance(given, str) else _from_lists(given, name))
    if len({len(where) for where, _ in cells}) != 1:
        raise GlassformerError(f"{name} is ragged, or has no numbers: {WRITE}.")
    shape = tuple(max(where[axis] for where, _ in cells) + 1 for axis in range(len(cells[0][0])))
    if math.prod(shape) != len(cells):
        raise GlassformerError(f"{name} is ragged: every row needs as many numbers as the first.")
    grid = Grid(tuple(where for where, _ in cells), tuple(number for _, number in cells), "")
    return _figures(grid, shape)


def _figures(grid: Grid, shape: tuple[int, ...]) -> Figures:
    values = np.array([float(number.value) for number in grid.numbers], dtype=np.float64)
    units = np.array([2 * float(number.room) for number in grid.numbers], dtype=np.float64)
    decimals = units[units > 0]
    wholes = np.array([PLAIN.fullmatch(number.text) is not None and number.room == 0 for number in grid.numbers])
    if decimals.size:
        units = np.where(wholes, decimals.min(), units)
    return Figures(grid, values.reshape(shape), (units / 2).reshape(shape), units.reshape(shape))


def _from_lists(given: Any, name: str, where: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Number]]:
    if isinstance(given, list | tuple):
        if len(where) == DEEPEST or len(given) > MOST_NUMBERS:
            raise GlassformerError(f"{name} is too deep or too long: at most {DEEPEST} levels and {MOST_NUMBERS:,} numbers.")
        for place, item in enumerate(given):
            yield from _from_lists(item, name, (*where, place))
    elif isinstance(given, str):
        yield where, _number(given, name)
    elif isinstance(given, int | float) and not isinstance(given, bool):
        yield where, _number(repr(given), name)
    else:
        raise GlassformerError(f"{name} holds {shown(given)}: numbers are wanted; {WRITE}.")


def _from_text(text: str, name: str) -> Iterator[tuple[tuple[int, ...], Number]]:
    """Brackets nest, a semicolon ends a row, commas and blanks part numbers."""
    if len(text) > MOST_CHARACTERS:
        raise GlassformerError(f"{name} has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read.")
    plain = INFINITE.sub("-inf", text.replace("−", "-").replace("\u2212", "-").strip())
    plain = re.sub(r"^[=≈~]+\s*", "", plain)
    plain = re.sub(r"(?<=[\d)])\s*/\s*(?=[\d√s])", "/", plain)
    plain = re.sub(r"sqrt\((\d{1,9})\)|√\((\d{1,9})\)", lambda found: f"√{found[1] or found[2]}", plain)
    plain = re.sub(r"(?:^|(?<=[\[({,;\s]))([+-])\s+(?=[\d.√])", r"\1", plain)
    tree = _tree(plain, name)
    yield from _from_lists(tree, name)


def _tree(text: str, name: str) -> Any:
    """Nested lists of words; without brackets, one word or a list of them."""
    stack: list[list[Any]] = [[]]
    for found in TOKEN.finditer(text):
        word = found[0]
        if word in OPEN:
            if len(stack) > DEEPEST:
                raise GlassformerError(f"{name} is nested too deeply: a matrix is a list of rows.")
            stack.append([])
        elif word in CLOSE:
            if len(stack) == 1:
                raise GlassformerError(f"{name} closes a bracket that was not opened: {WRITE}.")
            done = _rows(stack.pop(), name)
            stack[-1].append(done)
        elif word == ";":
            stack[-1].append(";")
        elif not word.isspace() and word != ",":
            stack[-1].append(word)
    if len(stack) != 1:
        raise GlassformerError(f"{name} opens a bracket that is not closed: {WRITE}.")
    top = _rows(stack[0], name)
    return top[0] if len(top) == 1 else top


def _rows(items: list[Any], name: str) -> list[Any]:
    """A list with semicolons in it is a list of rows; rows that are lists already stay as they are."""
    if ";" not in items:
        return items
    rows: list[list[Any]] = [[]]
    for item in items:
        if item == ";":
            rows.append([])
        else:
            rows[-1].append(item)
    rows = [row for row in rows if row]
    if not rows:
        raise GlassformerError(f"{name} has no numbers: {WRITE}.")
    return [row[0] for row in rows] if all(len(row) == 1 and isinstance(row[0], list) for row in rows) else rows


def _number(text: str, name: str) -> Number:
    plain = text.strip().replace("−", "-")
    if plain.lower() in ("-inf", "-infinity", "-∞"):
        return Number(Fraction(10) ** 300 * -1, Fraction(0), "−∞")
    if PLAIN.fullmatch(plain):
        bare = plain.rstrip("%").rstrip(".")
        found = parse_number(bare)
        if plain.endswith("%"):
            return Number(found.value / 100, max(found.room, Fraction(1, 2)) / 100 if found.exact else found.room / 100, plain)
        return Number(found.value, found.room, bare)
    surd = parse_surd(plain)
    if surd is None:
        raise GlassformerError(f"{name} holds '{shown(text)}', which is no number: {WRITE}.")
    exact = surd.fraction if surd.fraction is not None else Fraction(float(surd))
    return Number(exact, Fraction(0), surd.text())


def _nested_text(shape: tuple[int, ...], numbers: Iterator[Number]) -> str:
    if not shape:
        return next(numbers).text.replace("-", "−")
    return "[" + ", ".join(_nested_text(shape[1:], numbers) for _ in range(shape[0])) + "]"
