"""A grid of numbers with labels, for pictures of ablations, patchings and logit lenses."""

from __future__ import annotations

from typing import NamedTuple


class Grid(NamedTuple):
    """Rows from top to bottom; `signed` colours from −top to top, otherwise from 0 to 1."""

    title: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]  # NaN for an empty cell
    label: str
    signed: bool = True
    texts: list[list[str]] | None = None  # the texts of the cells
