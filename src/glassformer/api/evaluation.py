"""The command `evaluate` in Python: a classifier against labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import path, whole, yes_no
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import needs_torch

if TYPE_CHECKING:
    from glassformer.encoding.evaluation import Evaluation
    from glassformer.encoding.measures import Measured
    from glassformer.training.data.asked import Goal


@needs_torch
def evaluate(  # noqa: PLR0913 - one word an option of the command
    model: str | Path,
    data: str | Path,
    *,
    part: str = "test",
    text: str = "text",
    label: str = "label",
    resize: int | None = None,
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_bad: bool = False,
    worst: int = 10,
    batch_tokens: int | None = None,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
    task: Goal = "auto",
) -> Evaluation | Measured:
    """Evaluate a classifier on labelled data: `gf.evaluate("runs/topic-1", "topic").accuracy`.

    `model` is a model folder or a run, whose best weights are used. `part` is train, validation, test, an extra part of the data
    or `all`; the other words say how the data is read, as in `train`: with the same words, `test` holds the rows that training
    did not see. The result has accuracy and macro-F1 with 95% intervals, calibration, the confusion matrix, precision, recall and
    F1 of each label, and the `worst` mistakes: those with the highest probability. For other labels (`task`) it has `figures`:
    correlations and errors of numbers, F1 of several classes, MRR@10 and recall of embeddings.
    """
    from glassformer.encoding import streams
    from glassformer.encoding.evaluation import EVERY, evaluation
    from glassformer.encoding.measures import MEASURES, measured
    from glassformer.training.data import load_data

    model_folder(path("model", model))
    worst = whole("worst", worst, most=10_000)
    on_bad: Any = "skip" if yes_no("skip_bad", skip_bad) else "refuse"
    rows = load_data(data, text=text, label=label, resize=resize, split=split, seed=seed, on_bad=on_bad, task=task)
    if part != EVERY:
        rows.part(part)
    loaded = streams.load_on(path("model", model), device=device, dtype=dtype, as_class=as_class)
    how = measured if rows.task in MEASURES else evaluation
    return how(loaded, rows, part, worst, batch_tokens=batch_tokens)
