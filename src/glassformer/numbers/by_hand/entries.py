"""Given numbers in all notations: lists, rows, tables by token, fractions in quotes, and matrices described by a word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.numbers.by_hand.pasted import pasted
from glassformer.numbers.by_hand.surd import Surd, parse_surd
from glassformer.program.axes import Array, Floats

MOST_NUMBERS = 4096
DEEPEST = 3  # heads, rows, numbers
LEVELS = {1: ("number",), 2: ("row", "number"), 3: ("head", "row", "number")}
SHAPED = ("pick", "identity", "diagonal", "transpose", "fill")  # matrices that are described, not written out
INFINITE = {"-inf", "−inf", "-∞", "−∞", "-infinity"}


class Entry(NamedTuple):
    """Numbers with their exact form, and the names of the rows if they were given as a table.

    `described`: a matrix given in a word, whose size follows from what it is multiplied with (of an identity, `values` may
    hold the size that was said).
    """

    values: Floats
    exact: Array
    labels: tuple[str, ...] | None = None
    described: Literal["pick", "identity", "fill"] | None = None

    @property
    def ndim(self) -> int:
        return self.values.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def turned(self) -> Entry:
        """Rows and columns exchanged; a vector stays as it is."""
        if self.ndim < 2:
            return self
        return Entry(np.swapaxes(self.values, -1, -2), np.swapaxes(self.exact, -1, -2))

    def shaped(self, shape: tuple[int, ...]) -> Entry:
        return Entry(self.values.reshape(shape), self.exact.reshape(shape), self.labels, self.described)

    def at(self, *index: Any) -> Entry:
        return Entry(np.asarray(self.values[index]), _objects(self.exact[index]), None, self.described)

    def moved(self, *axes: int) -> Entry:
        return Entry(self.values.transpose(axes), self.exact.transpose(axes), self.labels)


def read_entry(name: str, value: Any, *, mask: bool = False) -> Entry:
    """A vector, a matrix, or one matrix for each head. `mask`: truth values and −∞ are allowed too."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return _described(name, value) if set(value) & set(SHAPED) else _table(name, value, mask=mask)
    if isinstance(value, str) and value.strip().lower() in ("identity", "i", "eye"):
        return _entry(np.zeros(0), "identity")
    if isinstance(value, str) and not (mask and _infinite(value)) and parse_surd(value) is None:
        rows = pasted(name, value)
        if rows is None:
            raise GlassformerError(
                f'{name} is the text \'{shown(value)}\': expected numbers in [brackets], "1 2; 3 4", or "identity".'
            )
        value = rows
    shape = _shape(name, value)
    numbers = [_number(name, cell, where, mask=mask) for where, cell in _cells(value, shape)]
    exact = np.empty(len(numbers), dtype=object)
    exact[:] = [number if isinstance(number, Surd) else None for number in numbers]
    values = np.array([float(number) for number in numbers], dtype=np.float64)
    return Entry(values.reshape(shape), exact.reshape(shape))


def stacked(name: str, entries: list[Entry]) -> Entry:
    """One entry of several: the rows q_1, q_2, …, or the matrices of the heads."""
    shapes = [entry.shape for entry in entries]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise GlassformerError(
                f"{name} is ragged: its first part is {size_text(shapes[0])}, part {number + 1} is {size_text(shape)}. "
                "All must be of one size."
            )
    described = {entry.described for entry in entries}
    if described != {None} and described != {"pick"}:
        raise GlassformerError(f"{name}: give one matrix for all heads, or the matrix of each head.")
    values, exact = np.stack([e.values for e in entries]), np.stack([e.exact for e in entries])
    return Entry(values, exact, None, entries[0].described)


def size_text(shape: tuple[int, ...]) -> str:
    """`2 × 3`, `3 numbers`, `1 number`."""
    if len(shape) == 1:
        return f"{shape[0]} number{'' if shape[0] == 1 else 's'}"
    return " × ".join(str(size) for size in shape) or "1 number"


def chosen(indices: Array, width: int) -> Entry:
    """The matrix (width × picks) that picks coordinates, counted from 1."""
    matrix = np.zeros((*indices.shape[:-1], width, indices.shape[-1]))
    for where in np.ndindex(*indices.shape):
        matrix[(*where[:-1], int(indices[where]) - 1, where[-1])] = 1.0
    return _entry(matrix)


def whole_entry(values: Array) -> Entry:
    """Numbers that are exact as given."""
    return _entry(np.asarray(values, dtype=np.float64))


def _entry(values: Floats, described: Literal["pick", "identity", "fill"] | None = None) -> Entry:
    exact = np.empty(values.shape, dtype=object)
    for where in np.ndindex(*values.shape):
        number = float(values[where])
        exact[where] = Surd.of(Fraction(number)) if math.isfinite(number) else None
    return Entry(values, exact, None, described)


