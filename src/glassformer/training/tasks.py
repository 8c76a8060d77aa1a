"""What each task asks of an encoder: its head, its loss, and how many answers are right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from glassformer.model import Encoder
from glassformer.training.data.dataset import Dataset, Task
from glassformer.training.data.examples import Batch
from glassformer.training.data.masking import IGNORE

HEADS = {"classify": "classify", "image": "classify", "tag": "tag", "mlm": "mlm"}


def head_fields(data: Dataset) -> dict[str, Any]:
    """The fields of a spec that the task decides."""
    return {"head": HEADS[data.task]} | ({"classes": len(data.labels)} if data.task != "mlm" else {})


class Judged(NamedTuple):
    """A batch's loss, summed over its labels, and how many of them were predicted."""

    loss: Tensor
    right: Tensor


def judge(encoder: Encoder, batch: Batch) -> Judged:
    """Cross-entropy of whatever the head says, over the labels that count."""
    attend = batch.attend if batch.padded else None
    labels = batch.labels.flatten()
    if encoder.spec.head == "mlm":
        asked = (labels != IGNORE).nonzero().squeeze(1)
        logits, labels = encoder(batch.inputs, attend, predict_at=asked).logits, labels[asked]
    else:
        logits = encoder(batch.inputs, attend).logits
    logits = logits.flatten(0, -2).float()
    loss = functional.cross_entropy(logits, labels, ignore_index=IGNORE, reduction="sum")
    return Judged(loss, (logits.argmax(-1) == labels).sum())


@dataclass
class Tally:
    """Sums over batches, from which a mean loss and an accuracy are made."""

    loss: float = 0.0
    right: int = 0
    targets: int = 0

    def add(self, loss: float, right: int, targets: int) -> None:
        """One more batch."""
        self.loss, self.right, self.targets = self.loss + loss, self.right + right, self.targets + targets

    def figures(self) -> dict[str, float]:
        """Mean loss and share of right answers."""
        count = max(self.targets, 1)
        return {"loss": self.loss / count, "accuracy": self.right / count}


@torch.inference_mode()
def evaluate(encoder: Encoder, batches: Iterable[Batch], device: torch.device) -> dict[str, float]:
    """Loss and accuracy without dropout; no random number is drawn."""
    was_training = encoder.training
    encoder.eval()
    tally = Tally()
    for batch in batches:
        loss, right = judge(encoder, batch.to(device))
        tally.add(float(loss), int(right), batch.targets)
    encoder.train(was_training)
    return tally.figures()


def better(task: Task, new: dict[str, float], old: dict[str, float] | None) -> bool:
    """Whether a validation beats another: by accuracy, then by loss; masked tokens by loss alone."""
    if old is None:
        return True
    if task == "mlm":
        return new["loss"] < old["loss"]
    return (new["accuracy"], -new["loss"]) > (old["accuracy"], -old["loss"])
