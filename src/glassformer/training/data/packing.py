"""Packed batches: the texts of a batch one after the other in a single row, filled up to one of a few sizes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glassformer.training.data.batches import BatchStream
from glassformer.training.data.examples import Batch, Extent, PackedRow, ignored
from glassformer.training.data.masking import IGNORE

FILLERS = 4  # sequences of a row that hold no text, at least: what the texts leave free lies in them
MORE_ASKED = 1.05  # than the average number of predicted tokens
EVEN = 64  # rows are filled up to a multiple of this
STEPS = 8  # sizes between a number and its double


class PackedSize(NamedTuple):
    """The size of a packed row. Steps of equal sizes can share a compiled graph."""

    tokens: int
    sequences: int
    asked: int = 0  # positions that a masked-token head predicts; 0: the head reads every token, or one per sequence


class Packer:
    """Packs batches into rows of few sizes.

        pack = Packer(longest=512, usual=PackedSize(33_000, 320))
        pack(batch)                                             one row of 33,000 tokens, or of another size if it does not fit

    Texts never attend to each other. Tokens after the last text are fillers: sequences of their own, without labels.
    """

    def __init__(self, *, longest: int, usual: PackedSize | None = None, masked: bool = False) -> None:
        self.longest, self.usual, self.masked = longest, usual, masked

    @classmethod
    def of(cls, stream: BatchStream, *, longest: int, masked: bool) -> Packer:
        """Return a packer for the batches of a stream: if each has the same number of tokens, all rows have one size."""
        if stream.batch_tokens is None or stream.order != "shuffled":
            return cls(longest=longest, masked=masked)
        sequences = -(-stream.most_rows() // stream.world) + FILLERS
        more = longest if stream.world > 1 else 0  # processes may differ by one text
        tokens = -(-stream.batch_tokens // stream.world) + more + sequences
        rows = stream.examples
        asked = rounded(math.ceil(MORE_ASKED * tokens * rows.labelled.sum() / rows.lengths.sum())) if masked else 0
        return cls(longest=longest, usual=PackedSize(-(-tokens // EVEN) * EVEN, sequences, asked), masked=masked)

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch as one packed row."""
        assert batch.attend is not None
        real = batch.attend
        lengths = real.sum(1).numpy()
        flat = batch.labels[real] if batch.by_token else None
        places = (flat != IGNORE).nonzero()[:, 0] if flat is not None and self.masked else None
        size = self.size(lengths, 0 if places is None else len(places))
        every = filled(lengths, size, self.longest)
        starts = np.cumsum(every) - every
        bounds = np.append(starts, size.tokens).astype(np.int32)
        positions = np.arange(size.tokens) - np.repeat(starts, every)
        labels, asked = self.labels(batch.labels, flat, places, size)
        free = (0, size.tokens - int(lengths.sum()))
        return replace(
            batch,
            inputs=functional.pad(batch.inputs[real], free)[None],
            segments=None if batch.segments is None else functional.pad(batch.segments[real], free)[None],
            attend=None,
            labels=labels,
            padded=False,
            extent=Extent.of(every),
            packed=PackedRow(
                torch.from_numpy(bounds), torch.from_numpy(positions)[None], asked, self.longest, usual=size == self.usual
            ),
        )

    def size(self, lengths: Any, asked: int) -> PackedSize:
        """Return the size of the row for texts of these lengths: the usual one if they fit, else the next of a few."""
        count, tokens = len(lengths), int(lengths.sum())
        if self.usual is not None:
            fillers, free = self.usual.sequences - count, self.usual.tokens - tokens
            if FILLERS <= fillers <= free <= fillers * self.longest and asked <= self.usual.asked:
                return self.usual
        sequences = rounded(count + FILLERS)
        whole = rounded(tokens + sequences - count)
        more = -(-max(0, whole - tokens - (sequences - count) * self.longest) // self.longest)
        return PackedSize(whole, sequences + more, rounded(asked) if self.masked else 0)

    def labels(
        self, labels: Tensor, flat: Tensor | None, places: Tensor | None, size: PackedSize
    ) -> tuple[Tensor, Tensor | None]:
        """Return the labels of the row, and the positions they belong to if only some are predicted."""
        if flat is None:  # one for each text
            fillers = labels.new_full((size.sequences - len(labels), *labels.shape[1:]), ignored(labels))
            return torch.cat((labels, fillers)), None
        if places is None:  # one for each token
            return functional.pad(flat, (0, size.tokens - len(flat)), value=IGNORE), None
        missing = size.asked - len(places)
        return functional.pad(flat[places], (0, missing), value=IGNORE), functional.pad(places, (0, missing))


def filled(lengths: Any, size: PackedSize, longest: int) -> Any:
    """Return the lengths of all sequences: the texts, then fillers of at least one token, the last ones longer."""
    fillers = np.ones(size.sequences - len(lengths), dtype=np.int64)
    free = size.tokens - int(lengths.sum()) - len(fillers)
    for place in range(len(fillers) - 1, -1, -1):
        fillers[place] += min(free, longest - 1)
        free -= int(fillers[place]) - 1
    return np.concatenate((lengths, fillers))


def rounded(number: int) -> int:
    """Return the next larger of a few numbers: multiples of an eighth of the largest power of 2 below, at least of 16."""
    step = max(16, (1 << max(number.bit_length() - 1, 0)) // STEPS)
    return -(-number // step) * step
