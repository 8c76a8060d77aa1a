"""The picture of each experiment."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from glassformer.numbers.experiments import (
    Causal,
    Convention,
    Explanation,
    Folding,
    Heads,
    Norm,
    Order,
    Padding,
    Scaling,
    TeacherForcing,
)
from glassformer.program.axes import Floats
from glassformer.show.colours import LINES
from glassformer.show.figures import Axes, Figure, drawn, figures, new_figure
from glassformer.show.grids import (
    VALUES_UP_TO,
    label_tokens,
    pooled,
    scale_bar,
    scale_label,
    scale_top,
    signed_panel,
    weights_panel,
    write_values,
)
from glassformer.show.pictures import strip_top

SHOWN_FEATURES = 64
SHOWN_HEADS = 8
SMALLEST_DIFFERENCE = 1e-17  # smaller values, and zero, are drawn at this value on a logarithmic scale


@singledispatch
def _draw(result: Any) -> Figure:
    raise TypeError(f"{type(result).__name__} has no picture")


@drawn
def experiment_figure(result: Any) -> Figure:
    """An experiment as a picture."""
    return _draw(result)


def _panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place in inches, counted from the upper left corner of the figure."""
    wide, high = figure.get_size_inches()
    return figure.add_axes((left / wide, 1 - (top + height) / high, width / wide, height / high))


def _note(figure: Figure, text: str) -> None:
    figure.text(0, -0.15 / figure.get_size_inches()[1], text, ha="left", va="top", fontsize=9)


@_draw.register
def _order(order: Order) -> Figure:
    """The outputs of the sentence, one strip per kind of position; the repeated word's rows are marked."""
    features = min(order.rows[0].outputs.shape[1], SHOWN_FEATURES)
    wide, high, gap = max(0.16 * features, 3.0), 0.2 * len(order.words), 0.45
    across = len(order.words) > VALUES_UP_TO  # tall strips are placed side by side, flat ones below one another
    count = len(order.rows)
    size = (count * (wide + gap) - gap, high) if across else (wide, count * (high + gap) - gap)
    figure = new_figure(size[0], size[1])
    top = strip_top(np.stack([row.outputs for row in order.rows]))
    for number, row in enumerate(order.rows):
        left, above = (number * (wide + gap), 0.0) if across else (0.0, number * (high + gap))
        axes = _panel(figure, left, above, wide, high)
        signed_panel(axes, row.outputs[:, :features], top=top)
        label_tokens(axes, order.words, cell=0.2, x=False, y=number == 0 or not across)
        for label, word in zip(axes.get_yticklabels(), order.words, strict=False):
            label.set_color(LINES.second if word == order.twin else LINES.ink)
            label.set_fontweight("bold" if word == order.twin else "normal")
        axes.set_title(f"position={row.position}: the two '{order.twin}' differ by {figures(row.twins)}", fontsize=9, pad=3)
    scale_bar(figure, axes, (size[0] + 0.2, size[1] - 1.2, 0.12, 1.2), "output")
    _note(figure, "rows are the tokens' outputs, columns are features")
    return figure


@_draw.register
def _heads(heads: Heads) -> Figure:
    """The weights of every head, one line per number of heads."""
    rows = [row for row in heads.rows if row.heads <= SHOWN_HEADS]
    side, gap, named = 1.05, 0.28, len(heads.words) <= VALUES_UP_TO
    top = max(scale_top(row.weights) for row in rows)
    figure = new_figure(max(row.heads for row in rows) * (side + 0.12), len(rows) * (side + gap) - gap)
    for number, row in enumerate(rows):
        for head, weights in enumerate(row.weights):
            axes = _panel(figure, head * (side + 0.12), number * (side + gap), side, side)
            weights_panel(axes, weights, top=top)
            axes.set_xticks([])
            axes.set_yticks([])
            if named:
                label_tokens(axes, heads.words, cell=side / len(heads.words), x=number == 0, y=head == 0)
            if head == 0:
                moved = "" if row.heads == 1 else f", output moved by {figures(row.moved)}"
                text = f"{row.heads} head{'s' * (row.heads > 1)} of width {row.d_k}: {row.parameters:,} parameters{moved}"
                axes.text(0, -0.04, text, transform=axes.transAxes, ha="left", va="top", fontsize=8)
    height = figure.get_size_inches()[1]
    scale_bar(figure, figure.axes[0], (side + 0.3, height - side + 0.15, 0.1, side - 0.15), scale_label(rows[0].weights[0]))
    figure.text(
        0, -0.3 / height, "the same matrices cut into more heads; rows are queries, columns are keys", va="top", fontsize=9
    )
    return figure


