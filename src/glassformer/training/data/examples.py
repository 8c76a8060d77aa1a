"""Examples: token ids or pixels of a split in flat arrays, batched as torch tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.arguments import require
from glassformer.errors import GlassformerError, shown
from glassformer.files.texts import Context
from glassformer.training.data.chance import below, uniform
from glassformer.training.data.dataset import Split, Task
from glassformer.training.data.images import Pictures
from glassformer.training.data.masking import IGNORE, Masking
from glassformer.training.settings import Augment
from glassformer.training.tokenizers import Encoded, Tokenizer

Numbers: TypeAlias = NDArray[np.int64]


class Extent(NamedTuple):
    """What an encoder computes on, padding included: rows, their tokens, and their pairs of tokens. FLOPs follow from these."""

    rows: int
    tokens: int = 0  # 0: images, whose number of patches the spec says
    pairs: int = 0

    @classmethod
    def of(cls, lengths: Sequence[int] | Numbers) -> Extent:
        """Return the sums over rows of these lengths."""
        found = np.asarray(lengths, dtype=np.int64)
        return cls(len(found), int(found.sum()), int((found * found).sum()))


class PackedRow(NamedTuple):
    """Where the texts of a packed row lie."""

    bounds: Tensor  # int32: where each sequence begins, and where the last ends
    positions: Tensor  # [1, t]: the position of each token in its sequence
    asked: Tensor | None  # positions in the row that a masked-token head predicts
    longest: int  # tokens that a sequence may have
    usual: bool  # whether nearly all batches of the run have this size

    def with_tensors(self, change: Callable[[Tensor], Tensor]) -> PackedRow:
        """Return the same with each tensor changed."""
        asked = None if self.asked is None else change(self.asked)
        return self._replace(bounds=change(self.bounds), positions=change(self.positions), asked=asked)


@dataclass(frozen=True)
class Batch:
    """The part of a step that one process sees.

    The loss is the sum over labels that are not IGNORE, divided by `targets_in_step`, so that the sums of all ranks add up to
    the loss of a single process. A rank without rows gets one whose labels are all IGNORE.
    """

    inputs: Tensor  # token ids [batch, t], or pixels [batch, channels, height, width]
    attend: Tensor | None  # [batch, t], True = a real token; None for images
    labels: Tensor  # [batch] for classify and image, [batch, t] for tag and mlm
    ids: tuple[int, ...]  # numbers of the examples
    tokens: int  # real tokens in `inputs`; 0 for images
    targets: int  # labels that are not IGNORE
    targets_in_step: int  # the same, summed over all ranks
    extent: Extent
    padded: bool = False  # whether any token is padding
    packed: PackedRow | None = None  # how the texts lie if they are one row; see `packing`

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> Batch:
        """Return the batch with its tensors on another device."""
        return self.with_tensors(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def with_tensors(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """Return the batch with each of its tensors changed."""
        attend = None if self.attend is None else change(self.attend)
        packed = None if self.packed is None else self.packed.with_tensors(change)
        return replace(self, inputs=change(self.inputs), attend=attend, labels=change(self.labels), packed=packed)

    def tensors(self) -> list[Tensor]:
        """Return all tensors of the batch."""
        every = [self.inputs, self.attend, self.labels, *(self.packed or ())]
        return [one for one in every if isinstance(one, Tensor)]

    def parts(self, most: int) -> Iterator[Batch]:
        """Cut a batch of texts, sorted by length, into batches of at most `most` tokens, padding included: less padding."""
        if self.attend is None or self.inputs.numel() <= most:
            yield self
            return
        lengths = self.attend.sum(1).tolist()
        start, longest = 0, 0
        for place, length in enumerate(lengths):
            if place > start and (place + 1 - start) * max(longest, length) > most:
                yield self.part(slice(start, place), longest)
                start, longest = place, 0
            longest = max(longest, length)
        yield self.part(slice(start, len(lengths)), longest)

    def part(self, rows: slice, longest: int) -> Batch:
        """Return some rows of a batch of texts, without the columns that only pad them."""
        assert self.attend is not None
        attend, labels = self.attend[rows, :longest], self.labels[rows]
        labels = labels[:, :longest] if labels.ndim == 2 else labels
        targets = int((labels != IGNORE).sum())
        changed: dict[str, Any] = {
            "inputs": self.inputs[rows, :longest],
            "attend": attend,
            "labels": labels,
            "ids": self.ids[rows],
        }
        changed |= {"ids": self.ids[rows], "tokens": int(attend.sum()), "targets": targets, "padded": not bool(attend.all())}
        return replace(self, **changed, extent=Extent.of([longest] * len(attend)))


class Examples(Protocol):
    """Rows that can be batched. Randomness in a row depends only on (seed, epoch, row number)."""

    lengths: Numbers  # tokens of each row; 1 for images
    labelled: Numbers  # labels of each row
    rows: Numbers  # the row of the split that each was made from
    cut: int  # truncated texts

    def __len__(self) -> int: ...

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return these rows, padded to the longest, rounded up to a multiple."""

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:
        """How many labels of these rows a loss looks at."""


