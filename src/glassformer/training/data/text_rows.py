"""Texts as rows of token ids: with a label, with a tag for each word, or with some tokens masked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.training.data.dataset import Split
from glassformer.training.data.examples import Batch, Numbers, Reading, TokenRows
from glassformer.training.data.masking import IGNORE, Masking
from glassformer.training.tokenizers import Encoded, Tokenizer


class LabelledTexts(TokenRows):
    """Texts, or pairs of texts, with one label each: a class, a number, or any number of classes."""

    augments = ("none", "hide")

    def __init__(self, split: Split, tokenizer: Tokenizer, reading: Reading) -> None:
        encode = tokenizer.encode_pairs if split.form.inputs == "texts" else tokenizer.first_rows
        super().__init__(encode(split.inputs, reading.max_length), tokenizer.pad_id)
        self.hide(tokenizer, reading)
        self.labels = label_array(split)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return token ids and the labels of the rows."""
        places, real = self.grid(ids, multiple)
        tokens = self.flat[places].astype(np.int64)
        if self.hidden:
            tokens[self.drawn(ids, tokens.shape[1], seed, epoch)] = self.replacement_id
        segments = self.flat_segments[places].astype(np.int64) if len(self.flat_segments) else None
        return self._batch(ids, tokens, real, self.labels[ids], segments)


def label_array(split: Split) -> NDArray[Any]:
    """Return the labels of a split: class numbers, float32 numbers, or rows of 0 and 1 up to the largest class."""
    if split.form.targets != "classes":
        return np.asarray(split.targets, dtype=np.float32 if split.form.targets == "number" else np.int64)
    rows = split.targets if split.targets is not None else ()
    marks = np.zeros((len(rows), 1 + max((max(row) for row in rows if row), default=0)), dtype=np.float32)
    for row, classes in zip(marks, rows, strict=True):
        row[list(classes)] = 1.0
    return marks


class TaggedWords(TokenRows):
    """Words with one tag each; the first token of a word carries its tag, the others are ignored.

    Masked words are not predicted: guessing a tag from the context would be another task. A row in which every label would be
    masked stays unchanged. With `context="word"`, each word is a separate row.
    """

    augments = ("none", "hide")

    def __init__(self, split: Split, tokenizer: Tokenizer, reading: Reading) -> None:
        words, tags = list(split.inputs), list(split.targets or ())
        origin = np.arange(len(words))
        if reading.context == "word":
            origin = np.repeat(origin, [len(row) for row in words])
            words, tags = ([(one,) for row in rows for one in row] for rows in (words, tags))
        self._tags = iter(tags)
        self._labels: list[int] = []
        super().__init__(tokenizer.encode_words(words, reading.max_length), tokenizer.pad_id)
        self.hide(tokenizer, reading)
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

    augments = ("none",)
    predicts_some = True

    def __init__(self, split: Split, tokenizer: Tokenizer, reading: Reading) -> None:
        most = reading.max_length
        origin: list[int] = []
        special: list[NDArray[np.int8]] = []

        def pieces() -> Iterable[Encoded]:
            for row, windows in enumerate(tokenizer.rows(split.inputs, most)):
                for one in windows:
                    marks = np.asarray(one.special, dtype=np.int8)
                    if not marks.all():
                        origin.append(row)
                        special.append(marks)
                        yield one

        super().__init__(pieces(), tokenizer.pad_id)
        self.rows = np.array(origin, dtype=np.int64)
        self.maskable = np.concatenate(special) == 0 if special else np.empty(0, dtype=bool)
        self.masking = Masking(tokenizer.mask_id, np.array(tokenizer.ordinary_ids, dtype=np.int64), reading.mlm_probability)
        counts = np.concatenate(([0], np.cumsum(self.maskable)))
        self.labelled = self.masking.asked(counts[self.ends] - counts[self.ends - self.lengths])

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:
        """Return token ids with some masked, and the true ids at the positions to predict."""
        places, real = self.grid(ids, multiple)
        tokens, labels = self.masking.apply(self.flat[places].astype(np.int64), self.maskable[places] & real, ids, seed, epoch)
        return self._batch(ids, tokens, real, labels)