@_draw.register
def _scaling(scaling: Scaling) -> Figure:
    """Standard deviation, entropy and gradient against d_k, with and without the division."""
    figure = new_figure(10, 2.9, layout="constrained")
    widths = [row.d_k for row in scaling.rows]
    panels = zip(figure.subplots(1, 3), ("scores", "entropy", "gradient"), strict=True)
    titles = {
        "scores": "spread of the scores",
        "entropy": f"entropy of the weights, of {scaling.most_entropy:.3g} bits",
        "gradient": "size of ∂weights/∂scores",
    }
    for axes, what in panels:
        bare, scaled = ([getattr(getattr(row, side), what) for row in scaling.rows] for side in ("bare", "scaled"))
        axes.plot(widths, bare, color=LINES.second, marker="o", linestyle="--", label="as they are")
        axes.plot(widths, scaled, color=LINES.first, marker="s", label="divided by √d_k")
        axes.set_xscale("log", base=2)
        axes.set_xticks(widths, [str(width) for width in widths])
        axes.minorticks_off()
        axes.set_xlabel("d_k")
        axes.set_title(titles[what])
        if what == "scores":
            axes.set_yscale("log", base=2)
            axes.set_yticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
            axes.minorticks_off()
            axes.legend(loc="upper left")
        else:
            axes.set_ylim(bottom=0)
    return figure


@_draw.register
def _padding(padding: Padding) -> Figure:
    """Weights with and without the mask, and how far padding moves each real token."""
    side = float(np.clip(0.42 * len(padding.words), 2.4, 5.0))
    cell = side / len(padding.words)
    figure = new_figure(2 * side + 1.3, side + 1.9)
    top = scale_top(padding.weights)
    for number, (weights, name) in enumerate(zip(padding.weights, ("with the mask", "without"), strict=True)):
        axes = _panel(figure, number * (side + 1.3), 0, side, side)
        weights_panel(axes, weights, top=top)
        label_tokens(axes, padding.words, cell=cell)
        if len(padding.words) <= VALUES_UP_TO:
            write_values(axes, weights, top=top, size=6.5)
        axes.axvline(padding.real - 0.5, color=LINES.second, linewidth=1.2)
        axes.text(0, -0.03, f"{name}: weights of layer 0, head 0", transform=axes.transAxes, va="top", fontsize=9)
        bars = _panel(figure, number * (side + 1.3), side + 0.55, side, 1.1)
        moved = np.concatenate([padding.by_token[number], np.zeros(len(padding.words) - padding.real)])
        bars.bar(range(len(moved)), moved, color=LINES.first, width=0.7)
        bars.set_ylim(0, float(padding.by_token.max()) * 1.1)
        bars.set_xlim(-0.5, len(moved) - 0.5)
        bars.set_xticks([])
        bars.set_title("how far padding moves each real token's output", fontsize=9, pad=3)
        if padding.by_token[number].max() <= 1e-12:
            bars.text(0.02, 0.85, "not at all", transform=bars.transAxes, va="top", fontsize=9)
    scale_bar(
        figure,
        figure.axes[0],
        (2 * side + 1.5, 1.9 + side - min(side, 1.8), 0.12, min(side, 1.8)),
        scale_label(padding.weights[0]),
    )
    return figure


