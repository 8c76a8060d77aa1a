"""Pictures of a run: attention weights of one head or of all heads, and LayerNorm step by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.attention import Attention
from glassformer.numbers.run import Run
from glassformer.program.axes import Floats
from glassformer.show.figures import Axes, Figure, drawn, figures, new_figure, save_picture
from glassformer.show.grids import (
    VALUES_UP_TO,
    attention_top,
    label_tokens,
    pooled,
    scale_bar,
    scale_label,
    scale_top,
    signed_panel,
    weights_panel,
    write_values,
)

WIDEST = 11.0  # inches
LABELS_IN_PANELS = 20  # tokens of a small panel that still get words
OVERVIEW_CELLS = 64  # largest width of a panel of the overview, in cells
SHOWN_TOKENS, SHOWN_FEATURES = 24, 1024  # of a LayerNorm strip


@drawn
def attention_figure(attention: Attention) -> Figure:
    """One head with its tokens, the heads of one layer, or an overview of all layers and heads."""
    if len(attention.layers) == 1 and len(attention.heads) == 1:
        return _one_head(attention)
    if len(attention.layers) == 1 or len(attention.heads) == 1:
        return _panels(attention)
    return _overview(attention)


def save_attention(attention: Attention, path: str | Path) -> Path:
    """Write attention as `.png`, `.svg` or `.html`."""
    if Path(path).suffix.lower() == ".html":
        from glassformer.show.attention_html import save_attention_html

        return save_attention_html(attention, path)
    return save_picture(attention_figure(attention), path)


def _one_head(attention: Attention) -> Figure:
    weights = attention.grid(attention.layers[0], attention.heads[0])
    top = scale_top(weights)
    rows, columns = weights.shape
    few = max(rows, columns) <= VALUES_UP_TO
    cell = float(np.clip(WIDEST / max(rows, columns), 0.0, 0.5 if few else 0.28))
    width, height = cell * columns, cell * rows
    figure = new_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1))
    weights_panel(axes, weights, top=top)
    label_tokens(axes, attention.queries, cell=cell, across=attention.keys)
    if few:
        write_values(axes, weights, top=top, size=8)
    axes.set_ylabel("target" if attention.crosses else "query")
    axes.set_xlabel("source" if attention.crosses else "key")
    axes.xaxis.set_label_position("top")
    figure.text(0, -0.1 / height, attention.label, ha="left", va="top", fontsize=9)
    scale_bar(figure, axes, (width + 0.25, max(0.0, height - 2.2), 0.14, min(height, 2.2)), scale_label(weights))
    return figure


def _panels(attention: Attention) -> Figure:
    """Small panels with one scale; tokens at the outer panels if there are few."""
    chosen = [(layer, head) for layer in attention.layers for head in attention.heads]
    grids = [attention.grid(layer, head) for layer, head in chosen]
    words, keys, top = attention.queries, attention.keys, max(scale_top(grid) for grid in grids)
    across = min(len(chosen), 4 if len(chosen) <= 12 else 6)
    down = -(-len(chosen) // across)
    longest = max(len(words), len(keys))
    named = longest <= LABELS_IN_PANELS
    side = float(np.clip(longest * 0.17, 1.3, 2.3)) if named else 1.8
    wide, high = side * len(keys) / longest, side * len(words) / longest
    gap = 0.32
    width, height = across * wide + (across - 1) * gap, down * high + (down - 1) * gap
    figure = new_figure(width, height)
    for number, ((layer, head), grid) in enumerate(zip(chosen, grids, strict=True)):
        row, column = divmod(number, across)
        left, bottom = column * (wide + gap), height - (row + 1) * high - row * gap
        axes = figure.add_axes((left / width, bottom / height, wide / width, high / height))
        weights_panel(axes, grid if named else pooled(grid, 256), top=top)
        axes.set_xticks([])
        axes.set_yticks([])
        if named:
            label_tokens(axes, words, cell=side / longest, x=row == 0, y=column == 0, across=keys)
        name = f"head {head}" if len(attention.layers) == 1 else f"layer {layer}"
        axes.text(0, -0.03, name, transform=axes.transAxes, ha="left", va="top", fontsize=8)
    which = f"layer {attention.layers[0]}" if len(attention.layers) == 1 else f"head {attention.heads[0]}"
    note = "" if named else f"; {attention.counted}, words in the picture of one head"
    title = f"{'cross-attention, ' * attention.crosses}{which}: {attention.sides}{note}"
    figure.text(0, -0.32 / height, title, ha="left", va="top", fontsize=9)
    scale_bar(figure, figure.axes[0], (width + 0.25, max(height - 2.0, 0.0), 0.13, min(height, 2.0)), scale_label(grids[0]))
    return figure


def _overview(attention: Attention) -> Figure:
    """All layers (down) and heads (across)."""
    layers, heads = attention.layers, attention.heads
    side = float(np.clip(WIDEST / max(len(layers), len(heads)), 0.35, 1.4))
    gap = side * 0.08
    width, height = len(heads) * (side + gap) - gap, len(layers) * (side + gap) - gap
    figure = new_figure(width, height)
    first = attention.grid(layers[0], heads[0])
    top = attention_top(attention)
    for row, layer in enumerate(layers):
        for column, head in enumerate(heads):
            left, bottom = column * (side + gap), height - row * (side + gap) - side
            axes = figure.add_axes((left / width, bottom / height, side / width, side / height))
            weights_panel(axes, pooled(attention.grid(layer, head), OVERVIEW_CELLS), top=top)
            axes.set_xticks([])
            axes.set_yticks([])
            if row == 0:
                axes.set_title(f"{'head ' if column == 0 else ''}{head}", fontsize=8, pad=3, loc="center")
            if column == 0:
                axes.set_ylabel(f"{'layer ' if row == 0 else ''}{layer}", fontsize=8, rotation=0, ha="right", va="center")
    block = -(-max(first.shape) // OVERVIEW_CELLS)
    pixel = f"; a dot is the largest of {block} × {block} weights" if block > 1 else ""
    note = f"{attention.counted}: {attention.sides}{pixel}"
    figure.text(0, -0.12 / height, note, ha="left", va="top", fontsize=9)
    scale_bar(
        figure,
        figure.axes[0],
        (width + 0.25, max(height - 2.0, 0.0), 0.13, min(height, 2.0)),
        scale_label(pooled(first, OVERVIEW_CELLS)),
    )
    return figure


@drawn
def norm_figure(run: Run, name: str = "layers.0.norm_1", *, batch: int = 0) -> Figure:
    """The steps of a norm as strips: input, centred, normalised, scaled and shifted."""
    steps = norm_steps(run, name, batch=batch)
    words = list(run.tokens[batch]) if run.tokens is not None else [str(place) for place in range(run.program.sizes.t)]
    return strips([(label, value) for label, value in steps.items()], words)


def norm_steps(run: Run, name: str, *, batch: int = 0) -> dict[str, Floats]:
    """Each step of a norm for one text: [t, features]. RMSNorm subtracts no mean."""
    step = run.program.step_of.get(f"{name}.normalised")
    if step is None:
        norms = ", ".join([each.block.name for each in run.program.steps if each.role == "normalised"][:6])
        raise GlassformerError(f"'{shown(name)}' is not a norm of this run: {norms or 'it has none'}.")
    value = run[step.inputs[0].name]
    mean = f"{name}.mean"
    found = {"x": value[batch], "x − mean": (value - run[mean][..., None])[batch] if mean in run else None}
    found |= {"normalised": run[f"{name}.normalised"][batch], "scaled and shifted": run[name][batch]}
    return {label: np.atleast_2d(values) for label, values in found.items() if values is not None}


def strips(steps: Sequence[tuple[str, Floats]], words: Sequence[str]) -> Figure:
    """Panels of signed numbers, tokens down and features across; numbers of similar size share a scale."""
    count, features = min(len(steps[0][1]), SHOWN_TOKENS), min(steps[0][1].shape[1], SHOWN_FEATURES)
    high, wide, gap = max(0.17 * count, 0.3), float(np.clip(0.12 * features, 4.0, 8.0)), 0.42
    height = len(steps) * (high + gap) - gap
    figure = new_figure(wide, height)
    for row, (label, values) in enumerate(steps):
        bottom = height - row * (high + gap) - high
        axes = figure.add_axes((0, bottom / height, 1, high / height))
        signed_panel(axes, values[:count, :features], top=strip_top(values))
        _name_rows(axes, words[:count])
        spread = f"mean {figures(values.mean())}, variance {figures(values.var(axis=-1).mean())}"
        axes.set_title(f"{label}:  {spread}", fontsize=9, pad=3)
        scale_bar(figure, axes, (wide + 0.2, bottom, 0.11, max(high, 0.5)), "")
    left_out = len(steps[0][1]) - count, steps[0][1].shape[1] - features
    cut = "".join(f"; {n} more {what} not shown" for n, what in zip(left_out, ("tokens", "features"), strict=True) if n > 0)
    figure.text(0, -0.15 / height, f"rows are tokens, columns are features{cut}", ha="left", va="top", fontsize=9)
    return figure


def _name_rows(axes: Axes, words: Sequence[str]) -> None:
    label_tokens(axes, words, cell=0.17, x=False)
    axes.set_xticks([])


def strip_top(values: Floats) -> float:
    """Return the limit of a signed scale: a round number that few cells exceed."""
    top = float(np.percentile(np.abs(values), 99.5)) or 1.0
    power = 10.0 ** np.floor(np.log10(top))
    return float(next(step * power for step in (1, 1.5, 2, 3, 4, 5, 7.5, 10) if step * power >= top * 0.999))
