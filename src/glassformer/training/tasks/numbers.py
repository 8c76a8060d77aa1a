"""Tasks with a number for each text or pair of texts: mean squared error, and the correlation with the true numbers."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import torch

from glassformer.model import Encoder
from glassformer.show.metric import Metric
from glassformer.training.data.dataset import Dataset, TaskName
from glassformer.training.data.examples import Batch, present
from glassformer.training.distributed.processes import texts
from glassformer.training.figures import pearson, spearman
from glassformer.training.tasks.classes import TWO_SEGMENTS, Texts, logits_of
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tasks.task import Judged, Meter, Sums


class Numbers(Texts):
    """A number for each text: the only logit of the head."""

    name: ClassVar[TaskName] = "regress"
    metric: ClassVar[Metric] = Metric("pearson", percent=False, decider="loss")
    others: ClassVar[tuple[Metric, ...]] = (Metric("spearman", percent=False),)
    counts: ClassVar[str] = ""

    def head(self, data: Dataset) -> dict[str, Any]:  # noqa: ARG002
        """Return the head."""
        return {"head": "classify", "classes": 1}

    def outputs(self, data: Dataset) -> tuple[str, ...]:  # noqa: ARG002
        """Return the name that transformers gives the only output."""
        return ("LABEL_0",)

    def keeps_head(self, data: Dataset, labels: tuple[str, ...]) -> bool:  # noqa: ARG002
        """A head with one output is kept."""
        return True

    def judge(self, encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:  # noqa: ARG002
        """Compute the squared errors."""
        said, real = logits_of(encoder, batch)[:, 0], present(batch.labels)
        errors = torch.where(real, said - batch.labels, 0.0)  # NaN marks a row to ignore
        return Judged(errors.square().sum(), torch.zeros_like(said, dtype=torch.int64).sum(), said.detach(), batch.labels)

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:  # noqa: ARG002
        """Return both correlations."""
        return Correlation(device, "")

    def config(self) -> dict[str, Any]:
        """Return that the logit is a number."""
        return {"problem_type": "regression"}


class Similarity(Numbers):
    """A number for each pair of texts, which the encoder reads as one row, such as how similar they are."""

    name: ClassVar[TaskName] = "similarity"
    metric: ClassVar[Metric] = Metric("spearman", percent=False)
    others: ClassVar[tuple[Metric, ...]] = (Metric("pearson", percent=False),)
    small: ClassVar[dict[str, Any]] = TWO_SEGMENTS


class Correlation(Sums):
    """A meter of the mean squared error and of the correlations with the true numbers, over all processes."""

    def __init__(self, device: torch.device, counts: str) -> None:
        super().__init__(device, counts)
        self.said: list[float] = []
        self.true: list[float] = []

    def add(self, batch: Batch, judged: Judged) -> None:
        """Add a batch."""
        super().add(batch, judged)
        assert judged.predicted is not None and judged.true is not None
        real = present(judged.true)
        self.said += judged.predicted[real].tolist()
        self.true += judged.true[real].tolist()

    def figures(self) -> dict[str, Any]:
        """Return the mean squared error, and both correlations where there are any."""
        found = [json.loads(text) for text in texts(json.dumps([self.said, self.true]))]
        said, true = (np.array([number for one in found for number in one[side]], dtype=np.float64) for side in (0, 1))
        correlations = {"pearson": pearson(said, true), "spearman": spearman(said, true)}
        return super().figures() | {name: value for name, value in correlations.items() if np.isfinite(value)}