@_draw.register
def _norm(norm: Norm) -> Figure:
    """The steps of LayerNorm as strips, and the variance along the depth."""
    wide, high, gap = 5.0, 0.75, 0.36
    figure = new_figure(wide + 5.4, 4 * (high + gap) - gap)
    for number, step in enumerate(norm.steps):
        axes = _panel(figure, 0, number * (high + gap), wide, high)
        signed_panel(axes, step.values[:12, :SHOWN_FEATURES], top=strip_top(step.values))
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(f"{step.step}: mean {figures(step.mean)}, variance {figures(step.variance)}", fontsize=9, pad=3)
        height = figure.get_size_inches()[1]
        scale_bar(figure, axes, (wide + 0.1, height - number * (high + gap) - high, 0.1, high), "")
    depth = _panel(figure, wide + 1.3, 0.1, 4.0, 4 * (high + gap) - gap - 0.55)
    layers = [row.layer for row in norm.depth]
    depth.plot(layers, [row.pre for row in norm.depth], color=LINES.second, linestyle="--", marker="o", markersize=3)
    depth.plot(layers, [row.post for row in norm.depth], color=LINES.first, marker="s", markersize=3)
    depth.annotate("pre", (layers[-1], norm.depth[-1].pre), (5, 0), textcoords="offset points", color=LINES.second, va="center")
    depth.annotate("post", (layers[-1], norm.depth[-1].post), (5, 0), textcoords="offset points", color=LINES.first, va="center")
    depth.set_xlabel("layer")
    depth.set_xticks(_ticks(len(layers)))
    depth.set_ylim(bottom=0)
    depth.set_title("variance of the layer outputs", fontsize=9, pad=3)
    _note(figure, "rows are tokens, columns are features")
    return figure


def _ticks(count: int) -> list[int]:
    step = max(1, round(count / 6))
    return [1, *range(step, count + 1, step)] if step > 1 else list(range(1, count + 1))


@_draw.register
def _convention(convention: Convention) -> Figure:
    """The correct weights with their words, and those of the wrong convention, feature by feature."""
    side = 3.4
    figure = new_figure(2 * side + 1.9, side)
    left, right = (_panel(figure, place, 0, side, side) for place in (0, side + 1.9))
    weights_panel(left, convention.right, top=1.0)
    label_tokens(left, convention.words, cell=side / len(convention.words))
    if len(convention.words) <= VALUES_UP_TO:
        write_values(left, convention.right, top=1.0, size=8)
    mixed: Floats = pooled(convention.mixed, 256)
    weights_panel(right, mixed, top=scale_top(mixed))
    ticks = np.linspace(0, len(mixed) - 1, 4)
    names = [str(round(tick * (len(convention.mixed) - 1) / max(len(mixed) - 1, 1))) for tick in ticks]
    right.set_xticks(ticks, names, fontsize=8)
    right.set_yticks(ticks, names, fontsize=8)
    right.xaxis.set_ticks_position("top")
    for axes, weights, what in (
        (left, convention.right, "tokens attend to tokens"),
        (right, convention.mixed, "features attend to features"),
    ):
        axes.text(0, -0.03, f"{len(weights)} × {len(weights)}: {what}", transform=axes.transAxes, va="top", fontsize=9)
    scale_bar(figure, left, (side + 0.2, 0.6, 0.12, side - 0.6), scale_label(convention.right))
    scale_bar(figure, right, (2 * side + 2.1, 0.6, 0.12, side - 0.6), scale_label(mixed))
    return figure


@_draw.register
def _causal(causal: Causal) -> Figure:
    """For each replaced word (down) and each output (across), how far it moves: with the mask and without."""
    count = len(causal.words)
    side = float(np.clip(0.42 * count, 2.4, 5.0))
    figure = new_figure(2 * side + 1.3, side)
    top = float(causal.moved.max())
    for number, (moved, name) in enumerate(zip(causal.moved, ("with the causal mask", "without"), strict=True)):
        axes = _panel(figure, number * (side + 1.3), 0, side, side)
        weights_panel(axes, moved, top=top)
        label_tokens(axes, causal.words, cell=side / count)
        if count <= VALUES_UP_TO:
            write_values(axes, moved, top=top, size=6.5)
        axes.text(0, -0.03, f"{name}: change of each output", transform=axes.transAxes, va="top", fontsize=9)
    scale_bar(figure, figure.axes[0], (2 * side + 1.5, side - 1.6, 0.12, 1.6), "change")
    figure.text(0, -0.3 / side, "rows are replaced words, columns are outputs", ha="left", va="top", fontsize=9)
    return figure


