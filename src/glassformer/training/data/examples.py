"""Examples: rows of a split in flat arrays, batched as torch tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.files.texts import Context
from glassformer.training.data.chance import uniform
from glassformer.training.data.masking import IGNORE
from glassformer.training.settings import Augment
from glassformer.training.tokenizers import Encoded, Tokenizer

Numbers: TypeAlias = NDArray[np.int64]
PART_TOKENS = 4096  # of a batch that is computed in parts: more tokens at once do not fit into a CPU's caches


class Extent(NamedTuple):
    """What a model computes on, padding included: rows, their tokens, and their pairs of tokens. FLOPs follow from these."""

    rows: int
    tokens: int = 0  # 0: images, whose number of patches the spec says
    pairs: int = 0
    target_tokens: int = 0  # of the decoder of an encoder-decoder
    target_pairs: int = 0
    cross_pairs: int = 0  # of a token of the target with one of the source

    @classmethod
    def of(cls, lengths: Sequence[int] | Numbers, targets: Sequence[int] | Numbers = ()) -> Extent:
        """Return the sums over rows of these lengths; `targets` are those of the decoder's texts."""
        t = np.asarray(lengths, dtype=np.int64)
        u = np.asarray(targets, dtype=np.int64) if len(targets) else np.zeros_like(t)
        return cls(len(t), *(int(sums.sum()) for sums in (t, t * t, u, u * u, t * u)))


class PackedRow(NamedTuple):
    """The positions of the texts in a packed row."""

    bounds: Tensor  # int32: where each sequence begins, and where the last ends
    positions: Tensor  # [1, t]: the position of each token in its sequence
    asked: Tensor | None  # positions in the row that a masked-token head predicts
    longest: int  # tokens that a sequence may have
    usual: bool  # whether nearly all batches of the run have this size
    target: PackedRow | None = None  # the row that the decoder of an encoder-decoder reads: a sequence for each source

    def with_tensors(self, change: Callable[[Tensor], Tensor]) -> PackedRow:
        """Return the same with each tensor changed."""
        asked = None if self.asked is None else change(self.asked)
        target = None if self.target is None else self.target.with_tensors(change)
        return self._replace(bounds=change(self.bounds), positions=change(self.positions), asked=asked, target=target)

    def tensors(self) -> list[Tensor]:
        """Return all tensors."""
        own = [one for one in (self.bounds, self.positions, self.asked) if one is not None]
        return own if self.target is None else [*own, *self.target.tensors()]


