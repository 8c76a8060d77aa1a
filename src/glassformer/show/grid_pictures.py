"""The picture of grids with their labels, one below the other: an ablation, a saliency, a lens, a patching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glassformer.numbers.attention import cut
from glassformer.show.figures import Figure, drawn, new_figure
from glassformer.show.grids import label_tokens, scale_bar, signed_panel, weights_panel

CELL, WIDE_CELL, HIGH_CELL = 0.34, 0.72, 0.3  # inches; wide cells hold text
ABOVE, GAP, BAR = 1.05, 0.3, 1.3  # inches: column labels, space between grids, colour scale
LONGEST_CELL = 10
DARK = 0.6  # share of the scale above which text is white


@drawn
def grids_figure(found: Sequence[Any]) -> Figure:
    """Coloured cells, labels on both sides, and the scales; the grids are known by their fields."""
    sizes = [(_cell(grid) * len(grid.columns), max(HIGH_CELL * len(grid.rows), HIGH_CELL)) for grid in found]
    wide, high = max(width for width, _ in sizes), sum(height + ABOVE + GAP for _, height in sizes) - GAP
    figure = new_figure(wide, high)
    top = 0.0
    for grid, (width, height) in zip(found, sizes, strict=True):
        _panel(figure, grid, (top, width, height), whole=(wide, high))
        top += height + ABOVE + GAP
    return figure


def _cell(grid: Any) -> float:
    return WIDE_CELL if grid.texts is not None else float(np.clip(12 / max(len(grid.columns), 1), 0.12, CELL))


def _panel(figure: Figure, grid: Any, place: tuple[float, float, float], *, whole: tuple[float, float]) -> None:
    (top, width, height), (wide, high) = place, whole
    values = np.array(grid.values, dtype=float).reshape(len(grid.rows), len(grid.columns))
    bottom = high - top - ABOVE - height
    panel = figure.add_axes((0, bottom / high, width / wide, height / high))
    largest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    scale = (largest or 1.0) if grid.signed else 1.0
    if grid.signed:
        signed_panel(panel, values, top=scale)
    else:
        weights_panel(panel, np.nan_to_num(values))
    label_tokens(panel, grid.columns, cell=_cell(grid), y=False)
    panel.set_yticks(range(len(grid.rows)), grid.rows, fontsize=7.5)
    for row, column in np.ndindex(*values.shape) if grid.texts is not None else ():
        colour = "white" if abs(values[row, column]) > DARK * scale else "black"
        text = cut(grid.texts[row][column], LONGEST_CELL)
        panel.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour)
    bar = min(height, BAR)
    scale_bar(figure, panel, (width + 0.15, bottom + height - bar, 0.1, bar), grid.label)
    figure.text(0, (high - top) / high, grid.title, ha="left", va="top", fontsize=8.5)
