"""The task of predicting masked tokens (Devlin et al. 2018)."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from glassformer.model import Encoder
from glassformer.show.metric import ACCURACY, Metric
from glassformer.training.data.dataset import Dataset, TaskName
from glassformer.training.data.examples import Batch
from glassformer.training.data.masking import IGNORE
from glassformer.training.tasks.classes import judged, logits_of
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tasks.task import Judged, Meter, Sums, Task


class MaskedTokens(Task):
    """Cross-entropy over the vocabulary, at the masked tokens alone."""

    name: ClassVar[TaskName] = "mlm"
    long_texts = True
    metric: ClassVar[Metric] = ACCURACY._replace(decider="loss")

    def head(self, data: Dataset) -> dict[str, Any]:  # noqa: ARG002
        """Return the head."""
        return {"head": "mlm"}

    def keeps_head(self, data: Dataset, labels: tuple[str, ...]) -> bool:  # noqa: ARG002
        """Any head for masked tokens is kept."""
        return True

    def judge(self, encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:
        """Compute the loss at the tokens with a label; the head is not asked about the others."""
        labels = batch.labels.flatten()
        if batch.packed is not None:
            return judged(logits_of(encoder, batch), labels, objective)
        asked = (labels != IGNORE).nonzero().squeeze(1)
        attend = batch.attend if batch.padded else None
        logits = encoder(batch.inputs, attend, predict_at=asked, only_logits=True).logits
        return judged(logits.flatten(0, -2).float(), labels[asked], objective)

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:  # noqa: ARG002
        """Return the accuracy."""
        return Sums(device)

    def suggested(self, data: Dataset) -> dict[str, Any]:  # noqa: ARG002
        """The general defaults suit."""
        return {}
