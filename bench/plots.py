"""Pictures of bench/figures/gpu.json, into docs/images: the growth of time compared with the algebra, and the share of the peak.

python bench/plots.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from gpu import BATCH, LENGTH

import glassformer as gf
from glassformer.show.palette import LIGHT

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
AXES = {"tokens": "t", "layers": "layers", "batch": "batch"}


def main() -> None:
    figures = json.loads((HERE / "figures" / "gpu.json").read_text(encoding="utf-8"))
    plt.rcParams |= {"svg.hashsalt": "glassformer", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    IMAGES.mkdir(exist_ok=True)
    growth(figures["growth"])
    ceiling(figures)


def growth(measured: dict[str, Any]) -> None:
    """Milliseconds of a forward pass over one axis each, both scales logarithmic; dashed, the time of its products alone."""
    picture, panels = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
    for panel, (over, found) in zip(panels, measured.items(), strict=True):
        sizes = [int(size) for size in found["ms"]]
        times = list(found["ms"].values())
        fixed = {name: values[0] for name, values in found["axes"].items()}
        flops = [gf.cost(found["spec"], **{**fixed, AXES[over]: size}, pooler="none").flops for size in sizes]
        panel.loglog(sizes, times, "o-", color=LIGHT.parts["embedding"], label="measured")
        panel.loglog(sizes, [times[-1] * one / flops[-1] for one in flops], "--", color=LIGHT.quiet, label="FLOPs, to scale")
        rest = ", ".join(f"{name} {value}" for name, value in fixed.items() if name != AXES[over])
        panel.set(title=f"{found['spec']}, {rest}", xlabel=over, ylabel="ms")
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        panel.minorticks_off()
        panel.tick_params(axis="x", labelsize=7)
    panels[0].legend(frameon=False)
    save(picture, "growth")


def ceiling(figures: dict[str, Any]) -> None:
    """Useful TFLOP/s of each way to train BERT-base, and of a single matrix product."""
    rows = figures["training"]
    useful = figures["useful_flops"] / (BATCH * LENGTH) * 1000 / 1e12  # TFLOP of a thousand tokens
    top = figures["ceiling"]["65536 x 768 x 3072"]["tflops"]
    names = sorted(rows, key=lambda name: rows[name]["median"])
    picture, panel = plt.subplots(figsize=(8, 2.6), layout="constrained")
    for place, name in enumerate(names):
        rate = rows[name]["median"] * useful
        colour = LIGHT.parts["attention"] if name.startswith("glassformer") else LIGHT.parts["norm"]
        panel.barh(place, rate, color=colour, height=0.6)
        panel.text(rate + 6, place, f"{rate:.0f} TFLOP/s, {rate / top:.0%}", va="center")
    panel.set_yticks(range(len(names)), names)
    panel.axvline(top, color=LIGHT.ink, linestyle="--")
    above = len(names) - 0.4
    panel.text(top, above, "one matrix product in bfloat16", ha="right", va="bottom", color=LIGHT.quiet)
    panel.set(xlim=(0, top * 1.03), xlabel="useful TFLOP/s: products that every row has to compute")
    save(picture, "ceiling")


def save(picture: Any, name: str) -> None:
    picture.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    plt.close(picture)


if __name__ == "__main__":
    main()
