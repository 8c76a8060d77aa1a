"""Whether a run overfits: the validation loss of its last weights against that of its best, by a bootstrap over rows."""

from __future__ import annotations

import numpy as np

from glassformer.checkpoints.folder import BEST
from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents import train as documents
from glassformer.lab.runs import RunsFolder, standing

LAST = "last"
PART = "validation"


def overfitting_of(runs: RunsFolder, name: str) -> documents.Overfitting:
    """The change of the mean validation loss from the best weights to the last ones, with its 95% interval."""
    from glassformer.encoding import streams
    from glassformer.encoding.evaluation import row_losses
    from glassformer.insight.ablation import changes
    from glassformer.lab.pages.train_mistakes import require_classifier
    from glassformer.training.data import load_data

    row = standing(runs, name)
    set_name = require_classifier(row, name)
    folder = runs.path(name)
    if not (folder / LAST).is_dir():
        raise GlassformerError(f"run {shown(name)} has no last weights: only runs that were trained to their end can be tested.")
    data = load_data(set_name)
    models = (streams.load_on(folder / part, device="cpu", dtype="float32", as_class=None) for part in (BEST, LAST))
    best, last = (row_losses(model, data, PART) for model in models)
    (moved,) = changes(np.stack([best, last]))
    return {
        "run": name,
        "best_epoch": row["best"]["epoch"] if row["best"] is not None else 0,
        "last_epoch": row["epoch"],
        "rows": len(best),
        "change": moved.value,
        "low": moved.low,
        "high": moved.high,
    }