def prepare(
    split: Split,
    tokenizer: Tokenizer | None = None,
    *,
    max_length: int | None = None,
    augment: Augment = "none",
    hidden: float = 0.2,
    context: Context = "row",
    mlm_probability: float = 0.15,
) -> Examples:
    """Prepare a split for its task: tokenize texts (for masked-token training, long texts continue in further rows), or read
    images as pixels. `hidden` is the share of tokens that augment=hide masks; `context` is the context of a tagged word."""
    require(Split, split, "prepare expects a split, such as data.train")
    check_fits(split.task, augment, context)
    if split.task == "image":
        return PictureExamples(split, augment)
    if tokenizer is None:
        raise GlassformerError(f"the task {split.task} reads texts: give a tokenizer.")
    require(Tokenizer, tokenizer, "expected a tokenizer, from Tokenizer.train(texts) or Tokenizer.load(folder)")
    if split.task == "mlm":
        return MaskedTexts(split, tokenizer, max_length, mlm_probability)
    if split.task == "classify":
        made: ClassifiedTexts | TaggedWords = ClassifiedTexts(split, tokenizer, max_length)
    else:
        made = TaggedWords(split, tokenizer, max_length, context)
    if augment == "hide":
        made.hidden, made.replacement_id = hidden, tokenizer.blank_id
    return made


def check_fits(task: Task, augment: str, context: str = "row") -> None:
    """Refuse an augmentation or context that does not fit the task."""
    known = {"image": ("none", "shift"), "mlm": ("none",)}.get(task, ("none", "hide"))
    if augment not in known:
        raise GlassformerError(f"augment={shown(augment)} does not fit the task {task}: choose {' or '.join(known)}.")
    if context not in (("row", "word") if task == "tag" else ("row",)):
        raise GlassformerError(f"context={shown(context)} is only for tagging, but the task is {task}: leave it out.")


