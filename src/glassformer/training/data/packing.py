"""Packed batches: the texts of a batch one after the other in a single row, filled up to one of a few sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glassformer.training.data.batches import BatchStream
from glassformer.training.data.examples import Batch, Extent, PackedRow, ignored
from glassformer.training.data.masking import IGNORE

FILLERS = 4  # the least number of filler sequences in a row, which fill the space after the texts
MORE_ASKED = 1.05  # than the average number of predicted tokens
MORE_OF_ONE = 1.05  # tokens of one language than its average share of a batch
EVEN = 64  # rows are filled up to a multiple of this
FEWEST_LEVELS, LEVELS = 4, 12  # sizes of rows with equally many texts
STEPS_A_LEVEL = 16  # of an epoch, at least: recording a size takes as long as ten steps of BERT-base
STEPS = 8  # sizes between a number and its double


class PackedSize(NamedTuple):
    """The size of a packed row. Steps of equal sizes can share a compiled graph."""

    tokens: int
    sequences: int
    asked: int = 0  # positions that a masked-token head predicts; 0: the head reads every token, or one per sequence

    def holds(self, tokens: int, count: int, longest: int) -> bool:
        """Whether so many texts fit, with fillers for the free tokens."""
        fillers, free = self.sequences - count, self.tokens - tokens
        return FILLERS <= fillers <= free <= fillers * longest


class Packer:
    """Packs batches into rows of few sizes.

        pack = Packer(longest=512, usual=[PackedSize(33_000, 320)])
        pack(batch)                                             one row of 33,000 tokens, or of another size if it does not fit

    Texts never attend to each other. Tokens after the last text are fillers: separate sequences without labels.
    """

    def __init__(self, *, longest: int, usual: Sequence[PackedSize] = (), masked: bool = False) -> None:
        self.longest, self.usual, self.masked = longest, tuple(usual), masked

    @classmethod
    def of(cls, stream: BatchStream, *, longest: int, masked: bool) -> Packer:
        """Return a packer for the batches of a stream: if each has the same number of tokens, all rows have one size."""
        if stream.order != "shuffled":
            return cls(longest=longest, masked=masked)
        rows = stream.examples
        share = MORE_ASKED * float(rows.labelled.sum() / rows.lengths.sum()) if masked else 0.0
        budget = stream.batch_tokens is not None
        sizes = (size_of_budget(stream, longest),) if budget else sizes_of_rows(stream, longest)
        asked = (size._replace(asked=rounded(math.ceil(share * size.tokens)) if masked else 0) for size in sizes)
        return cls(longest=longest, usual=tuple(asked), masked=masked)

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch as one packed row."""
        assert batch.attend is not None
        real = batch.attend
        lengths = real.sum(1).numpy()
        flat = batch.labels[real] if batch.by_token else None
        places = (flat != IGNORE).nonzero()[:, 0] if flat is not None and self.masked else None
        size = self.size(lengths, 0 if places is None else len(places))
        labels, asked = self.labels(batch.labels, flat, places, size)
        every = filled(lengths, size, self.longest)
        row = row_of(every, self.longest, usual=size in self.usual)._replace(asked=asked)
        segments = None if batch.segments is None else in_row(batch.segments[real], size)
        changed: dict[str, Any] = {"inputs": in_row(batch.inputs[real], size), "segments": segments, "labels": labels}
        return replace(batch, **changed, attend=None, padded=False, extent=Extent.of(every), packed=row)

    def size(self, lengths: Any, asked: int) -> PackedSize:
        """Return the size of the row for texts of these lengths: the smallest usual one that fits, else the next of a few."""
        count, tokens = len(lengths), int(lengths.sum())
        for size in self.usual:
            if size.holds(tokens, count, self.longest) and asked <= size.asked:
                return size
        (size,) = next_sizes(count, [tokens], self.longest)
        return size._replace(asked=rounded(asked) if self.masked else 0)

    def labels(
        self, labels: Tensor, flat: Tensor | None, places: Tensor | None, size: PackedSize
    ) -> tuple[Tensor, Tensor | None]:
        """Return the labels of the row, and the positions they belong to if only some are predicted."""
        if flat is None:  # one for each text
            fillers = labels.new_full((size.sequences - len(labels), *labels.shape[1:]), ignored(labels))
            return torch.cat((labels, fillers)), None
        if places is None:  # one for each token
            return in_row(flat, size, IGNORE)[0], None
        missing = size.asked - len(places)
        return functional.pad(flat[places], (0, missing), value=IGNORE), functional.pad(places, (0, missing))


