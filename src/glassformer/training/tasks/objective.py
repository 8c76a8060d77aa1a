"""What the training loss adds to plain cross-entropy: label smoothing and class weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from torch import Tensor
from torch.nn import functional

from glassformer.errors import GlassformerError
from glassformer.training.data.dataset import Dataset
from glassformer.training.data.masking import IGNORE
from glassformer.training.settings import Settings

UNSMOOTHED = ("regress", "similarity", "multilabel", "embed")


class Objective(NamedTuple):
    """What the training loss adds to plain cross-entropy."""

    smoothing: float = 0.0
    weights: tuple[float, ...] | None = None  # of the classes

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss, summed over the labels that are not ignored."""
        weights = None
        if self.weights is not None:  # a head may have more outputs than there are labels
            weights = functional.pad(logits.new_tensor(self.weights), (0, logits.shape[-1] - len(self.weights)), value=1.0)
        how: dict[str, Any] = {"weight": weights, "ignore_index": IGNORE, "label_smoothing": self.smoothing}
        return functional.cross_entropy(logits, labels, reduction="sum", **how)


PLAIN = Objective()


def objective_of(data: Dataset, settings: Settings) -> Objective:
    """Return the objective of the settings; validation and test use the plain loss."""
    balanced = settings.class_weights == "balanced"
    if balanced and data.form.targets not in ("class", "tags"):
        has = "several of them for a row" if data.form.targets == "classes" else "none"
        raise GlassformerError(f"class_weights=balanced needs classes, but the task {data.task} has {has}: leave it out.")
    if settings.label_smoothing and data.task in UNSMOOTHED:
        raise GlassformerError(
            f"label_smoothing={settings.label_smoothing:g} is for a cross-entropy over classes; the task {data.task} has none: "
            "leave it out."
        )
    return Objective(settings.label_smoothing, balanced_weights(data) if balanced else None)


def balanced_weights(data: Dataset) -> tuple[float, ...]:
    """Return a weight for each label, inverse to its frequency in the training data; their mean over the data is 1."""
    targets: Any = data.train.targets
    every = np.concatenate(targets) if data.form.targets == "tags" else np.asarray(targets)
    counts = np.bincount(every, minlength=len(data.labels))
    found = np.count_nonzero(counts)
    return tuple(float(counts.sum() / (found * count)) if count else 1.0 for count in counts)
