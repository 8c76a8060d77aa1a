"""Pictures of a ledger: a waterfall from 0 to the number, and a map of layers and positions."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from glassformer.numbers.attention import cut
from glassformer.numbers.contributions.ledger import Contributions
from glassformer.program.axes import Floats
from glassformer.show.colours import LINES
from glassformer.show.contributions import order, sums
from glassformer.show.figures import Axes, Figure, drawn, figures, new_figure
from glassformer.show.grids import label_tokens, scale_bar, signed_panel

BAR = 0.2  # inches
WIDE = 4.2
MOST_BARS = 40
MOST_POSITIONS = 64


@drawn
def contributions_figure(found: Contributions) -> Figure:
    """The waterfall on the left; on the right, contributions by layer and source position."""
    bars = waterfall(found)
    layers, grid, words = layer_map(found)
    cell = float(np.clip(9.0 / max(grid.shape[1], 1), 0.12, 0.34))
    high = max(BAR * len(bars), 1.6)
    wide = cell * grid.shape[1]
    figure = new_figure(WIDE + 1.2 + wide, high)
    total = figure.get_size_inches()[0]
    _waterfall(figure.add_axes((0, 0, WIDE / total, 1)), bars, found)
    tall = min(cell * len(layers), high)
    panel = figure.add_axes(((WIDE + 1.2) / total, 1 - tall / high, wide / total, tall / high))
    top = float(np.abs(grid).max(initial=0.0)) or 1.0
    signed_panel(panel, grid, top=top)
    label_tokens(panel, words, cell=cell, y=False)
    panel.set_yticks(range(len(layers)), layers, fontsize=7)
    scale_bar(figure, panel, (total + 0.15, high - min(tall, 1.2), 0.1, min(tall, 1.2)), "contribution")
    return figure


def waterfall(found: Contributions) -> list[tuple[str, float]]:
    """Sums by part and layer, in the order of the steps; small ones of a long list are summed up."""
    bars = sums(found)
    if len(bars) <= MOST_BARS:
        return bars
    kept = sorted(range(len(bars)), key=lambda i: -abs(bars[i][1]))[: MOST_BARS - 1]
    rest = sum(value for i, (_, value) in enumerate(bars) if i not in kept)
    return [*(bars[i] for i in sorted(kept)), (f"{len(bars) - len(kept)} smaller ones", rest)]


def layer_map(found: Contributions) -> tuple[list[str], Floats, list[str]]:
    """Rows (embeddings, then each layer), their contributions by source position, and the words of the positions."""
    named = found.by("stack", "layer", "batch", "target", "position")
    cells = {(key[:2], key[2:]): value for key, value in named.items() if key[-1] is not None}
    columns = sorted({column for _, column in cells})[:MOST_POSITIONS]
    rows = sorted({row for row, _ in cells}, key=lambda row: order(*row))
    grid = np.array([[cells.get((row, column), 0.0) for column in columns] for row in rows]).reshape(len(rows), len(columns))
    names = [f"{stack} {'embeddings' if layer is None else f'layer {layer}'}".strip() for stack, layer in rows]
    return names, grid, [found.word(place, batch, target=target) or str(place) for batch, target, place in columns]


def _waterfall(axes: Axes, bars: list[tuple[str, float]], found: Contributions) -> None:
    ends = list(accumulate((value for _, value in bars), initial=0.0))
    for row, ((_, value), (start, _)) in enumerate(zip(bars, pairwise(ends), strict=True)):
        axes.barh(row, value, left=start, height=0.7, color=LINES.second if value > 0 else LINES.first)
        axes.plot([start + value] * 2, [row - 0.35, row + 1.35], color=LINES.quiet, linewidth=0.5)
    axes.barh(len(bars), found.value, height=0.7, color=LINES.quiet)
    labels = [f"{cut(name, 28)}  {figures(value, 3)}" for name, value in bars]
    axes.set_yticks(range(len(bars) + 1), [*labels, f"{cut(found.label, 40)}  {figures(found.value, 4)}"], fontsize=7)
    axes.set_ylim(len(bars) + 0.6, -0.6)
    axes.axvline(0, color=LINES.quiet, linewidth=0.6)
    axes.tick_params(axis="x", labelsize=7)