@_draw.register
def _teacher_forcing(found: TeacherForcing) -> Figure:
    """For each step, how far its logits are from those of one pass over the target: with the cache and without."""
    figure = new_figure(max(0.9 * len(found.rows), 4.0), 2.6)
    axes = _panel(figure, 0, 0, *figure.get_size_inches())
    places = np.arange(len(found.rows))
    pairs = (
        ([row.cached for row in found.rows], "with the cache", LINES.first),
        ([row.forgetful for row in found.rows], "without", LINES.second),
    )
    for number, (values, name, colour) in enumerate(pairs):
        heights = np.maximum(values, SMALLEST_DIFFERENCE)
        axes.bar(places + 0.4 * number - 0.2, heights, 0.38, bottom=0, color=colour, label=name)
    axes.set_yscale("log")
    axes.set_ylim(SMALLEST_DIFFERENCE, 100)
    axes.set_yticks([1e-16, 1e-12, 1e-8, 1e-4, 1], ["1e−16", "1e−12", "1e−8", "1e−4", "1"])
    axes.minorticks_off()
    axes.set_xticks(places, [f"{row.read} → {row.next}" for row in found.rows], fontsize=8)
    axes.set_title("largest difference between one pass over the target and one step at a time", fontsize=9)
    axes.legend(loc="upper left", fontsize=8)
    return figure


@_draw.register
def _explanation(found: Explanation) -> Figure:
    """The weights of head 0 in both models."""
    count = len(found.words)
    side = float(np.clip(0.42 * count, 2.4, 5.0))
    figure = new_figure(2 * side + 1.3, side)
    grids = found.weights[:, 0]
    for number, (weights, name) in enumerate(zip(grids, ("the model", "another one with the same outputs"), strict=True)):
        axes = _panel(figure, number * (side + 1.3), 0, side, side)
        weights_panel(axes, weights, top=scale_top(grids))
        label_tokens(axes, found.words, cell=side / count)
        if count <= VALUES_UP_TO:
            write_values(axes, weights, top=scale_top(grids), size=6.5)
        axes.text(0, -0.03, f"{name}: weights of head 0", transform=axes.transAxes, va="top", fontsize=9)
    scale_bar(figure, figure.axes[0], (2 * side + 1.5, side - min(side, 1.8), 0.12, min(side, 1.8)), scale_label(grids[0]))
    figure.text(0, -0.3 / side, "rows are queries, columns are keys", ha="left", va="top", fontsize=9)
    return figure


@_draw.register
def _folding(found: Folding) -> Figure:
    """The difference between the folded and the original model after each layer, on a logarithmic scale."""
    figure = new_figure(5.0, 2.8, layout="constrained")
    axes = figure.subplots()
    layers = [row.layer for row in found.rows]
    for values, name, colour, marker in (
        ([row.post for row in found.rows], "post", LINES.second, "o"),
        ([row.pre for row in found.rows], "pre", LINES.first, "s"),
    ):
        axes.plot(layers, np.maximum(values, SMALLEST_DIFFERENCE), color=colour, marker=marker, label=name)
    axes.set_yscale("log")
    axes.set_ylim(SMALLEST_DIFFERENCE, 100)
    axes.set_yticks([1e-16, 1e-12, 1e-8, 1e-4, 1], ["1e−16", "1e−12", "1e−8", "1e−4", "1"])
    axes.minorticks_off()
    axes.set_xticks(_ticks(len(layers)))
    axes.set_xlabel("layer")
    axes.set_title("largest difference after folding γ and β", fontsize=9)
    axes.legend(loc="center right", fontsize=8)
    return figure