def _objects(value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return value
    single = np.empty((), dtype=object)
    single[()] = value
    return single


def _described(name: str, value: Mapping[str, Any]) -> Entry:
    """`{pick = [1, 2]}`, `{identity = 4}`, `{diagonal = [2, 1]}`, `{transpose = [[…]]}`, `{fill = 0.5}`."""
    if len(value) != 1:
        raise GlassformerError(f"{name} is described by {', '.join(map(shown, value))}: give one of {', '.join(SHAPED)}.")
    ((word, given),) = value.items()
    if word == "identity" and given is True:
        return _entry(np.zeros(0), "identity")
    inner = read_entry(f"{name}.{word}", given)
    if word == "transpose":
        return inner.turned()
    if word == "diagonal" and inner.ndim == 1:
        return _diagonal(inner)
    if word == "fill" and inner.ndim == 0:
        return inner._replace(described="fill")
    if word == "identity" and inner.ndim == 0 and inner.values >= 1 and not inner.values % 1:
        return _entry(inner.values.reshape(1), "identity")
    if word == "pick" and inner.ndim in (1, 2):
        if np.any(inner.values < 1) or np.any(inner.values % 1):
            raise GlassformerError(f"{name}.pick = {shown(given)}: coordinates are whole numbers, counted from 1.")
        return inner._replace(described="pick")
    raise GlassformerError(f"{name}.{word} = {shown(given)} is not understood: {{pick = [1, 2]}}, {{diagonal = [2, 1]}}.")


def _diagonal(vector: Entry) -> Entry:
    matrix = whole_entry(np.diag(vector.values))
    for number, value in enumerate(vector.exact):
        matrix.exact[number, number] = value
    return matrix


def _table(name: str, value: Mapping[str, Any], *, mask: bool) -> Entry:
    """Rows by the names of their tokens, in the order written."""
    if not value:
        raise GlassformerError(f"{name} is empty: give its rows.")
    rows = {}
    for label, row in value.items():
        if isinstance(row, str | bool | Mapping) and not (isinstance(row, str) and parse_surd(row)):
            raise GlassformerError(
                f"{name}.{shown(label)} is not a row of numbers. In TOML, plain keys must be above the first [table]; "
                f"those below it belong to the table.{nearest(label, SHAPED)}"
            )
        rows[label] = read_entry(f"{name}.{shown(label)}", row, mask=mask)
    if sum(row.values.size for row in rows.values()) > MOST_NUMBERS:
        raise GlassformerError(f"{name} is too large: a matrix worked by hand has at most {MOST_NUMBERS:,} numbers.")
    first_label, first = next(iter(rows.items()))
    for label, row in rows.items():
        if row.shape != first.shape:
            raise GlassformerError(
                f"{name} is ragged: {shown(first_label)} has {size_text(first.shape)}, "
                f"{shown(label)} has {size_text(row.shape)}. Every row needs the same."
            )
    whole = stacked(name, list(rows.values()))
    return whole._replace(labels=tuple(shown(label, limit=30) for label in value))


def _shape(name: str, value: Any, depth: int = 0) -> tuple[int, ...]:
    """The shape of nested lists, every row checked against the first."""
    if not isinstance(value, list | tuple):
        return ()
    if depth == DEEPEST:
        raise GlassformerError(f"{name} is nested too deeply: a matrix is a list of rows, and several heads a list of matrices.")
    if not value:
        raise GlassformerError(f"{name} is empty: give its numbers.")
    if len(value) > MOST_NUMBERS:
        raise GlassformerError(f"{name} has {len(value):,} rows: a matrix worked by hand has at most {MOST_NUMBERS:,} numbers.")
    shapes = [_shape(name, item, depth + 1) for item in value]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise GlassformerError(
                f"{name} is ragged: its first row has {size_text(shapes[0])}, row {number + 1} has {size_text(shape)}. "
                "Every row needs the same."
            )
    whole = (len(value), *shapes[0])
    if math.prod(whole) > MOST_NUMBERS:
        raise GlassformerError(
            f"{name} has {math.prod(whole):,} numbers: a matrix worked by hand has at most {MOST_NUMBERS:,}. "
            "A model of that size is a spec: see 'glassformer count'."
        )
    return whole


def _cells(value: Any, shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    for where in np.ndindex(*shape):
        cell = value
        for index in where:
            cell = cell[index]
        yield where, cell


def place(name: str, where: tuple[int, ...]) -> str:
    """`Q, row 1, number 2`."""
    words = LEVELS.get(len(where), ())
    return ", ".join([name, *(f"{word} {index + 1}" for word, index in zip(words, where, strict=True))])


def _infinite(text: str) -> bool:
    return text.strip().lower() in INFINITE


def _number(name: str, cell: Any, where: tuple[int, ...], *, mask: bool) -> Surd | float:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if mask:
        found = _mask_number(cell)
        if found is not None:
            return found
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        word = str(cell).lower() if isinstance(cell, bool) else shown(cell)
        raise GlassformerError(f"{place(name, where)} is {word}: expected a number.")
    if isinstance(cell, str):
        exact = parse_surd(cell)
        if exact is None or not set(cell) & set("/√q"):
            raise GlassformerError(
                f"{place(name, where)} is the text '{shown(cell)}': write numbers without quotes; "
                'only fractions and roots are quoted, as in "7/3" or "1/√2".'
            )
        return exact
    if isinstance(cell, float) and not math.isfinite(cell):
        word = "NaN" if math.isnan(cell) else "infinite"
        raise GlassformerError(f"{place(name, where)} is {word}: every number must be finite.")
    if abs(cell) > 1e15 or (cell and abs(cell) < 1e-15):
        raise GlassformerError(f"{place(name, where)} is {shown(cell, limit=24)}: sizes worked by hand go from 1e-15 to 1e15.")
    return Surd.of(Fraction(repr(cell)))


def _mask_number(cell: Any) -> Surd | float | None:
    """The entries of a mask other than numbers: booleans, −∞, and large negative numbers that mean −∞."""
    if isinstance(cell, bool):
        return Surd.of(int(cell))
    if isinstance(cell, str):
        return -math.inf if _infinite(cell) else None
    return float(cell) if isinstance(cell, int | float) and -math.inf <= cell < -1e15 else None
