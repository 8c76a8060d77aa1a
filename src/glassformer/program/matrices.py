"""The matrix of a tensor as written on paper: rows and columns, for one head or for all."""

from __future__ import annotations

import math
from typing import NamedTuple

from glassformer.program.axes import HEADS, Axis, Tensor
from glassformer.program.formatter import Convention

FEATURES = ("d_k", "d_v")  # axes within a head: the heads concatenated give one matrix
BESIDE = "kernel"  # neighbouring frames, concatenated with their features


class Matrix(NamedTuple):
    """Sheets (batch, and head if each head has its own matrix), rows and columns, each a product of axes."""

    sheets: tuple[Axis, ...]
    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns; a vector has one of the two."""
        return tuple(math.prod([axis.size for axis in side]) for side in (self.rows, self.columns) if side)

    @property
    def formula(self) -> str:
        return " × ".join("·".join(axis.name for axis in side) for side in (self.rows, self.columns) if side) or "1"

    def flipped(self) -> Matrix:
        return Matrix(self.sheets, self.columns, self.rows)


def as_matrix(tensor: Tensor, convention: Convention = "rows", *, one_head: bool = False) -> Matrix:
    """The matrix of a tensor. Rows: `X` is t × d_model and `W_Q` is d_model × d_k. Columns: both transposed."""
    axes = tensor.axes
    sheets = tuple(axis for axis in axes if axis.name == "batch")
    groups: list[tuple[Axis, ...]] = []
    for number, axis in enumerate(axes):
        if axis.name == "batch" or (axis.name in HEADS and one_head):
            continue
        if axis.name == "group":  # each group of features has its own matrix
            sheets = (*sheets, axis)
            continue
        follower = axes[number + 1].name if number + 1 < len(axes) else ""
        if axis.name in HEADS and follower not in FEATURES:
            sheets = (*sheets, axis)
        elif groups and (groups[-1][-1].name in HEADS or axis.name == BESIDE):
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    while len(groups) > 2:  # an image: leading axes are sheets
        sheets = (*sheets, *groups.pop(0))
    rows, columns = (groups[0] if len(groups) > 1 else ()), (groups[-1] if groups else ())
    matrix = Matrix(sheets, rows, columns)
    return matrix if convention == "rows" else matrix.flipped()


def product_order(left: Tensor, right: Tensor, output: Tensor, convention: Convention) -> list[tuple[int, bool]]:
    """Return the order of the operands in the matrix product that gives `output`, and which of them are transposed."""
    result = as_matrix(output, convention, one_head=True)
    views = [as_matrix(tensor, convention, one_head=True) for tensor in (left, right)]
    first = next((number for number, view in enumerate(views) if _shares(result.rows, view.rows + view.columns)), 0)
    second = 1 - first
    return [
        (first, bool(result.rows) and _shares(result.rows, views[first].columns)),
        (second, bool(result.columns) and _shares(result.columns, views[second].rows)),
    ]


def _shares(one: tuple[Axis, ...], other: tuple[Axis, ...]) -> bool:
    return any(axis.name == another.name for axis in one for another in other)
