"""Splits as a model reads them: token ids or pixels in flat arrays, and any rows of them as a batch of torch tensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.spec import GlassformerError, shown
from glassformer.spec.arguments import require
from glassformer.spec.texts import Context
from glassformer.training.data.chance import below, uniform
from glassformer.training.data.dataset import Split, Task
from glassformer.training.data.images import Pictures
from glassformer.training.data.masking import IGNORE, Masking
from glassformer.training.settings import Augment
from glassformer.training.tokenizers import Encoded, Tokenizer

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """What one process sees of one step.

    A loss is the sum over labels that are not IGNORE, divided by `targets_in_step`: the ranks' sums then add up to the loss of
    one process. A rank without a row of its own is given one whose labels are all IGNORE.
    """

    inputs: Tensor  # token ids [batch, t], or pixels [batch, channels, height, width]
    attend: Tensor | None  # [batch, t], True = a real token; None for images
    labels: Tensor  # [batch] of classify and image, [batch, t] of tag and mlm
    ids: tuple[int, ...]  # numbers of the examples
    tokens: int  # real tokens in `inputs`; 0 for images
    targets: int  # labels that are not IGNORE
    targets_in_step: int  # the same, of all ranks together
    padded: bool = False  # whether any token is not real

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> Batch:
        """The same batch with its tensors elsewhere."""
        inputs, labels = (one.to(device, non_blocking=non_blocking) for one in (self.inputs, self.labels))
        attend = None if self.attend is None else self.attend.to(device, non_blocking=non_blocking)
        return replace(self, inputs=inputs, attend=attend, labels=labels)


class Examples(Protocol):
    """Rows that can be batched. Whatever is random in a row depends on (seed, epoch, its number) alone."""

    lengths: Numbers  # tokens of each row; 1 for images
    rows: Numbers  # the row of the split that each was made from
    cut: int  # texts that lost their end

    def __len__(self) -> int: ...

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """These rows, padded to the longest of them, rounded up to a multiple."""

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
) -> Examples:
    """A split as its task reads it: texts through the tokenizer (of masked-token texts nothing is cut off: they go on in further
    rows), images as pixels. `hidden` is the share of the tokens that `hide` hides; `context` what a tagged word is read with."""
    require(Split, split, "what is prepared is a split, such as data.train")
    check_fits(split.task, augment, context)
    if split.task == "image":
        return PictureExamples(split, augment)
    if tokenizer is None:
        raise GlassformerError(f"the task {split.task} reads texts: give a tokenizer.")
    require(Tokenizer, tokenizer, "texts go through a tokenizer, as Tokenizer.train(texts) or Tokenizer.load(folder) gives it")
    if split.task == "mlm":
        return MaskedTexts(split, tokenizer, max_length)
    if split.task == "classify":
        made: ClassifiedTexts | TaggedWords = ClassifiedTexts(split, tokenizer, max_length)
    else:
        made = TaggedWords(split, tokenizer, max_length, context)
    if augment == "hide":
        made.hidden, made.hidden_behind = hidden, tokenizer.blank_id
    return made


def check_fits(task: Task, augment: str, context: str = "row") -> None:
    """Refuse a way to read rows that this kind of rows does not know."""
    known = {"image": ("none", "shift"), "mlm": ("none",)}.get(task, ("none", "hide"))
    if augment not in known:
        raise GlassformerError(f"augment={shown(augment)} is not for the task {task}: {' or '.join(known)}.")
    if context not in (("row", "word") if task == "tag" else ("row",)):
        raise GlassformerError(f"context={shown(context)} is for words with tags, and this task is {task}: leave it out.")


class TokenRows:
    """Rows of token ids, one after the other in a flat array."""

    hidden: float = 0.0  # share of the tokens that training does not see
    hidden_behind: int = 0  # the token that stands in their place

    def __init__(self, encoded: Iterable[Encoded], pad_id: int) -> None:
        ids: list[NDArray[np.int32]] = []
        self.cut = 0
        for one in encoded:
            if not one.ids:  # nothing is left of the text, and this tokenizer puts nothing around it
                one = Encoded([pad_id], [True], [None], one.cut)
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
        """What a task keeps of a row beside its ids."""

    def __len__(self) -> int:
        return len(self.lengths)

    def grid(self, ids: Numbers, multiple: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """For each place of the padded rectangle, where it lies in the flat arrays, and whether it is a real token."""
        longest = -(-int(self.lengths[ids].max()) // multiple) * multiple
        steps = np.arange(longest)
        real = steps < self.lengths[ids][:, None]
        return np.where(real, (self.ends - self.lengths)[ids][:, None] + steps, 0), real

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """How many labels of these rows a loss looks at."""
        return int(self.labelled[ids].sum())

    def drawn(self, ids: Numbers, width: int, seed: int, epoch: int) -> NDArray[np.bool_]:
        """Tokens to hide, others in each epoch, never the first: no single word can be learned by heart."""
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
            padded=not real.all(),
        )


class ClassifiedTexts(TokenRows):
    """Texts with a label each."""

    def __init__(self, split: Split, tokenizer: Tokenizer, max_length: int | None) -> None:
        super().__init__(tokenizer.encode_all(split.inputs, max_length), tokenizer.pad_id)
        self.labels: Numbers = np.asarray(split.targets, dtype=np.int64)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Token ids and a label a row."""
        places, real = self.grid(ids, multiple)
        tokens = self.flat[places].astype(np.int64)
        if self.hidden:
            tokens[self.drawn(ids, tokens.shape[1], seed, epoch)] = self.hidden_behind
        return self._batch(ids, tokens, real, self.labels[ids])