class TokenRows:
    """Rows of token ids, one after the other in a flat array."""

    hidden: float = 0.0  # share of the tokens that are masked in training
    replacement_id: int = 0  # the token that replaces them

    def __init__(self, encoded: Iterable[Encoded], pad_id: int) -> None:
        ids: list[NDArray[np.int32]] = []
        self.cut = 0
        for one in encoded:
            if not one.ids:  # empty text, and a tokenizer without special tokens
                one = Encoded([pad_id], [1], [None], one.cut)
            ids.append(np.array(one.ids, dtype=np.int32))
            self.cut += one.cut
            self.keep(one)
        self.pad_id = pad_id
        self.lengths: Numbers = np.array([len(row) for row in ids], dtype=np.int64)
        self.flat = np.concatenate(ids) if ids else np.empty(0, dtype=np.int32)
        self.ends: Numbers = np.cumsum(self.lengths)
        self.rows: Numbers = np.arange(len(self.lengths))
        self.labelled: Numbers = np.ones(len(self.lengths), dtype=np.int64)  # labels of each row

    def keep(self, one: Encoded) -> None:
        """Store what a task needs of a row in addition to its ids."""

    def __len__(self) -> int:
        return len(self.lengths)

    def grid(self, ids: Numbers, multiple: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return, for each position of the padded batch, its index in the flat arrays, and whether it is a real token."""
        longest = -(-int(self.lengths[ids].max()) // multiple) * multiple
        steps = np.arange(longest)
        real = steps < self.lengths[ids][:, None]
        return np.where(real, (self.ends - self.lengths)[ids][:, None] + steps, 0), real

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """How many labels of these rows a loss looks at."""
        return int(self.labelled[ids].sum())

    def drawn(self, ids: Numbers, width: int, seed: int, epoch: int) -> NDArray[np.bool_]:
        """Draw the tokens to mask, anew in each epoch, never the first."""
        places = np.arange(width)[None]
        return (uniform(seed, "hidden", epoch, ids[:, None], places) < self.hidden) & (places > 0)

    def _batch(self, ids: Numbers, tokens: Numbers, real: NDArray[np.bool_], labels: Numbers) -> Batch:
        count = int((labels != IGNORE).sum())
        return Batch(
            inputs=torch.from_numpy(np.where(real, tokens, self.pad_id)),
            attend=torch.from_numpy(real),
            labels=torch.from_numpy(labels),
            ids=tuple(map(int, ids)),
            tokens=int(real.sum()),
            targets=count,
            targets_in_step=count,
            extent=Extent.of([real.shape[1]] * len(real)),
            padded=not real.all(),
        )


class ClassifiedTexts(TokenRows):
    """Texts with one label each."""

    def __init__(self, split: Split, tokenizer: Tokenizer, max_length: int | None) -> None:
        super().__init__(tokenizer.encode_all(split.inputs, max_length), tokenizer.pad_id)
        self.labels: Numbers = np.asarray(split.targets, dtype=np.int64)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return token ids and one label per row."""
        places, real = self.grid(ids, multiple)
        tokens = self.flat[places].astype(np.int64)
        if self.hidden:
            tokens[self.drawn(ids, tokens.shape[1], seed, epoch)] = self.replacement_id
        return self._batch(ids, tokens, real, self.labels[ids])


class TaggedWords(TokenRows):
    """Words with one tag each; the first token of a word carries its tag, the others are ignored.

    Masked words are not predicted: guessing a tag from the context would be another task. A row in which every label would be
    masked stays unchanged. With `context="word"`, each word is a separate row.
    """

    def __init__(self, split: Split, tokenizer: Tokenizer, max_length: int | None, context: Context = "row") -> None:
        words, tags = list(split.inputs), list(split.targets or ())
        origin = np.arange(len(words))
        if context == "word":
            origin = np.repeat(origin, [len(row) for row in words])
            words, tags = ([(one,) for row in rows for one in row] for rows in (words, tags))
        self._tags = iter(tags)
        self._labels: list[int] = []
        super().__init__(tokenizer.encode_words(words, max_length), tokenizer.pad_id)
        self.rows = origin
        self.flat_labels: Numbers = np.array(self._labels, dtype=np.int64)
        counts = np.concatenate(([0], np.cumsum(self.flat_labels != IGNORE)))
        self.labelled = counts[self.ends] - counts[self.ends - self.lengths]

    def keep(self, one: Encoded) -> None:
        """Store the tag of each token."""
        tags, before = next(self._tags), None
        for word in one.words:
            self._labels.append(IGNORE if word is None or word == before else int(tags[word]))
            before = word

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return token ids and one label per token."""
        places, real = self.grid(ids, multiple)
        tokens, labels = self.flat[places].astype(np.int64), np.where(real, self.flat_labels[places], IGNORE)
        if self.hidden:
            masked = self.masked(labels, ids, seed, epoch)
            tokens[masked], labels[masked] = self.replacement_id, IGNORE
        return self._batch(ids, tokens, real, labels)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:
        """Return the number of words to predict in these rows."""
        if not self.hidden:
            return super().targets(ids, seed=seed, epoch=epoch)
        places, real = self.grid(ids, 1)
        labels = np.where(real, self.flat_labels[places], IGNORE)
        return int(((labels != IGNORE) & ~self.masked(labels, ids, seed, epoch)).sum())

    def masked(self, labels: Numbers, ids: Numbers, seed: int, epoch: int) -> NDArray[np.bool_]:
        """Return which tokens of the padded batch are masked."""
        drawn = self.drawn(ids, labels.shape[1], seed, epoch)
        return drawn & ((labels != IGNORE) & ~drawn).any(axis=1, keepdims=True)


class MaskedTexts(TokenRows):
    """Texts for masked-token training, masked anew in each epoch. A long text continues in further rows."""

    def __init__(self, split: Split, tokenizer: Tokenizer, max_length: int | None, share: float = 0.15) -> None:
        origin: list[int] = []
        special: list[int] = []

        def pieces() -> Iterable[Encoded]:
            texts = (
                tokenizer.windows(split.inputs, max_length)
                if max_length
                else ([one] for one in tokenizer.encode_all(split.inputs))
            )
            for row, windows in enumerate(texts):
                for one in windows:
                    if not all(one.special):
                        origin.append(row)
                        special.extend(one.special)
                        yield one

        super().__init__(pieces(), tokenizer.pad_id)
        self.rows = np.array(origin, dtype=np.int64)
        self.maskable = ~np.array(special, dtype=bool)
        self.masking = Masking(tokenizer.mask_id, np.array(tokenizer.ordinary_ids, dtype=np.int64), share)
        counts = np.concatenate(([0], np.cumsum(self.maskable)))
        self.labelled = self.masking.asked(counts[self.ends] - counts[self.ends - self.lengths])

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return token ids with some masked, and the true ids at the positions to predict."""
        places, real = self.grid(ids, multiple)
        tokens, labels = self.masking.apply(self.flat[places].astype(np.int64), self.maskable[places] & real, ids, seed, epoch)
        return self._batch(ids, tokens, real, labels)


class PictureExamples:
    """Images with one label each, scaled to −1 (black) … 1 (white), the usual range of image encoders."""

    cut = 0

    def __init__(self, split: Split, augment: Augment) -> None:
        assert isinstance(split.inputs, Pictures)
        self.pictures, self.augment = split.inputs, augment
        self.labels: Numbers = np.asarray(split.targets, dtype=np.int64)
        self.rows: Numbers = np.arange(len(split))
        self.lengths: Numbers = np.ones(len(split), dtype=np.int64)
        self.labelled: Numbers = self.lengths

    def __len__(self) -> int:
        return len(self.pictures)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """Return the number of labels: one per image."""
        return len(ids)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:  # noqa: ARG002
        """Return pixels and one label per row."""
        pixels = self.pictures.take(ids)
        if self.augment == "shift":
            pixels = shifted(pixels, ids, seed, epoch)
        values = torch.from_numpy(np.ascontiguousarray(pixels)).to(torch.float32) * (2.0 / self.pictures.white) - 1.0
        labels = torch.from_numpy(self.labels[ids])
        sums: dict[str, Any] = {"tokens": 0, "targets": len(ids), "targets_in_step": len(ids), "extent": Extent(len(ids))}
        return Batch(values, None, labels, tuple(map(int, ids)), **sums)


def shifted(pixels: NDArray[np.uint8], ids: Numbers, seed: int, epoch: int) -> NDArray[np.uint8]:
    """Shift each image by up to a tenth of its side (at least one pixel), repeating the border."""
    _, _, height, width = pixels.shape
    moved = []
    for side, purpose in ((height, "down"), (width, "across")):
        most = max(1, side // 10)
        step = below(2 * most + 1, seed, purpose, epoch, ids) - most
        moved.append(np.clip(np.arange(side) - step[:, None], 0, side - 1))
    down, across = moved
    every = np.arange(len(pixels))[:, None, None, None]
    channels = np.arange(pixels.shape[1])[None, :, None, None]
    return pixels[every, channels, down[:, None, :, None], across[:, None, None, :]]
