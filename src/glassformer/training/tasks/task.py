"""The record of a task: head, loss and figures; what decides the best epoch; what it suggests and saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.model import Encoder
from glassformer.show.metric import ACCURACY, Metric, decided_by
from glassformer.spec import EncoderSpec
from glassformer.training.data.dataset import Dataset, Split, TaskName
from glassformer.training.data.examples import Batch
from glassformer.training.distributed.processes import added_up
from glassformer.training.settings import Settings
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tokenizers import Kind


class Judged(NamedTuple):
    """The loss of a batch, summed over its labels, the number of correct predictions, and predictions and labels."""

    loss: Tensor
    right: Tensor
    predicted: Tensor | None = None
    true: Tensor | None = None


class Meter(Protocol):
    """Collects what an evaluation needs, batch by batch, and returns its figures: the loss, the metric and others."""

    def add(self, batch: Batch, judged: Judged) -> None:
        """Add a batch; nothing is read back from the device."""

    def figures(self) -> dict[str, Any]:
        """Return the figures over all batches and processes."""


class Task:
    """The properties of a task that training needs. A new task is a subclass in this folder, with its rows in `training.data`.

    The rows of a task (which columns it needs, how its batches are made) are described in `training.data`: `FORMS` and `prepare`.
    """

    name: ClassVar[TaskName]
    metric: ClassVar[Metric] = ACCURACY  # of an evaluation; decides the best epoch
    others: ClassVar[tuple[Metric, ...]] = ()  # further figures that may decide it, if --best-by names them
    counts: ClassVar[str] = "accuracy"  # the name of the share of correct predictions in training; "": not counted
    independent: ClassVar[bool] = True  # whether a row has its loss whatever the other rows of its batch are
    long_texts: ClassVar[bool] = False  # whether its rows are pieces of any length, for which a budget of tokens is the default
    by_tokens: ClassVar[bool] = False  # whether that is so on a CPU, too
    tokens: ClassVar[Kind] = "wordpiece"  # the tokenizer that is trained on its texts
    ends: ClassVar[bool] = True  # whether that tokenizer puts a token after a text

    small: ClassVar[dict[str, Any]] = {}  # fields of the small encoder that is chosen where no spec is given

    def configured(self, settings: Settings) -> Task:  # noqa: ARG002
        """Return the task with what it reads of the settings."""
        return self

    def measured_by(self, best_by: str) -> Metric:
        """Return the metric that the setting `best_by` names, and what decides; refuse a figure that the task lacks."""
        if best_by in ("auto", "loss"):
            return decided_by(self.metric, best_by)
        known = {one.name: one for one in (self.metric, *self.others)}
        if best_by not in known:
            names = ["auto", "loss", *known]
            wrong = f"best_by={shown(best_by)} is not a metric of the task {self.name}"
            raise GlassformerError(f"{wrong}: one of {', '.join(names)}.{nearest(best_by, names)}")
        return known[best_by]._replace(decider="metric")

    def head(self, data: Dataset) -> dict[str, Any]:
        """Return the spec fields that the task determines."""
        raise NotImplementedError

    def outputs(self, data: Dataset) -> tuple[str, ...]:
        """Return a name for each output of the head, for the config of the model."""
        return data.labels

    def keeps_head(self, data: Dataset, labels: tuple[str, ...]) -> bool:
        """Whether the head of a checkpoint with the same spec and these labels is the head for the data."""
        return labels == data.labels

    def body(self, start: Path | None) -> dict[str, Any]:  # noqa: ARG002
        """Return the spec fields to change in the body of a checkpoint, or of a spec (None)."""
        return {}

    def judge(self, encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:
        """Compute the loss of a batch."""
        raise NotImplementedError

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:
        """Return what measures an evaluation; with `data`, in detail."""
        raise NotImplementedError

    def suggested(self, data: Dataset) -> dict[str, Any]:
        """Return default settings for training from scratch on this data."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        """Return what the task adds to the config of a model: what the logits of its head mean."""
        return {}

    def scores(self, best: Path, test: Split, say: Callable[[str], None]) -> dict[str, Any]:  # noqa: ARG002
        """Return further figures of the finished model in the folder `best`, on test data."""
        return {}

    def finish(self, folder: Path, spec: EncoderSpec, settings: Settings) -> None:
        """Write what else the task needs into a folder of weights."""


@dataclass
class Tally:
    """Sums over batches, for the mean loss and the share of correct predictions."""

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

    def figures(self, counts: str = "accuracy") -> dict[str, float]:
        """Return the mean loss and the share of correct predictions under the name `counts`, if they are counted."""
        count = max(self.targets, 1)
        return {"loss": self.loss / count} | ({counts: self.right / count} if counts else {})


class Sums:
    """A meter of the mean loss, and of the share of correct predictions."""

    def __init__(self, device: torch.device, counts: str = "accuracy") -> None:
        self.targets, self.counts = 0, counts
        self.sums = torch.zeros(2, dtype=torch.float64, device=device)  # read once, after the last batch

    def add(self, batch: Batch, judged: Judged) -> None:
        """Add a batch."""
        self.targets += batch.targets
        self.sums += torch.stack((judged.loss.double(), judged.right.double()))

    def figures(self) -> dict[str, Any]:
        """Return the means."""
        loss, right = self.sums.tolist()
        return dict(Tally(loss, int(right), self.targets).over_all().figures(self.counts))
