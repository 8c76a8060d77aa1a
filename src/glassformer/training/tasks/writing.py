"""Tasks of models that write: the next token of a text (a decoder), and translation (an encoder-decoder)."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from glassformer.model.encoder import Inputs
from glassformer.model.fast.packed import Packed
from glassformer.model.generation.settings import Choice
from glassformer.model.generation.translations import Translator
from glassformer.model.seq2seq import Layouts, Pair
from glassformer.show.metric import Metric
from glassformer.training import scoring
from glassformer.training.data.dataset import Dataset, Split, TaskName
from glassformer.training.data.examples import Batch, PackedRow
from glassformer.training.data.masking import IGNORE
from glassformer.training.tasks.classes import judged
from glassformer.training.tasks.objective import PLAIN, Objective
from glassformer.training.tasks.task import Judged, Meter, Sums, Task
from glassformer.training.tokenizers import Kind

PERPLEXITY = Metric("perplexity", percent=False, decider="loss", smaller=True)
SMALLEST_BPE, LARGEST_BPE, WORDS_A_TOKEN = 1000, 8000, 16  # a vocabulary of pieces: as many times as a word may be seen

BEAMS, MOST_WRITTEN, MOST_SCORED = 4, 200, 3000  # of the translations of the test data


class Perplexity(Sums):
    """A meter of the mean loss over tokens, and its exponential."""

    def figures(self) -> dict[str, Any]:
        """Return the means; a loss too large for its exponential has an infinite perplexity."""
        found = super().figures()
        return found | {"perplexity": math.exp(found["loss"]) if found["loss"] < 700 else math.inf}


class Writing(Task):
    """Cross-entropy over the vocabulary at every token that is written."""

    metric: ClassVar[Metric] = PERPLEXITY
    tokens: ClassVar[Kind] = "bpe"

    def head(self, data: Dataset) -> dict[str, Any]:  # noqa: ARG002
        """The logits are part of every model that writes."""
        return {}

    def keeps_head(self, data: Dataset, labels: tuple[str, ...]) -> bool:  # noqa: ARG002
        """The logits of a checkpoint are kept."""
        return True

    def meter(self, data: Dataset | None, device: torch.device) -> Meter:  # noqa: ARG002
        """Return the perplexity."""
        return Perplexity(device)

    def judge(self, encoder: Any, batch: Batch, objective: Objective = PLAIN) -> Judged:
        """Compute the loss at the tokens with a label. Except on a GPU, whose steps are recorded, padding has no logits."""
        labels = batch.labels.flatten()
        if labels.is_cuda or batch.packed is not None:  # where labels are cannot be read while a step is recorded
            return judged(self.logits(encoder, batch, None).flatten(0, -2).float(), labels, objective)
        asked = (labels != IGNORE).nonzero().squeeze(1)
        return judged(self.logits(encoder, batch, asked).flatten(0, -2).float(), labels[asked], objective)

    def logits(self, model: Any, batch: Batch, asked: Tensor | None) -> Tensor:
        """Return the logits at these places (row · length + column); None: at all."""
        raise NotImplementedError


class NextToken(Writing):
    """Each token of a text but the first, from those before it."""

    name: ClassVar[TaskName] = "causal"
    long_texts = True
    ends: ClassVar[bool] = False

    def logits(self, model: Any, batch: Batch, asked: Tensor | None) -> Tensor:
        """Padding is on the right, where no token attends to it, so it needs no mask."""
        if (row := batch.packed) is not None:
            packed: Tensor = model.run(Inputs(batch.inputs, positions=row.positions), Packed(row.bounds, row.longest)).logits
            return packed
        found: Tensor = model(batch.inputs, predict_at=asked).logits
        return found

    def suggested(self, data: Dataset) -> dict[str, Any]:
        """Return a vocabulary that suits the number of words."""
        return {"vocab": pieces_for(data)}


class Translation(Writing):
    """Each token of a translation, from those before it and the source."""

    name: ClassVar[TaskName] = "translate"
    long_texts = by_tokens = True

    def logits(self, model: Any, batch: Batch, asked: Tensor | None) -> Tensor:
        """The decoder reads the true tokens before each one that it predicts."""
        assert batch.target is not None
        if batch.packed is not None and (target := batch.packed.target) is not None:
            given = Pair(Inputs(batch.inputs, positions=batch.packed.positions), Inputs(batch.target, positions=target.positions))
            packed: Tensor = model.run(given, layouts=packed_layouts(batch.packed)).logits
            return packed
        masked = batch.padded or batch.inputs.is_cuda  # a recorded step serves batches with and without padding
        found: Tensor = model(batch.inputs, batch.target, batch.attend if masked else None, predict_at=asked).logits
        return found

    def suggested(self, data: Dataset) -> dict[str, Any]:
        """Return a joint vocabulary, label smoothing as in the paper, and batches of so many tokens."""
        return {"vocab": pieces_for(data), "label_smoothing": 0.1, "epochs": 20, "decay": "linear"}

    def scores(self, best: Path, test: Split, say: Callable[[str], None]) -> dict[str, Any]:
        """Translate the test data by beam search, and return BLEU and chrF with their signatures."""
        if not scoring.available():
            say(f"note: {scoring.HINT}")
            return {}
        translator = Translator(best)
        rows, references = list(test.inputs)[:MOST_SCORED], list(test.targets or ())[:MOST_SCORED]
        longest = (translator.written_spec.positions or MOST_WRITTEN + 1) - 1  # also where positions are computed
        choice = Choice(beams=BEAMS, max_new_tokens=max(1, min(MOST_WRITTEN, longest)))
        found = scoring.scores([one.text for one in translator.write(rows, choice)], references)
        say(f"{len(rows):,} test rows, beam {BEAMS}: {found}")
        return found.to_dict()


def packed_layouts(row: PackedRow) -> Layouts:
    """Return the positions of the texts in a packed row, and in the row that the decoder reads."""
    assert row.target is not None
    source, target = Packed(row.bounds, row.longest), Packed(row.target.bounds, row.target.longest)
    return Layouts(source, target, source._replace(reader=target))


def pieces_for(data: Dataset) -> int:
    """Return the size of a vocabulary of pieces that suits the number of words."""
    words = sum(len(text.split()) for text in data.train.texts())
    return min(LARGEST_BPE, max(SMALLEST_BPE, words // WORDS_A_TOKEN))