@dataclass(frozen=True)
class Batch:
    """The part of a step that one process computes.

    The loss is the sum over labels that are `present`, divided by `targets_in_step`, so that the sums of all ranks add up to
    the loss of a single process. A rank without rows gets one whose labels are all ignored.
    """

    inputs: Tensor  # token ids [batch, t], or pixels [batch, channels, height, width]
    attend: Tensor | None  # [batch, t], True = a real token; None for images
    # [batch] for a class or a number, [batch, t] for tag, mlm and causal, [batch, u] for translate, [batch, class] of 0 and 1
    labels: Tensor
    ids: tuple[int, ...]  # numbers of the examples
    tokens: int  # real tokens in `inputs`; 0 for images
    targets: int  # labels that are present
    targets_in_step: int  # the same, summed over all ranks
    extent: Extent
    padded: bool = False  # whether any token is padding
    packed: PackedRow | None = None  # the arrangement of the texts if they are one row; see `packing`
    segments: Tensor | None = None  # of the inputs of pairs of texts: 0 for the first text, 1 for the second
    target: Tensor | None = None  # [batch, u], the input of the decoder of an encoder-decoder

    @property
    def by_token(self) -> bool:
        """Whether there is a label for each token."""
        return self.labels.ndim == 2 and not self.labels.is_floating_point()

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> Batch:
        """Return the batch with its tensors on another device."""
        return self.with_tensors(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def with_tensors(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """Return the batch with each of its tensors changed."""
        attend = None if self.attend is None else change(self.attend)
        packed = None if self.packed is None else self.packed.with_tensors(change)
        segments = None if self.segments is None else change(self.segments)
        target = None if self.target is None else change(self.target)
        changed: dict[str, Any] = {
            "inputs": change(self.inputs),
            "labels": change(self.labels),
            "segments": segments,
            "target": target,
        }
        return replace(self, attend=attend, packed=packed, **changed)

    def tensors(self) -> list[Tensor]:
        """Return all tensors of the batch."""
        every = [self.inputs, self.attend, self.labels, self.segments, self.target]
        packed = [] if self.packed is None else self.packed.tensors()
        return [*(one for one in every if one is not None), *packed]

    def parts(self, most: int) -> Iterator[Batch]:
        """Cut a batch of texts, sorted by length, into batches of at most `most` tokens, padding included: less padding."""
        written = 0 if self.target is None else self.target.numel()
        if self.attend is None or self.inputs.numel() + written <= most:
            yield self
            return
        lengths = self.attend.sum(1).tolist()
        targets = None if self.target is None else (self.labels != IGNORE).sum(1).tolist()
        for rows, longest, widest in spans(lengths, most, targets):
            yield self.part(rows, longest, widest)

    def part(self, rows: slice, longest: int, widest: int = 0) -> Batch:
        """Return some rows of a batch of texts, without the columns that only pad them; `widest` is that of the targets."""
        assert self.attend is not None
        attend, labels = self.attend[rows, :longest], self.labels[rows]
        target = None if self.target is None else self.target[rows, :widest]
        labels = labels[:, : longest if target is None else widest] if self.by_token else labels
        targets = int(present(labels).sum())
        changed: dict[str, Any] = {
            "inputs": self.inputs[rows, :longest],
            "attend": attend,
            "labels": labels,
            "ids": self.ids[rows],
            "segments": None if self.segments is None else self.segments[rows, :longest],
        }
        tokens = int(attend.sum()) + (0 if target is None else targets)
        changed |= {"target": target, "tokens": tokens, "targets": targets, "padded": not bool(attend.all())}
        of_target = [] if target is None else [widest] * len(attend)
        return replace(self, **changed, extent=Extent.of([longest] * len(attend), of_target))


def spans(lengths: Sequence[int], most: int, targets: Sequence[int] | None = None) -> Iterator[tuple[slice, int, int]]:
    """Cut rows of these lengths, sorted, into spans of at most `most` tokens, padding included.

    Each comes with the length of its longest row, and of its longest target (0 where there are none).
    """
    start, longest, widest = 0, 0, 0
    for place, length in enumerate(lengths):
        width = 0 if targets is None else targets[place]
        if place > start and (place + 1 - start) * (max(longest, length) + max(widest, width)) > most:
            yield slice(start, place), longest, widest
            start, longest, widest = place, 0, 0
        longest, widest = max(longest, length), max(widest, width)
    yield slice(start, len(lengths)), longest, widest


def present(labels: Tensor) -> Tensor:
    """Return which labels a loss uses: those that are not IGNORE, or not NaN for numbers; for several classes, rows."""
    if not labels.is_floating_point():
        return labels != IGNORE
    return ~(labels[:, 0] if labels.ndim == 2 else labels).isnan()


def ignored(labels: Tensor) -> float:
    """Return the label that a loss ignores."""
    return math.nan if labels.is_floating_point() else IGNORE


class Examples(Protocol):
    """Rows that can be batched. Randomness in a row depends only on (seed, epoch, row number)."""

    augments: tuple[Augment, ...]  # the augmentations that suit these rows
    predicts_some: bool  # whether the head predicts at some of the tokens alone
    lengths: Numbers  # tokens of each row; 1 for images
    labelled: Numbers  # labels of each row
    rows: Numbers  # the row of the split that each comes from
    cut: int  # truncated texts

    def __len__(self) -> int: ...

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return these rows, padded to the longest, rounded up to a multiple."""

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:
        """The number of labels of these rows that a loss uses."""


class Reading(NamedTuple):
    """How the rows of a split are read and changed: the settings of the same names."""

    max_length: int | None = None
    augment: Augment = "none"
    hidden: float = 0.2
    context: Context = "row"
    mlm_probability: float = 0.15


class TokenRows:
    """Rows of token ids, one after the other in a flat array."""

    augments: tuple[Augment, ...] = ("none",)
    predicts_some = False
    hidden: float = 0.0  # share of the tokens that are masked in training
    replacement_id: int = 0  # the token that replaces them

    def __init__(self, encoded: Iterable[Encoded], pad_id: int) -> None:
        ids: list[NDArray[np.int32]] = []
        segments: list[NDArray[np.int8]] = []
        self.cut = 0
        for one in encoded:
            if not len(one.ids):  # empty text, and a tokenizer without special tokens
                one = Encoded([pad_id], [1], [None], one.cut)
            ids.append(np.asarray(one.ids, dtype=np.int32))
            if len(one.segments):
                segments.append(np.asarray(one.segments, dtype=np.int8))
            self.cut += one.cut
            self.keep(one)
        self.pad_id = pad_id
        self.lengths: Numbers = np.array([len(row) for row in ids], dtype=np.int64)
        self.flat = np.concatenate(ids) if ids else np.empty(0, dtype=np.int32)
        self.flat_segments = np.concatenate(segments) if segments else np.empty(0, dtype=np.int8)  # empty for single texts
        self.ends: Numbers = np.cumsum(self.lengths)
        self.rows: Numbers = np.arange(len(self.lengths))
        self.labelled: Numbers = np.ones(len(self.lengths), dtype=np.int64)  # labels of each row

    def keep(self, one: Encoded) -> None:
        """Store what a task needs of a row in addition to its ids."""

    def hide(self, tokenizer: Tokenizer, reading: Reading) -> None:
        """Mask tokens in training if augment=hide asks for it."""
        if reading.augment == "hide":
            self.hidden, self.replacement_id = reading.hidden, tokenizer.blank_id

    def __len__(self) -> int:
        return len(self.lengths)

    def grid(self, ids: Numbers, multiple: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return, for each position of the padded batch, its index in the flat arrays, and whether it is a real token."""
        longest = -(-int(self.lengths[ids].max()) // multiple) * multiple
        steps = np.arange(longest)
        real = steps < self.lengths[ids][:, None]
        return np.where(real, (self.ends - self.lengths)[ids][:, None] + steps, 0), real

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """The number of labels of these rows that a loss uses."""
        return int(self.labelled[ids].sum())

    def drawn(self, ids: Numbers, width: int, seed: int, epoch: int) -> NDArray[np.bool_]:
        """Draw the tokens to mask, anew in each epoch, never the first."""
        places = np.arange(width)[None]
        return (uniform(seed, "hidden", epoch, ids[:, None], places) < self.hidden) & (places > 0)

    def _batch(
        self, ids: Numbers, tokens: Numbers, real: NDArray[np.bool_], labels: NDArray[Any], segments: Numbers | None = None
    ) -> Batch:
        given = torch.from_numpy(labels)
        count = int(present(given).sum())
        return Batch(
            inputs=torch.from_numpy(np.where(real, tokens, self.pad_id)),
            attend=torch.from_numpy(real),
            labels=given,
            ids=tuple(map(int, ids)),
            tokens=int(real.sum()),
            targets=count,
            targets_in_step=count,
            extent=Extent.of([real.shape[1]] * len(real)),
            padded=not real.all(),
            segments=None if segments is None else torch.from_numpy(np.where(real, segments, 0)),
        )
