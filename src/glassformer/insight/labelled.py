"""Labelled rows of a dataset as the classes of a model: in chunks that are always the same, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.encoding.evaluation import EVERY, check_task, class_places
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.core import Layout, Padded
from glassformer.model.encoder import Inputs, Output
from glassformer.model.fast.packing import passes
from glassformer.training.data.prepare import prepare

if TYPE_CHECKING:
    from glassformer.model import LoadedModel
    from glassformer.training.data.dataset import Dataset, Split

CHUNK = 256  # rows that are finished together

Run = Callable[[Inputs, Layout], Output]


def _targets(split: Split) -> Sequence[Any]:
    assert split.targets is not None  # checked by the task
    return split.targets


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows of one part of a dataset, or of all parts, with the model's class for each."""

    model: str
    data: str
    part: str
    splits: list[Split]
    targets: NDArray[np.int64]
    notes: list[str]

    @classmethod
    def of(cls, model: LoadedModel, data: Dataset, part: str, most: int | None = None, command: str = "ablate") -> Labelled:
        """The first `most` rows of a part, or all of them; data without labels is refused."""
        check_task(model, data, command)
        places, notes = class_places(model, data)
        splits = [data.part(name) for name in (data.parts if part == EVERY else (part,))]
        targets = np.array([places[int(label)] for split in splits for label in _targets(split)], dtype=np.int64)[:most]
        if not len(targets):
            raise GlassformerError(f"{data.name} has no rows in its part {shown(part)}.")
        return cls(path_text(model.folder.path), data.name, part, splits, targets, notes)

    def __len__(self) -> int:
        return len(self.targets)

    def inputs(self, chunk: range) -> list[Any]:
        """The texts of some rows."""
        every = [one for split in self.splits for one in split.inputs]
        return every[chunk.start : chunk.stop]

    def chunks(self) -> Iterator[tuple[int, range]]:
        """Where each chunk begins, and its rows."""
        for start in range(0, len(self), CHUNK):
            yield start, range(start, min(start + CHUNK, len(self)))

    def batches(self, model: LoadedModel, chunk: range, run: Run, encoder: Encoder) -> Iterator[tuple[list[int], Tensor]]:
        """The rows of each batch, counted from the beginning of the chunk, and what `run` gives for them."""
        if self.splits[0].task == "image":
            yield from self._of_images(chunk, run, encoder)
            return
        for window in model._windows(self.inputs(chunk), {"truncate": True, "empty": "encode"}):
            for members, output, _ in passes(encoder, window.ids, window.segments, run=run):
                assert output.logits is not None
                yield [window.numbers[member] for member in members], output.logits

    def _of_images(self, chunk: range, run: Run, encoder: Encoder) -> Iterator[tuple[list[int], Tensor]]:
        first = 0
        for split in self.splits:
            mine = np.arange(max(chunk.start, first) - first, min(chunk.stop, first + len(split)) - first, dtype=np.int64)
            if len(mine):
                images = prepare(split).batch(mine, seed=0, epoch=0).inputs
                output = run(Inputs(torch.as_tensor(images).to(encoder.here)), Padded())
                assert output.logits is not None
                yield [int(row) + first - chunk.start for row in mine], output.logits
            first += len(split)
