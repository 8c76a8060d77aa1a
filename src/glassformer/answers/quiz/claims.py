"""Parses students' answers in all usual notations: 27648, 27,648, 2.7648e4, 64x32, [64, 32], 1/√2."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from glassformer.expressions import Array, Evaluator, Figure, Figures, NotUnderstoodError, Reading

from glassformer.expressions import fold, parse, readings, tokens, written  # isort: skip
from glassformer.expressions.precision import as_array
from glassformer.expressions.scanner import Token

MOST_CHARACTERS = 2_000
MOST_CELLS = 256
MOST_ROWS = 64
MOST_SIZES = 8
LONGEST_SHAPE = 400

_LAST_POINT = re.compile(r"(?<=\d)\.(?=[\s,;\])}&]|$)")  # `[1., 2.]`, as arrays are printed
_GAP = re.compile(r"(?<=[\d\])])[^\S\n]+(?=[-+]?[\d.\[(])")  # a space between two numbers, or between two rows
_SIZE_WORDS = re.compile(r"\*\*|[0-9][0-9_]*|torch\.Size|\\[a-z]+|[^\W\d_]+|\S")
_SILENT = frozenset("[ ] ( ) { } ^ , ; × x X * · by R ℝ shape torch.Size \\times \\mathbb \\cdot size is of".split())


@dataclass(frozen=True)
class Cells:
    """A number, a vector or a matrix as written: its shape, and its numbers in row-major order."""

    shape: tuple[int, ...]
    figures: tuple[Figure, ...]

    @property
    def values(self) -> list[float]:
        return [_float(figure.value) for figure in self.figures]


def allows(figure: Figure, value: Fraction | float) -> bool:
    """Return whether a number is the value, rounded or truncated after its last digit."""
    if not math.isfinite(value):
        return False
    gap = abs(figure.value - Fraction(value))
    return gap <= figure.unit / 2 or (gap < figure.unit and abs(figure.value) < abs(Fraction(value)))


def numbers(text: str) -> list[Figure]:
    """Return the numbers that the text can mean, most likely first; empty if it is not a number."""
    return [cells.figures[0] for cells in grids(text) if not cells.shape]


def grids(text: str) -> list[Cells]:
    """Return the numbers, vectors or matrices that the text can mean, most likely first."""
    return list(dict.fromkeys(cells for form in _forms(text) for cells in _read(form)))


def shapes(text: str) -> list[tuple[int, ...]]:
    """Return the shape that the text means, if any: `64 x 32`, `[1, 5, 768]`, `torch.Size([1, 5])`, `R^{64×32}`, `(512,)`."""
    if len(text) > LONGEST_SHAPE:
        return []
    plain = _plain(text).rpartition("=")[2]
    if any(sign in plain for sign in "x×*"):
        plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain)  # 30,522 x 768
    words = _SIZE_WORDS.findall(plain)
    sizes = [int(word.replace("_", "")[:18]) for word in words if word[0].isdecimal() and word.isascii()]
    others = [word for word in words if not word[0].isdecimal() and word not in _SILENT]
    return [tuple(sizes)] if 0 < len(sizes) <= MOST_SIZES and not others else []


def _plain(text: str) -> str:
    """Return an answer without surrounding Markdown and LaTeX markup and without the final full stop."""
    text = text.strip().rstrip(".;").strip()
    if text.startswith("**") and text.endswith("**"):
        text = text[2:-2]
    return text.replace("`", "").replace("$", "").replace("\\left", "").replace("\\right", "").replace("−", "-").strip()


def _forms(text: str) -> Iterator[str]:
    """Yield the text as written, then as a list or a matrix with missing brackets or commas."""
    if len(text) > MOST_CHARACTERS:
        return
    plain = _LAST_POINT.sub("", _plain(text))
    plain = re.split(r"[=≈]", plain)[-1].strip()  # in `3 · 64 · 64 = 12,288`, the claim is the result
    rows = [row.strip().strip(",") for row in plain.splitlines() if row.strip()]
    if not rows or len(rows) > MOST_ROWS:
        return
    if len(rows) == 1 or "\\begin" in plain:
        yield plain
        spaced = _GAP.sub(", ", plain)
        yield from (f"[{plain}]", spaced, f"[{spaced}]") if "\\begin" not in plain else ()
    else:
        spaced_rows = [_GAP.sub(", ", row) for row in rows]
        bracketed = [row if row.startswith(("[", "(")) else f"[{row}]" for row in spaced_rows]
        yield from (_GAP.sub(", ", " ".join(rows)), f"[{', '.join(bracketed)}]")


def _read(text: str) -> Iterator[Cells]:
    """Yield the values of one form, under each reading of its signs."""
    try:
        found = tokens(text)
    except NotUnderstoodError:
        return
    for reading in readings(found):
        try:
            cells = _cells(found, reading)
        except NotUnderstoodError:
            continue
        if cells is not None and len(cells.figures) <= MOST_CELLS:
            yield cells


def _cells(found: list[Token], reading: Reading) -> Cells | None:
    tree = parse(fold(found), reading).tree
    said = written(tree, reading)
    if isinstance(said, Figure):
        return Cells((), (said,))
    if isinstance(said, Figures):
        return Cells(as_array(said).shape, said.cells)
    value = Evaluator(reading, {}).value(tree)  # an unevaluated expression: `3·64·16 + 64²`, `1/√2`
    shape, cells = (value.shape, value.cells) if isinstance(value, Array) else ((), (value,))
    return Cells(shape, tuple(Figure(cell.middle, Fraction(0)) for cell in cells))


def _float(value: Fraction) -> float:
    """Return a number as a float, or infinity if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
