"""Grids: weights with words on both sides, and signed numbers, as one coloured panel with its scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glassformer.numbers.attention import Attention, cut
from glassformer.program.axes import Floats
from glassformer.show.colours import SEQUENTIAL, ink_on, mixed
from glassformer.show.figures import Axes, Figure, colour_map, figures

LINEAR_UP_TO = 24  # tokens; with more, colours show the square root of the weights, which are small
VALUES_UP_TO = 12  # tokens; with more, there is no room for numbers in the cells
LONGEST_LABEL = 14
SMALLEST_LABEL = 0.105  # height of a line of the smallest text, in inches


def weights_panel(axes: Axes, weights: Floats, *, top: float = 1.0) -> None:
    """Colour a grid of weights from 0 to `top`; a grid too large for the panel keeps its largest weights."""
    from matplotlib.colors import Normalize, PowerNorm

    scale = Normalize(0, top) if is_linear(weights) else PowerNorm(0.5, 0, top)
    axes.imshow(weights, cmap=colour_map("weights"), norm=scale, interpolation="none", aspect="auto")
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.5)


def is_linear(weights: Floats) -> bool:
    """Whether weights are coloured linearly; with many keys, by their square root."""
    return bool(max(weights.shape) <= LINEAR_UP_TO)


def scale_label(weights: Floats) -> str:
    """Return the label of the scale."""
    return "weight" if is_linear(weights) else "weight (coloured by its root)"


def scale_top(weights: Floats) -> float:
    """The top of the scale: 1, or a round number above the largest weight if all are small."""
    largest = float(weights.max(initial=0.0))
    return next((top for top in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if largest <= top), 1.0)


def attention_top(attention: Attention) -> float:
    """The top of one scale for all chosen heads."""
    return max(scale_top(attention.grid(layer, head)) for layer in attention.layers for head in attention.heads)


def write_values(axes: Axes, weights: Floats, *, top: float, size: float) -> None:
    """The number in each cell."""
    for row, column in np.ndindex(*weights.shape):
        colour = ink_on(mixed(SEQUENTIAL, float(weights[row, column]) / top))
        axes.text(column, row, f"{weights[row, column]:.2f}", ha="center", va="center", fontsize=size, color=colour)


def label_tokens(
    axes: Axes, words: Sequence[str], *, cell: float, x: bool = True, y: bool = True, across: Sequence[str] | None = None
) -> None:
    """Words along both sides, every n-th if the cells are smaller than a line of text; `cell` in inches.

    `across` are the words of the columns, if they differ from those of the rows.
    """
    every = int(np.ceil(SMALLEST_LABEL / cell)) if cell < SMALLEST_LABEL else 1
    size = float(np.clip(cell * 72 * 0.7, 5.5, 10))
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0, pad=2)
    if y:
        places, labels = _labels(words, every)
        axes.set_yticks(places, labels, fontsize=size)
    if x:
        places, labels = _labels(words if across is None else across, every)
        axes.set_xticks(places)
        axes.xaxis.set_ticks_position("top")
        slanted = cell >= 0.3 and max(map(len, labels), default=0) * size * 0.62 / 72 > cell
        flat = cell >= 0.3 and not slanted
        turn = 0 if flat else 45 if slanted else 90
        axes.set_xticklabels(labels, fontsize=size, rotation=turn, ha="center" if turn != 45 else "left", va="bottom")
        if turn == 45:
            for label in axes.get_xticklabels():
                label.set_rotation_mode("anchor")


def _labels(words: Sequence[str], every: int) -> tuple[list[int], list[str]]:
    """Every n-th word, with its position if some are left out."""
    places = list(range(0, len(words), every))
    return places, [cut(words[place], LONGEST_LABEL) + (f" {place}" if every > 1 else "") for place in places]


def signed_panel(axes: Axes, values: Floats, *, top: float) -> None:
    """Colour signed numbers from −top to top, white at zero."""
    axes.imshow(values, cmap=colour_map("signed"), vmin=-top, vmax=top, interpolation="none", aspect="auto")
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.5)


def scale_bar(figure: Figure, panel: Axes, place: tuple[float, float, float, float], label: str) -> None:
    """The scale of a panel, in its own axes at `place` (left, bottom, width, height in inches)."""
    width, height = figure.get_size_inches()
    left, bottom, wide, high = place
    axes = figure.add_axes((left / width, bottom / height, wide / width, high / height))
    bar = figure.colorbar(panel.images[0], cax=axes, orientation="horizontal" if wide > high else "vertical")
    bar.outline.set_linewidth(0.4)
    bar.ax.tick_params(length=2, labelsize=7)
    low, top = panel.images[0].norm.vmin, panel.images[0].norm.vmax
    if low < 0:
        ticks = [low, 0, top]
    elif type(panel.images[0].norm).__name__ == "PowerNorm":
        ticks = [0, top / 25, top / 4, top]
    else:
        ticks = [0, top / 2, top]
    bar.set_ticks(ticks, labels=[figures(tick, 3) for tick in ticks])
    bar.set_label(label, fontsize=8)


def pooled(weights: Floats, most: int) -> Floats:
    """A grid no larger than `most` on a side: each cell the largest weight of its block, so that thin lines stay."""
    for axis in (0, 1):
        block = -(-weights.shape[axis] // most)
        if block > 1:
            starts = np.arange(0, weights.shape[axis], block)
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return weights
