"""Tasks with classes: one for a text or an image, or one for each word."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from glassformer.model import Encoder
from glassformer.model.encoder import Inputs, Wanted
from glassformer.model.fast.packed import Packed
from glassformer.model.sentences.settings import read_settings
from glassformer.training.data.dataset import Dataset, TaskName
from glassformer.training.data.examples import Batch
from glassformer.training.data.masking import IGNORE
from glassformer.training.distributed.processes import added_up
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tasks.task import Judged, Meter, Sums, Task

MOST_COUNTED = 100
# Vocabulary size: a token seen about a dozen times can be learned, a token seen once cannot.
TWO_SEGMENTS = {"segments": 2}
FEWEST_TOKENS, MOST_TOKENS, WORDS_A_TOKEN = 500, 8000, 12


class Classes(Task):
    """Cross-entropy over classes."""

    def head(self, data: Dataset) -> dict[str, Any]:
        """Return the head, with a class for each label."""
        return {"head": "tag" if data.form.targets == "tags" else "classify", "classes": len(data.labels)}

    def judge(self, encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:
        """Compute the loss of the head's logits, summed over the labels that are not ignored."""
        return judged(logits_of(encoder, batch), batch.labels.flatten(), objective)

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:
        """Return the accuracy; in detail, with the confusion matrix."""
        classes = 0 if data is None or len(data.labels) > MOST_COUNTED else len(data.labels)
        return Confusion(device, classes) if classes else Sums(device)


class Texts(Classes):
    """A class for each text."""

    name: ClassVar[TaskName] = "classify"

    def body(self, start: Path | None) -> dict[str, Any]:
        """Return the pooling of the embeddings of a checkpoint."""
        pool = None if start is None else read_settings(start).pool
        return {"pool": pool, "pooler": "none"} if pool in ("mean", "first", "last") else {}

    def suggested(self, data: Dataset) -> dict[str, Any]:
        """Return a vocabulary that suits the number of words, and masking of tokens."""
        return for_texts(data)


class Pairs(Texts):
    """A class for each pair of texts, which the encoder reads as one row: `[CLS] a [SEP] b [SEP]`."""

    name: ClassVar[TaskName] = "pair"
    small: ClassVar[dict[str, Any]] = TWO_SEGMENTS


class Words(Classes):
    """A class for each word."""

    name: ClassVar[TaskName] = "tag"

    def suggested(self, data: Dataset) -> dict[str, Any]:
        """Return a vocabulary that suits the number of words, and masking of tokens."""
        return for_texts(data)


class Images(Classes):
    """A class for each image."""

    name: ClassVar[TaskName] = "image"

    def suggested(self, data: Dataset) -> dict[str, Any]:  # noqa: ARG002
        """Return small batches."""
        return {"batch_size": 16}


def for_texts(data: Dataset) -> dict[str, Any]:
    """Return settings for a small model of few texts."""
    words = sum(len(text.split()) for text in data.train.texts())
    vocab = min(MOST_TOKENS, max(FEWEST_TOKENS, words // WORDS_A_TOKEN))
    return {"augment": "hide", "case": "lower", "vocab": vocab}


def logits_of(encoder: Encoder, batch: Batch) -> Tensor:
    """Run the encoder on a batch, packed or a rectangle; return what its head says, in float32."""
    segments = batch.segments if (encoder.spec.segments or 0) > 1 else None
    if (row := batch.packed) is not None:
        given = Inputs(batch.inputs, segments=segments, positions=row.positions, predict_at=row.asked)
        logits: Any = encoder.run(given, Packed(row.bounds, row.longest), Wanted(only_logits=True)).logits
    else:
        logits = encoder(batch.inputs, batch.attend if batch.padded else None, segments, only_logits=True).logits
    return logits.flatten(0, -2).float()


def judged(logits: Tensor, labels: Tensor, objective: Objective) -> Judged:
    """Compare logits with labels."""
    predicted = logits.argmax(-1)
    return Judged(objective.loss(logits, labels), (predicted == labels).sum(), predicted, labels)


class Confusion(Sums):
    """A meter with a confusion matrix: rows are true classes, columns predicted classes."""

    def __init__(self, device: torch.device, classes: int) -> None:
        super().__init__(device)
        self.classes = classes
        self.taken = torch.zeros(classes * classes, dtype=torch.int64, device=device)

    def add(self, batch: Batch, judged: Judged) -> None:
        """Add a batch."""
        super().add(batch, judged)
        if judged.predicted is None or judged.true is None:
            return
        real = (judged.true != IGNORE) & (judged.predicted < self.classes)  # a head may have more outputs than there are labels
        place = torch.where(real, judged.true * self.classes + judged.predicted, 0)
        self.taken.index_add_(0, place, real.long())

    def figures(self) -> dict[str, Any]:
        """Return the means and the counts."""
        counts = [int(count) for count in added_up(*self.taken.tolist())]
        rows = [counts[row * self.classes : (row + 1) * self.classes] for row in range(self.classes)]
        return super().figures() | {"confusion": rows}
