"""The tasks: head, loss and accuracy of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.encoder import Inputs, Wanted
from glassformer.model.fast.compiling import as_written
from glassformer.model.fast.packed import Packed
from glassformer.show.curves import merit
from glassformer.training.data.dataset import Dataset, Task
from glassformer.training.data.examples import Batch
from glassformer.training.data.masking import IGNORE
from glassformer.training.distributed.processes import added_up
from glassformer.training.settings import Settings

HEADS = {"classify": "classify", "image": "classify", "tag": "tag", "mlm": "mlm"}

MOST_COUNTED = 100


def head_fields(data: Dataset) -> dict[str, Any]:
    """Return the spec fields that the task determines."""
    return {"head": HEADS[data.task]} | ({"classes": len(data.labels)} if data.task != "mlm" else {})


def counted_classes(data: Dataset) -> int:
    """Return the number of classes in the confusion matrix; 0 if there are none, or too many for a table."""
    return len(data.labels) if data.task != "mlm" and len(data.labels) <= MOST_COUNTED else 0


class Judged(NamedTuple):
    """The loss of a batch, summed over its labels, the number of correct predictions, and predictions and labels."""

    loss: Tensor
    right: Tensor
    predicted: Tensor | None = None
    true: Tensor | None = None


Judge: TypeAlias = Callable[[Encoder, Batch], Judged]


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


def training_judge(judge: Callable[..., Judged], data: Dataset, settings: Settings) -> Judge:
    """Return `judge` with the objective of the settings; validation and test use the plain loss."""
    balanced = settings.class_weights == "balanced"
    if balanced and data.task == "mlm":
        raise GlassformerError("class_weights=balanced needs labels, but masked-token training has none: leave it out.")
    if not balanced and not settings.label_smoothing:
        return judge
    return partial(judge, objective=Objective(settings.label_smoothing, balanced_weights(data) if balanced else None))


def balanced_weights(data: Dataset) -> tuple[float, ...]:
    """Return a weight for each label, inverse to its frequency in the training data; their mean over the data is 1."""
    targets: Any = data.train.targets
    counts = np.bincount(np.concatenate(targets) if data.task == "tag" else np.asarray(targets), minlength=len(data.labels))
    found = np.count_nonzero(counts)
    return tuple(float(counts.sum() / (found * count)) if count else 1.0 for count in counts)


def judge(encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:
    """Compute the loss of the head's logits, summed over the labels that are not ignored."""
    labels = batch.labels.flatten()
    if batch.packed is not None:
        bounds, positions, asked, longest, _ = batch.packed
        given = Inputs(batch.inputs, positions=positions, predict_at=asked)
        logits: Any = encoder.run(given, Packed(bounds, longest), Wanted(only_logits=True)).logits
    else:
        attend, asked = batch.attend if batch.padded else None, None
        if encoder.spec.head == "mlm":
            asked = (labels != IGNORE).nonzero().squeeze(1)
            labels = labels[asked]
        logits = encoder(batch.inputs, attend, predict_at=asked, only_logits=True).logits
    logits = logits.flatten(0, -2).float()
    predicted = logits.argmax(-1)
    return Judged(objective.loss(logits, labels), (predicted == labels).sum(), predicted, labels)


@dataclass
class Tally:
    """Sums over batches, for the mean loss and the accuracy."""

    loss: float = 0.0
    right: int = 0
    targets: int = 0

    def add(self, loss: float, right: int, targets: int) -> None:
        """Add a batch."""
        self.loss, self.right, self.targets = self.loss + loss, self.right + right, self.targets + targets

    def over_all(self) -> Tally:
        """Return the sums over all processes."""
        loss, right, targets = added_up(self.loss, self.right, self.targets)
        return Tally(loss, int(right), int(targets))

    def figures(self) -> dict[str, float]:
        """Return the mean loss and the accuracy."""
        count = max(self.targets, 1)
        return {"loss": self.loss / count, "accuracy": self.right / count}


@torch.no_grad()  # not inference_mode: FSDP2 could not use its tensors in the next step
def evaluate(encoder: Encoder, batches: Iterable[Batch], device: torch.device, *, classes: int = 0) -> dict[str, Any]:
    """Return loss and accuracy in evaluation mode, over all processes; no random numbers are drawn.

    With `classes`, `confusion` is the confusion matrix: rows are true classes, columns predicted classes.
    """
    was_training = encoder.training
    encoder.eval()
    targets, taken = 0, torch.zeros(classes * classes, dtype=torch.int64, device=device)
    sums = torch.zeros(2, dtype=torch.float64, device=device)  # read once, after the last batch
    for batch in batches:
        with as_written(encoder):
            judged = judge(encoder, batch.to(device, non_blocking=True))
        targets += batch.targets
        sums += torch.stack((judged.loss.double(), judged.right.double()))
        if classes and judged.predicted is not None and judged.true is not None:
            real = (judged.true != IGNORE) & (judged.predicted < classes)  # a head may have more outputs than there are labels
            place = torch.where(real, judged.true * classes + judged.predicted, 0)
            taken.index_add_(0, place, real.long())
    encoder.train(was_training)
    loss, right = sums.tolist()
    figures: dict[str, Any] = Tally(loss, int(right), targets).over_all().figures()
    if classes:
        counts = [int(count) for count in added_up(*taken.tolist())]
        figures["confusion"] = [counts[row * classes : (row + 1) * classes] for row in range(classes)]
    return figures


def better(task: Task, new: dict[str, float], old: dict[str, float] | None, *, best_by: str = "auto") -> bool:
    """Return whether a validation result is better: by accuracy, then by loss; or by loss only, as for masked tokens."""
    if old is None:
        return True
    ranks = [merit(task, one["accuracy"], one["loss"], best_by=best_by) for one in (new, old)]
    return ranks[0] > ranks[1]
