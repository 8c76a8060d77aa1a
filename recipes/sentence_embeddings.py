"""A small encoder is trained from scratch to match French with English sentences; retrieval before and after.

python recipes/sentence_embeddings.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from recipe import Recipe, main

import glassformer as gf
from glassformer.show.curves import curves_figure, read_curve
from glassformer.training.data import load_data
from glassformer.training.data.dataset import PARTS
from glassformer.training.runs import Run
from glassformer.training.starting import first_weights

NAME, COLUMNS = "translation-en-fr", "en,fr"
SMALL: dict[str, Any] = {"fields": {"d_model": 64, "layers": 1}, "epochs": 4, "batch_size": 64, "lr": 3e-3, "max_length": 24}
WHOLE: dict[str, Any] = {"fields": {"layers": 1}, "epochs": 4, "batch_size": 64, "lr": 2e-3, "max_length": 24}


def pairs(into: Path, most: int | None) -> dict[str, int]:
    """Write the first pairs of each part of the built-in set, without their attributions."""
    into.mkdir()
    rows = {}
    for part in PARTS:
        data = load_data(NAME).part(part)
        kept = list(zip(data.inputs, data.targets or (), strict=True))[:most]
        lines = [json.dumps(dict(zip(COLUMNS.split(","), pair, strict=True)), ensure_ascii=False) for pair in kept]
        (into / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rows[part] = len(kept)
    return rows


def found(model: Path, data: Path) -> dict[str, Any]:
    """MRR@10 and recall on the test rows."""
    return {name: one.to_dict() for name, one in gf.evaluate(model, data, text=COLUMNS, task="embed").figures.items()}


def cook(recipe: Recipe) -> dict[str, Any]:
    data = recipe.fresh("pairs")
    rows = pairs(data, 4000 if recipe.small else None)
    recipe.say(f"{rows['train']:,} pairs to train on, {rows['test']:,} to test")
    how = SMALL if recipe.small else WHOLE
    reading = {"text": COLUMNS, "task": "embed", "seed": recipe.seed, "threads": 1}
    trained = gf.train(data, **how, **reading, out=recipe.fresh("run"), progress=False)
    after = found(trained.folder, data)
    before = found(untrained(recipe, trained.folder), data)
    cells = [
        [name, f"{before[name]['value']:.3f}", interval(before[name]), f"{after[name]['value']:.3f}", interval(after[name])]
        for name in after
    ]
    recipe.table(f"test rows: {rows['test']:,}", ("", "random weights", "95% interval", "trained", "95% interval"), cells)
    recipe.picture(curves_figure([read_curve(trained.folder)]))
    gain = after["MRR@10"]["value"] - before["MRR@10"]["value"]
    recipe.band("MRR@10, trained", after["MRR@10"]["value"], 0.35 if recipe.small else 0.5)
    recipe.band("MRR@10, gained by training", gain, 0.3 if recipe.small else 0.4)
    return {"rows": rows, "before": before, "after": after, "epochs": trained.best_epoch}


def untrained(recipe: Recipe, run: Path) -> Path:
    """The encoder and the tokenizer of a run with random weights: its vectors are nearly those of a bag of words."""
    source = Run.open(run)
    torch.manual_seed(recipe.seed)
    folder = recipe.fresh("untrained")
    start = Run.create(
        folder, source.spec, source.settings, source.tokenizer, load_data(**source.about["data"]["source"]), source={"what": ""}
    )
    start.export("best", first_weights(folder, source.spec, torch.device("cpu")), ())
    return folder


def interval(one: dict[str, float]) -> str:
    return f"{one['low']:.3f} – {one['high']:.3f}"


if __name__ == "__main__":
    main("sentence_embeddings", __doc__, cook)
