"""What a run computes on: the batches of its training, validation and test data, as the device takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from torch import Tensor

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.fast.packing import packable
from glassformer.spec import Seq2SeqSpec
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.dataset import PARTS, Dataset, Split
from glassformer.training.data.examples import PART_TOKENS, Batch, Examples
from glassformer.training.data.kept_ids import KeepingTokenizer
from glassformer.training.data.packing import Packer, PairPacker
from glassformer.training.data.prepare import prepare
from glassformer.training.runs import Run
from glassformer.training.tasks import task_of
from glassformer.training.tokenizers import Tokenizer
from glassformer.training.worker import Worker, number_format

Pack: TypeAlias = Callable[[Batch], Batch]

AHEAD = 5  # batches that a thread makes before they are computed
MORE = 4  # times as many rows or tokens in a batch of an evaluation, which keeps no activations


class Feed:
    """Prepares the data of a run. On a GPU, texts are packed into rows without padding where the encoder allows it."""

    def __init__(self, run: Run, data: Dataset, worker: Worker, encoder: Encoder) -> None:
        self.run, self.data, self.worker, self.encoder = run, data, worker, encoder
        settings = run.settings
        self.task = task_of(data)
        if worker.world > 1 and not self.task.independent:
            raise GlassformerError(
                f"the task {self.task.name} compares the rows of a batch with each other, so it runs in one process, not in "
                f"{worker.world}: start it without torchrun. --gradient-cache makes large batches fit."
            )
        rows = self.rows(data.train, augment=settings.augment, hidden=settings.hidden)
        self.notes: list[str] = []
        if rows.cut:
            way = " --max-length raises the limit." if self.longest == settings.max_length else ""
            self.notes.append(f"note: {rows.cut:,} of {len(rows):,} training texts are truncated to {self.longest} tokens.{way}")
        size = {"batch_size": settings.batch_size} if settings.batch_tokens is None else {"batch_tokens": settings.batch_tokens}
        self.stream = self.batched(rows, **size)
        self.pack = self.packer(self.stream)
        self.held_back = self.evaluation(data.validation)

    @property
    def longest(self) -> int:
        """Maximum number of tokens of a text."""
        spec, most = self.run.spec, self.run.settings.max_length
        stacks = (spec.encoder, spec.decoder) if isinstance(spec, Seq2SeqSpec) else (spec,)
        return min(most, *(stack.longest or most for stack in stacks))

    def rows(self, part: Split, **changes: Any) -> Examples:
        """Prepare a split for the encoder, with texts truncated to the maximum length."""
        settings = self.run.settings
        reading: dict[str, Any] = {"context": settings.context, "mlm_probability": settings.mlm_probability, **changes}
        return prepare(part, self.tokenizer_for(part), max_length=self.longest, **reading)

    def tokenizer_for(self, part: Split) -> Tokenizer | None:
        """Return the tokenizer; the ids that it gives for this split are stored with the run."""
        if self.run.tokenizer is None:
            return None
        name = next(name for name in PARTS if self.data.part(name) is part)
        about = {"split": name, "fingerprint": part.fingerprint}
        return KeepingTokenizer(self.run.tokenizer, self.run.kept_ids / name, about, writes=self.worker.writes)

    def batched(self, rows: Examples, **size: Any) -> BatchStream:
        """Batch rows."""
        return BatchStream(rows, **size, seed=self.run.settings.seed, rank=self.worker.rank, world=self.worker.world)

    def evaluation(self, part: Split) -> BatchStream:
        """Batch a split by length, in the same order each time."""
        rows, settings = self.rows(part), self.run.settings
        more = MORE if self.task.independent else 1  # where rows are compared with each other, their number changes the loss
        size: dict[str, Any] = {"batch_size": more * settings.batch_size}
        if settings.batch_tokens is not None:
            size = {"batch_tokens": max(more * settings.batch_tokens, int(rows.lengths.max(initial=1)))}
        return self.batched(rows, **size, order="by_length")

    def packer(self, stream: BatchStream) -> Pack | None:
        """Return what packs the batches of a stream into rows without padding; None if the encoder needs rectangles."""
        model: Any = self.encoder
        pairs = isinstance(self.run.spec, Seq2SeqSpec)
        with number_format(self.worker, self.run.settings.precision):
            fits = all(map(packable, (model.encoder, model.decoder) if pairs else (model,)))
        if self.data.form.inputs == "image" or not self.task.independent or not fits:
            return None
        if pairs:
            return PairPacker.of(stream, longest=self.longest)
        return Packer.of(stream, longest=self.longest, masked=stream.examples.predicts_some)

    def batches(self) -> Iterator[Batch]:
        """Yield the training batches of the rest of the epoch; for a GPU, a thread makes them in advance."""
        gpu = self.worker.device.type == "cuda"
        make = partial(self.arranged, self.stream, self.pack, pinned=gpu)
        return self.stream.made(make, ahead=AHEAD if gpu else 0)

    def validation(self) -> Iterator[Batch]:
        """Yield the batches of the validation data."""
        return self.once(self.held_back)

    def test(self) -> Iterator[Batch]:
        """Yield the batches of the test data."""
        return self.once(self.evaluation(self.data.test))

    def once(self, stream: BatchStream) -> Iterator[Batch]:
        """Yield the batches of an evaluation."""
        pack = self.packer(stream)
        return (self.arranged(stream, pack, 0, index) for index in range(stream.steps(0)))

    def arranged(self, stream: BatchStream, pack: Pack | None, epoch: int, index: int, *, pinned: bool = False) -> Batch:
        """Return a batch as the device takes it."""
        batch = stream.at(epoch, index)
        batch = batch if pack is None else pack(batch)
        return batch.with_tensors(Tensor.pin_memory) if pinned else batch

    def sample(self) -> Batch:
        """Return a few rows of the first batch, of similar length, as a rectangle, to measure a step on."""
        return next(self.stream.at(0, 0).parts(PART_TOKENS // 4))
