"""What a run gets wrong: its test rows predicted, counted by label, and the most confident mistakes with what was read."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents import train as documents
from glassformer.lab.runs import RunsFolder, standing

LARGEST_PICTURE = 32  # pixels a side
LONGEST_TEXT = 300
WORST = 12
TASKS = ("classify", "image")


def mistakes_of(runs: RunsFolder, name: str) -> documents.Mistakes:
    """Evaluate a finished classifier of a built-in set on the test part, whose rows it was not trained on."""
    from glassformer.api.evaluation import evaluate
    from glassformer.training.data import load_data

    row = standing(runs, name)
    set_name = require_classifier(row, name)
    found: Any = evaluate(runs.path(name), set_name, worst=WORST)  # a classifier's, by its task
    data = load_data(set_name)
    inputs = data.part("test").inputs
    white = getattr(inputs, "white", 1)
    worst: list[documents.Mistake] = [
        {
            "row": one.row,
            "true": one.true,
            "predicted": one.predicted,
            "probability": one.probability,
            "input": row_shown(inputs[one.row - 1], data.task, white),
        }
        for one in found.mistakes
    ]
    accuracy = found.accuracy
    return {
        "run": name,
        "part": found.part,
        "rows": found.rows,
        "accuracy": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "labels": list(found.labels),
        "confusion": found.confusion,
        "task": data.task,
        "worst": worst,
    }


def require_classifier(row: documents.Row, name: str) -> str:
    """Return the data of a run; refuse one that is not finished, or whose rows the lab cannot read again."""
    from glassformer.training.data.sets import SETS

    if row["state"] != "finished":
        raise GlassformerError(f"run {shown(name)} is not finished: it is evaluated once it is.")
    set_name = row["data"]
    if row["task"] not in TASKS or set_name is None or set_name not in SETS:
        raise GlassformerError(
            f"run {shown(name)} is not a classifier of a built-in set: use 'glassformer evaluate' with the options of its data."
        )
    return set_name


def row_shown(one: Any, task: str, white: int) -> Any:
    """A row as it is shown: a text cut short, words, or an image of a few pixels with parts of 255."""
    if task == "tag":
        return list(one)[:60]
    if task != "image":
        return one if len(one) <= LONGEST_TEXT else one[:LONGEST_TEXT] + "…"
    _, height, width = one.shape
    rows, columns = (np.arange(min(side, LARGEST_PICTURE)) * side // min(side, LARGEST_PICTURE) for side in (height, width))
    small = np.moveaxis(one[:, rows][:, :, columns], 0, -1)
    return (np.repeat(small, 3, axis=-1) if small.shape[-1] == 1 else small[..., :3]) * (255.0 / white)
