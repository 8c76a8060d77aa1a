"""The task of sentence embeddings: contrastive training on rows of texts that belong together, measured by retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.model import Encoder
from glassformer.model.core import Padded
from glassformer.model.heads import pool
from glassformer.model.sentences.settings import Pool, read_settings
from glassformer.model.sentences.writing import write_settings
from glassformer.show.metric import ACCURACY, Metric
from glassformer.spec import EncoderSpec
from glassformer.training.data.dataset import Dataset, TaskName
from glassformer.training.data.examples import PART_TOKENS, Batch
from glassformer.training.data.group_rows import GroupBatch
from glassformer.training.figures import mean_reciprocal_rank, reciprocal_ranks
from glassformer.training.settings import Settings
from glassformer.training.tasks.classes import for_texts
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tasks.task import Judged, Meter, Sums, Task

POOLS = ("mean", "first", "last")  # of a spec and of sentence-transformers


@dataclass(frozen=True)
class Embeddings(Task):
    """Cross-entropy over similarities: which of all texts of the batch belongs to an anchor (van den Oord et al. 2018).

    The texts of the other rows are the negatives, and the third texts of all rows. Equal texts are never negatives of each other.
    """

    name: ClassVar[TaskName] = "embed"
    metric: ClassVar[Metric] = Metric("mrr_at_10", percent=False)
    others: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    independent: ClassVar[bool] = False
    temperature: float = 0.05
    gradient_cache: int | None = None

    def configured(self, settings: Settings) -> Task:
        """Return the task with its temperature, and the tokens that are computed at once."""
        if settings.train_only == "head":
            raise GlassformerError("train_only=head: the task embed has no head to train. Leave it out.")
        if settings.batch_size < 2 and settings.batch_tokens is None:
            raise GlassformerError("batch_size=1 leaves no other row to compare with: the task embed needs 2 or more.")
        return Embeddings(settings.temperature, settings.gradient_cache)

    def head(self, data: Dataset) -> dict[str, Any]:  # noqa: ARG002
        """Return that there is no head."""
        return {"head": "none"}

    def keeps_head(self, data: Dataset, labels: tuple[str, ...]) -> bool:  # noqa: ARG002
        """There is none."""
        return True

    def body(self, start: Path | None) -> dict[str, Any]:
        """Return the pooling of the checkpoint, or the mean of all tokens."""
        if start is None:
            return {"pool": "mean", "pooler": "none"}
        said = read_settings(start)
        if said.obstacle or said.prompt or said.pool not in (None, *POOLS):
            why = said.obstacle or ("it puts a prompt before every text" if said.prompt else f"it pools by {said.pool}")
            raise GlassformerError(f"{path_text(start)} cannot be trained on sentence embeddings: {why}, and train does not.")
        return {"pool": said.pool or "mean", "pooler": "none"}

    def suggested(self, data: Dataset) -> dict[str, Any]:
        """Return a vocabulary that suits the number of words."""
        return {name: value for name, value in for_texts(data).items() if name != "augment"}

    def judge(self, encoder: Encoder, batch: Batch, objective: Objective = PLAIN) -> Judged:  # noqa: ARG002
        """Compute the cross-entropy of each anchor over the texts of the batch."""
        assert isinstance(batch, GroupBatch)
        vectors = self.embed(encoder, batch)
        rows = len(batch.ids)
        with torch.autocast(vectors.device.type, enabled=False):
            scores = vectors[:rows] @ vectors[rows:].T / self.temperature
        scores = scores.masked_fill(false_negatives(batch.labels, rows), -torch.inf)
        wanted = torch.arange(rows, device=scores.device)
        right = (scores.argmax(1) == wanted).sum()
        return Judged(functional.cross_entropy(scores, wanted, reduction="sum"), right, vectors.detach(), batch.labels)

    def embed(self, encoder: Encoder, batch: GroupBatch) -> Tensor:
        """Return a vector of length one for each text, in the order of the columns.

        Texts of similar length are computed together. With a gradient cache, a part keeps its vectors alone between the forward
        and the backward pass, which computes it again (Gao et al. 2021): the gradients are those of the whole batch.
        """
        one = partial(embedded, encoder)
        if self.gradient_cache is None or not torch.is_grad_enabled():
            found = [one(*piece) for piece in batch.pieces(max(PART_TOKENS, self.gradient_cache or 0))]
        else:
            found = [checkpoint(one, *piece, use_reentrant=False) for piece in batch.pieces(self.gradient_cache)]
        return torch.cat(found)[batch.places]

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:  # noqa: ARG002
        """Return the retrieval over all rows."""
        return Retrieval(device)

    def finish(self, folder: Path, spec: EncoderSpec, settings: Settings) -> None:
        """Write how the folder makes sentence vectors, as sentence-transformers does."""
        longest = min(settings.max_length, spec.longest or settings.max_length)
        write_settings(folder, pool=cast(Pool, spec.pool), width=spec.d_model, longest=longest)


def embedded(encoder: Encoder, inputs: Tensor, attend: Tensor | None) -> Tensor:
    """Return the pooled states of texts, scaled to length one, in float32."""
    states = encoder(inputs, attend).states
    return functional.normalize(pool(states, Padded(attend), encoder.spec, encoder.spec.pool).float(), dim=-1)


def false_negatives(numbers: Tensor, rows: int) -> Tensor:
    """Return [anchor, candidate]: whether a candidate is not used as a negative although it is not the anchor's own text.

    It is equal to the anchor or to its own text, or belongs to a row with an equal anchor.
    """
    anchors, candidates = numbers[:rows, None], numbers[None, rows:]
    same = (candidates == numbers[rows : 2 * rows, None]) | (candidates == anchors)
    same[:, :rows] |= anchors == anchors.T
    same.fill_diagonal_(fill_value=False)
    return same


class Retrieval(Sums):
    """A meter of the loss, the accuracy within batches, and the mean reciprocal rank over all texts of an evaluation."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self.anchors: list[Tensor] = []
        self.candidates: list[Tensor] = []
        self.numbers: list[tuple[Tensor, Tensor]] = []

    def add(self, batch: Batch, judged: Judged) -> None:
        """Add a batch."""
        super().add(batch, judged)
        assert judged.predicted is not None and judged.true is not None
        rows = len(batch.ids)
        self.anchors.append(judged.predicted[:rows])
        self.candidates.append(judged.predicted[rows:])
        self.numbers.append((judged.true[:rows], judged.true[rows:]))

    def figures(self) -> dict[str, Any]:
        """Return the means, and the mean reciprocal rank among the first ten."""
        matches = torch.cat([texts[: len(anchors)] for anchors, texts in self.numbers])
        given = [torch.cat(self.anchors), torch.cat(self.candidates)]
        numbers = [torch.cat([pair[0] for pair in self.numbers]), matches, torch.cat([pair[1] for pair in self.numbers])]
        found = reciprocal_ranks(*(one.cpu().numpy() for one in (*given, *numbers)))
        return super().figures() | {"mrr_at_10": mean_reciprocal_rank(found)}
