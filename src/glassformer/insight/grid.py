"""A grid of numbers with its labels: what a picture of an ablation, a patching or a lens shows."""

from __future__ import annotations

from typing import NamedTuple


class Grid(NamedTuple):
    """Rows from top to bottom; `signed` colours from −top to top, otherwise from 0 to 1."""

    title: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]  # NaN where there is no number
    label: str
    signed: bool = True
    texts: list[list[str]] | None = None  # what stands in the cells
