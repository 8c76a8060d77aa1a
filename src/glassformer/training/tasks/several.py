"""The task of several classes for each text: binary cross-entropy, micro- and macro-F1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glassformer.model import Encoder
from glassformer.show.metric import Metric
from glassformer.training.data.dataset import Dataset, TaskName
from glassformer.training.data.examples import Batch, present
from glassformer.training.distributed.processes import added_up
from glassformer.training.figures import Several
from glassformer.training.tasks.classes import Texts, logits_of
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tasks.task import Judged, Meter, Sums


class SeveralClasses(Texts):
    """Any number of classes for each text."""

    name: ClassVar[TaskName] = "multilabel"
    metric: ClassVar[Metric] = Metric("micro_f1")
    others: ClassVar[tuple[Metric, ...]] = (Metric("macro_f1"),)
    counts: ClassVar[str] = ""

    def judge(self, encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:  # noqa: ARG002
        """Compute the binary cross-entropy of each class, its mean over the classes, and the sum over the rows."""
        logits = logits_of(encoder, batch)
        marks = padded(batch.labels, logits.shape[1])
        real = present(batch.labels)[:, None]
        losses = functional.binary_cross_entropy_with_logits(logits, torch.where(real, marks, 0.0), reduction="none")
        loss = torch.where(real, losses, 0.0).mean(1).sum()
        return Judged(loss, torch.zeros_like(marks, dtype=torch.int64).sum(), logits.detach() > 0, marks)

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:  # noqa: ARG002
        """Return micro- and macro-F1."""
        return Marks(device, "")

    def config(self) -> dict[str, Any]:
        """Return that each logit is evaluated separately."""
        return {"problem_type": "multi_label_classification"}


def padded(marks: Tensor, classes: int) -> Tensor:
    """Return marks for each output of the head: a split may lack the last classes, and a head may have spare ones."""
    return functional.pad(marks, (0, classes - marks.shape[1]))


class Marks(Sums):
    """A meter of micro- and macro-F1: a class applies where its probability is above one half."""

    def __init__(self, device: torch.device, counts: str) -> None:
        super().__init__(device, counts)
        self.taken: Tensor | None = None  # [3, class]: right, extra, missed

    def add(self, batch: Batch, judged: Judged) -> None:
        """Add a batch."""
        super().add(batch, judged)
        assert judged.predicted is not None and judged.true is not None
        real = present(judged.true)[:, None]
        said, true = judged.predicted & real, (judged.true > 0.5) & real
        found = torch.stack([(said & true).sum(0), (said & ~true).sum(0), (~said & true).sum(0)])
        self.taken = found if self.taken is None else self.taken + found

    def figures(self) -> dict[str, Any]:
        """Return the means and both figures."""
        assert self.taken is not None  # every process has a batch
        counts = np.array([int(count) for count in added_up(*self.taken.flatten().tolist())]).reshape(3, -1)
        found = Several(*counts)
        figures = super().figures() | {"micro_f1": found.micro_f1()}
        macro = found.macro_f1()
        return figures | ({"macro_f1": macro} if np.isfinite(macro) else {})
