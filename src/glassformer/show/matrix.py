"""Small matrices with names of rows and columns, as text, LaTeX or HTML, side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.program import Axis, Tensor
from glassformer.program.axes import Array
from glassformer.program.formatter import Convention
from glassformer.program.matrices import as_matrix
from glassformer.show.markup import Html, escape, tags

WIDEST = 100  # characters on a line of text


@dataclass(frozen=True)
class Grid:
    """Rows of cells that are already text; `sheet` names the head, if there are several."""

    rows: Sequence[Sequence[str]]
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()
    sheet: str = ""

    def lines(self) -> list[str]:
        """Aligned text, with brackets that span the rows."""
        heads = [self.column_names] if self.column_names else []
        columns = range(len(self.rows[0]))
        widths = [max(len(row[column]) for row in (*heads, *self.rows)) for column in columns]
        margin = max((len(name) for name in self.row_names), default=-1) + 1
        lines = []
        if heads:
            lines.append(" " * (margin + 1) + _spaced(self.column_names, widths))
        for number, row in enumerate(self.rows):
            left, right = _brackets(number, len(self.rows))
            name = self.row_names[number].ljust(margin) if self.row_names else ""
            lines.append(f"{name}{left}{_spaced(row, widths)}{right}")
        return lines

    @property
    def single(self) -> str | None:
        """The only number, if there is one cell without names."""
        alone = len(self.rows) == 1 and len(self.rows[0]) == 1 and not self.row_names and not self.column_names
        return self.rows[0][0] if alone else None

    def latex(self) -> str:
        if self.single is not None:
            return latex_number(self.single)
        body = r" \\ ".join(" & ".join(latex_number(cell) for cell in row) for row in self.rows)
        return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"

    def html(self) -> Html:
        """A table whose first and last columns are the brackets: cells with borders, which are also printed."""
        if self.single is not None:
            return escape(self.single)
        tall = len(self.rows)
        lines = []
        for number, row in enumerate(self.rows):
            name = tags.th(self.row_names[number]) if self.row_names else None
            opens, closes = (tags.td(class_=side, rowspan=tall) if number == 0 else None for side in ("opens", "closes"))
            lines.append(tags.tr(name, opens, [tags.td(cell) for cell in row], closes))
        corner = [tags.th() if self.row_names else None, tags.th(class_="edge")]
        head = tags.thead(tags.tr(corner, [tags.th(name) for name in self.column_names])) if self.column_names else None
        return tags.table(head, tags.tbody(lines), class_="matrix")


def grids(
    tensor: Tensor, value: Array, text: Callable[[Any], str], labels: Mapping[str, tuple[str, ...]], convention: Convention
) -> list[Grid]:
    """A value as matrices on paper: one, or one for each head (and for whatever else has more than two axes)."""
    matrix = as_matrix(tensor, convention)
    order = [tensor.axes.index(axis) for axis in (*matrix.sheets, *matrix.rows, *matrix.columns)]
    value = np.transpose(value, order)
    rows, columns = (_size(side) for side in (matrix.rows, matrix.columns))
    found = []
    for index in np.ndindex(*(axis.size for axis in matrix.sheets)):
        page = value[index].reshape(rows, columns)
        names = [_names(side, labels) for side in (matrix.rows, matrix.columns)]
        cells = [[text(cell) for cell in row] for row in page]
        found.append(Grid(cells, names[0], names[1], _sheet(matrix.sheets, index, labels)))
    return found


def flowing(blocks: list[list[str]], indent: int = 3) -> list[str]:
    """Arrange blocks of lines side by side, as many as fit, then below."""
    rows: list[list[list[str]]] = []
    width = WIDEST
    for block in blocks:
        wide = max(map(len, block)) + 4
        if rows and width + wide <= WIDEST:
            rows[-1].append(block)
            width += wide
        else:
            rows.append([block])
            width = wide
    lines: list[str] = []
    for row in rows:
        height = max(map(len, row))
        if lines and height > 1:
            lines.append("")
        padded = [_centred(block, height) for block in row]
        lines += [" " * indent + "    ".join(parts).rstrip() for parts in zip(*padded, strict=True)]
    return lines


def _centred(block: list[str], height: int) -> list[str]:
    """A block padded to the height of its neighbours, with lines of equal length."""
    above = (height - len(block)) // 2
    lines = [*[""] * above, *block, *[""] * (height - len(block) - above)]
    return [line.ljust(max(map(len, block))) for line in lines]


def latex_number(text: str) -> str:
    """A number formatted as text, as LaTeX: `−0.5`, `1.2e−05`, `1/√2`, `−∞`."""
    text = text.replace("−", "-").replace("∞", r"\infty ")
    text = re.sub(r"√\(([^()]*)\)|√(\d+|π)", lambda found: rf"\sqrt{{{found[1] or found[2]}}}", text)
    text = re.sub(r"e([+-]?)0*(\d+)\b", lambda found: rf" \cdot 10^{{{found[1].replace('+', '')}{found[2]}}}", text)
    text = re.sub(r"\^\(([^()]*)\)", lambda found: f"^{{{found[1]}}}", text)
    text = re.sub(r"\(([a-z ]+)\)", lambda found: rf"\text{{({found[1]})}}", text)
    return text.replace("·", r"\cdot").replace("π", r"\pi ")


def _spaced(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _brackets(number: int, count: int) -> tuple[str, str]:
    if count == 1:
        return "[", "]"
    return ("⎡", "⎤") if number == 0 else ("⎣", "⎦") if number == count - 1 else ("⎢", "⎥")


def _size(axes: Sequence[Axis]) -> int:
    return int(np.prod([axis.size for axis in axes], dtype=int))


def _names(axes: Sequence[Axis], labels: Mapping[str, tuple[str, ...]]) -> Sequence[str]:
    return labels.get(axes[0].name, ()) if len(axes) == 1 else ()


def _sheet(axes: Sequence[Axis], index: tuple[int, ...], labels: Mapping[str, tuple[str, ...]]) -> str:
    words = []
    for axis, place in zip(axes, index, strict=True):
        names = labels.get(axis.name)
        words.append(names[place] if names else f"{axis.name} {place + 1}")
    return ", ".join(words)