class TaggedWords(TokenRows):
    """Words with a tag each; the first piece of a word carries its tag, the others carry none.

    What is hidden is not asked for: to guess a tag from the words around it would be another task. A row of which nothing would
    be left to ask stays as it is. With `context="word"` each word is a row by itself, and its neighbours cannot mislead.
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
        """The tag of each token."""
        tags, before = next(self._tags), None
        for word in one.words:
            self._labels.append(IGNORE if word is None or word == before else int(tags[word]))
            before = word

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Token ids and a label a token."""
        places, real = self.grid(ids, multiple)
        tokens, labels = self.flat[places].astype(np.int64), np.where(real, self.flat_labels[places], IGNORE)
        if self.hidden:
            gone = self.gone(labels, ids, seed, epoch)
            tokens[gone], labels[gone] = self.hidden_behind, IGNORE
        return self._batch(ids, tokens, real, labels)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:
        """How many words of these rows are asked for."""
        if not self.hidden:
            return super().targets(ids, seed=seed, epoch=epoch)
        places, real = self.grid(ids, 1)
        labels = np.where(real, self.flat_labels[places], IGNORE)
        return int(((labels != IGNORE) & ~self.gone(labels, ids, seed, epoch)).sum())

    def gone(self, labels: Numbers, ids: Numbers, seed: int, epoch: int) -> NDArray[np.bool_]:
        """Which tokens of the padded rectangle are hidden."""
        drawn = self.drawn(ids, labels.shape[1], seed, epoch)
        return drawn & ((labels != IGNORE) & ~drawn).any(axis=1, keepdims=True)


class MaskedTexts(TokenRows):
    """Texts whose tokens are to be guessed; other ones in each epoch. A long text goes on in further rows."""

    def __init__(self, split: Split, tokenizer: Tokenizer, max_length: int | None) -> None:
        origin: list[int] = []
        special: list[bool] = []

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
        self.masking = Masking(tokenizer.mask_id, np.array(tokenizer.ordinary_ids, dtype=np.int64))
        counts = np.concatenate(([0], np.cumsum(self.maskable)))
        self.labelled = self.masking.asked(counts[self.ends] - counts[self.ends - self.lengths])

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Token ids with some hidden, and the true ids where one is asked for."""
        places, real = self.grid(ids, multiple)
        tokens, labels = self.masking.apply(self.flat[places].astype(np.int64), self.maskable[places] & real, ids, seed, epoch)
        return self._batch(ids, tokens, real, labels)


class PictureExamples:
    """Images with a label each, as numbers from −1 (black) to 1 (white), which is what image encoders are trained on."""

    cut = 0

    def __init__(self, split: Split, augment: Augment) -> None:
        assert isinstance(split.inputs, Pictures)
        self.pictures, self.augment = split.inputs, augment
        self.labels: Numbers = np.asarray(split.targets, dtype=np.int64)
        self.rows: Numbers = np.arange(len(split))
        self.lengths: Numbers = np.ones(len(split), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.pictures)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """A label each."""
        return len(ids)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:  # noqa: ARG002
        """Pixels and a label a row."""
        pixels = self.pictures.take(ids)
        if self.augment == "shift":
            pixels = shifted(pixels, ids, seed, epoch)
        values = torch.from_numpy(np.ascontiguousarray(pixels)).to(torch.float32) * (2.0 / self.pictures.white) - 1.0
        labels = torch.from_numpy(self.labels[ids])
        return Batch(values, None, labels, tuple(map(int, ids)), tokens=0, targets=len(ids), targets_in_step=len(ids))


def shifted(pixels: NDArray[np.uint8], ids: Numbers, seed: int, epoch: int) -> NDArray[np.uint8]:
    """Each image moved by up to a tenth of its side (and at least a pixel), its border repeated where nothing is left."""
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