class PairPacker:
    """Packs batches of pairs into two rows, sources and targets, with a sequence of one for each of the other."""

    def __init__(self, *, longest: int, usual: tuple[PackedSize, PackedSize] | None = None) -> None:
        self.longest, self.usual = longest, usual

    @classmethod
    def of(cls, stream: BatchStream, *, longest: int) -> PairPacker:
        """Return a packer for the batches of a stream: if each has the same number of tokens, all rows have the same sizes."""
        if stream.batch_tokens is None or stream.order != "shuffled":
            return cls(longest=longest)
        rows = stream.examples
        sequences = -(-stream.most_rows() // stream.world) + FILLERS
        more = longest if stream.world > 1 else 0
        share = float(rows.labelled.sum() / rows.lengths.sum())  # of the targets
        tokens = [MORE_OF_ONE * one * stream.batch_tokens / stream.world for one in (1 - share, share)]
        source, target = (PackedSize(even(math.ceil(count) + more + sequences), sequences) for count in tokens)
        return cls(longest=longest, usual=(source, target))

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch as two packed rows."""
        assert batch.attend is not None
        assert batch.target is not None
        real, written = batch.attend, batch.labels != IGNORE
        lengths, targets = real.sum(1).numpy(), written.sum(1).numpy()
        sizes = self.sizes(lengths, targets)
        sources, others = (filled(each, size, self.longest) for each, size in zip((lengths, targets), sizes, strict=True))
        target = row_of(others, self.longest, usual=sizes == self.usual)
        return replace(
            batch,
            inputs=in_row(batch.inputs[real], sizes[0]),
            target=in_row(batch.target[written], sizes[1]),
            labels=in_row(batch.labels[written], sizes[1], IGNORE)[0],
            attend=None,
            padded=False,
            extent=Extent.of(sources, others),
            packed=row_of(sources, self.longest, usual=sizes == self.usual)._replace(target=target),
        )

    def sizes(self, lengths: Any, targets: Any) -> tuple[PackedSize, PackedSize]:
        """Return the sizes of both rows: the usual ones if the texts fit, else the next of a few."""
        count, sums = len(lengths), [int(lengths.sum()), int(targets.sum())]
        if self.usual is not None and hold(self.usual, sums, count, self.longest):
            return self.usual
        source, target = next_sizes(count, sums, self.longest)
        return source, target


def size_of_budget(stream: BatchStream, longest: int) -> PackedSize:
    """Return the size for batches of so many tokens."""
    sequences = -(-stream.most_rows() // stream.world) + FILLERS
    more = longest if stream.world > 1 else 0  # processes may differ by one text
    tokens = -(-(stream.batch_tokens or 0) // stream.world) + more + sequences
    return PackedSize(even(tokens), sequences)


def sizes_of_rows(stream: BatchStream, longest: int) -> list[PackedSize]:
    """Return sizes for batches of so many rows, up to that of the longest rows: each is recorded as a separate graph."""
    count = min(-(-(stream.batch_size or 1) // stream.world), len(stream.examples))
    levels = min(LEVELS, max(FEWEST_LEVELS, stream.steps(0) // STEPS_A_LEVEL))
    between = -(-int(np.sort(stream.examples.lengths)[-count:].sum()) // levels)
    fillers = FILLERS + between // longest + 1
    return [PackedSize(tokens, count + fillers) for tokens in sorted({even(n * between + fillers) for n in range(1, levels + 1)})]


def next_sizes(count: int, sums: Sequence[int], longest: int) -> list[PackedSize]:
    """Return, of a few sizes, the next for rows with `count` texts each and so many tokens; all have equally many sequences."""
    sequences = rounded(count + FILLERS)
    while True:
        sizes = [PackedSize(rounded(tokens + sequences - count), sequences) for tokens in sums]
        if hold(sizes, sums, count, longest):
            return sizes
        sequences += 1


def hold(sizes: Sequence[PackedSize], sums: Sequence[int], count: int, longest: int) -> bool:
    """Return whether `count` texts with these sums of tokens fit into rows of these sizes."""
    return all(size.holds(tokens, count, longest) for size, tokens in zip(sizes, sums, strict=True))


def in_row(values: Tensor, size: PackedSize, filler: int = 0) -> Tensor:
    """Return values of real tokens as one row, [1, t]."""
    return functional.pad(values, (0, size.tokens - len(values)), value=filler)[None]


def row_of(every: Any, longest: int, *, usual: bool) -> PackedRow:
    """Return the positions of sequences of these lengths, including fillers, in their row."""
    starts = np.cumsum(every) - every
    tokens = int(every.sum())
    bounds = np.append(starts, tokens).astype(np.int32)
    positions = np.arange(tokens) - np.repeat(starts, every)
    return PackedRow(torch.from_numpy(bounds), torch.from_numpy(positions)[None], None, longest, usual=usual)


def filled(lengths: Any, size: PackedSize, longest: int) -> Any:
    """Return the lengths of all sequences: the texts, then fillers of at least one token, the last ones longer."""
    fillers = np.ones(size.sequences - len(lengths), dtype=np.int64)
    free = size.tokens - int(lengths.sum()) - len(fillers)
    for place in range(len(fillers) - 1, -1, -1):
        fillers[place] += min(free, longest - 1)
        free -= int(fillers[place]) - 1
    return np.concatenate((lengths, fillers))


def even(tokens: int) -> int:
    """Return the next multiple of `EVEN`."""
    return -(-tokens // EVEN) * EVEN


def rounded(number: int) -> int:
    """Return the next larger of a few numbers: multiples of an eighth of the largest power of 2 below, at least of 16."""
    step = max(16, (1 << max(number.bit_length() - 1, 0)) // STEPS)
    return -(-number // step) * step
