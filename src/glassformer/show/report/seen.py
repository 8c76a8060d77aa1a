"""The sections of a report about numbers: attention in a run of the weights, and checks of these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from glassformer.numbers.attention import Attention
from glassformer.numbers.run import Run
from glassformer.program.axes import Floats
from glassformer.show.figures import figures
from glassformer.show.grids import attention_top, is_linear
from glassformer.show.heatmaps import MOST_PANELS, heat_map, scale_bar, small_multiples, word_panel
from glassformer.show.markup import Child, Html, join, tags
from glassformer.show.report.page import Section, folded

PANELS = 24  # heads shown large
NEAR_ONE = 1e-9


class Check(NamedTuple):
    """A sentence, and whether it is true."""

    holds: bool
    text: str


def attention_section(run: Run, said: str, picture: Floats | None = None) -> Section:
    """Small panels of all layers and heads, then each layer enlarged; for an image, the attention of the class token."""
    seen = run.attention()
    texts = [text[0] for text in (run.tokens, run.target) if text]
    words = [tags.p([[tags.bdi(word), " "] for word in text[:200]]) for text in texts]
    linear = is_linear(seen.grid(seen.layers[0], seen.heads[0]))
    head = tags.p(f"{said} Each panel is one head: {seen.sides}, and each row sums to 1.")
    looked = _looked_at(seen, picture) if picture is not None else None
    top = attention_top(seen)
    few = len(seen.layers) * len(seen.heads) <= MOST_PANELS
    large = [_layer(seen, layer, top) for layer in seen.layers] if few else None
    bar = scale_bar(linear=linear, top=top)
    return Section("attention", "Attention", join(head, words, looked, bar, small_multiples(seen), large))


def _layer(seen: Attention, layer: int, top: float) -> Html:
    panels = [word_panel(seen, layer, head, label=f"head {head}", top=top) for head in seen.heads[:PANELS]]
    return folded(f"Layer {layer}, head by head", panels)


def _looked_at(seen: Attention, picture: Floats) -> Html:
    """For each head of the last layer, the weights over the patches next to the image: those of the class token, or the mean."""
    spec, layer = seen.run.program.spec, seen.layers[-1]
    before = spec.class_tokens + spec.registers
    grey = picture.mean(axis=0)
    shades = [("the image", (grey - grey.min()) / (float(np.ptp(grey)) or 1.0))]
    for head in seen.heads[:PANELS]:
        rows = seen.grid(layer, head)
        weights = (rows[0] if spec.class_tokens else rows.mean(axis=0))[before:]
        patches = (weights / (weights.max() or 1.0)).reshape(spec.patch_grid)
        shades.append((f"head {head}, up to {figures(float(weights.max()), 2)}", patches))
    pictures = [tags.figure(heat_map(shade, name, size=112), tags.figcaption(name)) for name, shade in shades]
    who = "the class token looks at" if spec.class_tokens else "the patches look at, on average,"
    return join(tags.p(f"What {who} in layer {layer}, patch by patch:"), tags.div(pictures, class_="pictures"))


def run_checks(run: Run) -> Iterator[Check]:
    """Check statements that must hold for any run on this one."""
    off = 0.0
    for name in (step.name for step in run.program.steps if step.role == "weights"):
        if name in run:
            off = max(off, float(np.abs(run[name].sum(axis=-1) - 1).max(initial=0.0)))
    yield Check(off < NEAR_ONE, f"Every row of attention weights sums to 1 (largest error {off:.1e}).")
    last = run.program.spec.layers - 1
    tried = [f"layers.{last}.ffn.out", f"layers.{last}.attention.mix", run.program.output.name]
    name = next(name for name in tried if name in run)
    opened = run.explain(name, **dict.fromkeys([axis.name for axis in run.tensor(name).axes], 0))
    apart = abs(opened.evaluated - opened.value) / max(1.0, abs(opened.value))
    said = f"{opened.label} = {opened.value:.6g}, recomputed from the {len(opened.refs)} numbers that it depends on"
    yield Check(apart < NEAR_ONE, f"{said} (difference {apart:.1e}).")


def checks_section(checks: Sequence[Check], more: Child = None) -> Section:
    """Return the list of checks."""
    items = [tags.li(tags.b("✓" if one.holds else "✗"), one.text) for one in checks]
    return Section("checks", "Checks", join(tags.ul(items, class_="checks"), more))
