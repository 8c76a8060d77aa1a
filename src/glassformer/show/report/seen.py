"""What a report shows of numbers: who attends to whom in a run of the weights, and what holds of these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from glassformer.numbers.attention import Attention
from glassformer.numbers.run import Run
from glassformer.program.axes import Floats
from glassformer.show.figures import figures
from glassformer.show.grids import attention_top, is_linear
from glassformer.show.heatmaps import MOST_PANELS, heat_map, scale_bar, small_multiples, word_panel
from glassformer.show.report.page import Section, paragraph

PANELS = 24  # heads shown large
NEAR_ONE = 1e-9


class Check(NamedTuple):
    """A sentence, and whether it is true."""

    holds: bool
    text: str


def attention_section(run: Run, said: str, picture: Floats | None = None) -> Section:
    """Small multiples of all layers and heads, then each layer large; of an image, what the class token looks at."""
    seen = run.attention()
    words = f"<p>{' '.join(f'<bdi>{escape(word)}</bdi>' for word in seen.words[:200])}</p>" if run.tokens else ""
    linear = is_linear(seen.grid(seen.layers[0], seen.heads[0]))
    head = paragraph(f"{said} Each panel is one head: rows are queries, columns are keys, and each row sums to 1.")
    looked = _looked_at(seen, picture) if picture is not None else ""
    top = attention_top(seen)
    few = len(seen.layers) * len(seen.heads) <= MOST_PANELS
    large = "".join(_layer(seen, layer, top) for layer in seen.layers) if few else ""
    bar = scale_bar(linear=linear, top=top)
    return Section("attention", "Attention", f"{head}{words}{looked}{bar}{small_multiples(seen)}{large}")


def _layer(seen: Attention, layer: int, top: float) -> str:
    panels = "".join(word_panel(seen, layer, head, label=f"head {head}", top=top) for head in seen.heads[:PANELS])
    return f"<details><summary>Layer {layer}, head by head</summary>{panels}</details>"


def _looked_at(seen: Attention, picture: Floats) -> str:
    """For each head of the last layer, the weights over the patches beside the image: of the class token, or the mean."""
    spec, layer = seen.run.program.spec, seen.layers[-1]
    before = spec.class_tokens + spec.registers
    grey = picture.mean(axis=0)
    span = float(np.ptp(grey)) or 1.0
    image = heat_map((grey - grey.min()) / span, "the image", size=112)
    pictures = [f"<figure>{image}<figcaption>the image</figcaption></figure>"]
    for head in seen.heads[:PANELS]:
        rows = seen.grid(layer, head)
        weights = (rows[0] if spec.class_tokens else rows.mean(axis=0))[before:]
        patches = (weights / (weights.max() or 1.0)).reshape(spec.patch_grid)
        name = f"head {head}, up to {figures(float(weights.max()), 2)}"
        pictures.append(f"<figure>{heat_map(patches, name, size=112)}<figcaption>{escape(name)}</figcaption></figure>")
    who = "the class token looks at" if spec.class_tokens else "the patches look at, on average,"
    return f'<p>What {who} in layer {layer}, patch by patch:</p><div class="pictures">{"".join(pictures)}</div>'


def run_checks(run: Run) -> Iterator[Check]:
    """What must be true of any run, tried on this one."""
    off = 0.0
    for name in (step.name for step in run.program.steps if step.name.endswith(".attention.weights")):
        if name in run:
            off = max(off, float(np.abs(run[name].sum(axis=-1) - 1).max(initial=0.0)))
    yield Check(off < NEAR_ONE, f"Every row of attention weights sums to 1 (off by {off:.1e} at most).")
    last = run.program.spec.layers - 1
    tried = [f"layers.{last}.ffn.out", f"layers.{last}.attention.mix", run.program.output.name]
    name = next(name for name in tried if name in run)
    opened = run.explain(name, **dict.fromkeys([axis.name for axis in run.tensor(name).axes], 0))
    apart = abs(opened.evaluated - opened.value) / max(1.0, abs(opened.value))
    said = f"{opened.label} = {opened.value:.6g}, worked out again from the {len(opened.refs)} numbers that it was made of"
    yield Check(apart < NEAR_ONE, f"{said} (apart by {apart:.1e}).")


def checks_section(checks: Sequence[Check], more: str = "") -> Section:
    """A list of what was tried."""
    items = "".join(f"<li><b>{'✓' if one.holds else '✗'}</b>{escape(one.text)}</li>" for one in checks)
    return Section("checks", "Checks", f"<ul class=checks>{items}</ul>{more}")
