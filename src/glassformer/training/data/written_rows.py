"""Rows for models that write: texts whose next token is predicted, and pairs of a text and its translation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from glassformer.training.data.dataset import Split
from glassformer.training.data.examples import Batch, Extent, Numbers, Reading, TokenRows
from glassformer.training.data.masking import IGNORE
from glassformer.training.tokenizers import Encoded, Tokenizer


class NextTokens(TokenRows):
    """Texts, each followed by the token that ends it; every token but the first is predicted. A long text has several rows."""

    augments = ("none",)

    def __init__(self, split: Split, tokenizer: Tokenizer, reading: Reading) -> None:
        self._labels: list[int] = []
        origin: list[int] = []

        def pieces() -> Iterator[Encoded]:
            for row, one in enumerate(tokenizer.encode_all(split.inputs)):
                ids = ended(one.ids, tokenizer.end_id)
                most = reading.max_length or len(ids)
                for start in range(0, len(ids) - 1, most):  # the last token of a row is the first of the next
                    piece = ids[start : start + most + 1]
                    origin.append(row)
                    self._labels.extend(piece[1:])
                    yield Encoded(piece[:-1], [], [], cut=False)

        super().__init__(pieces(), tokenizer.pad_id)
        self.rows = np.array(origin, dtype=np.int64)
        self.flat_labels: Numbers = np.array(self._labels, dtype=np.int64)
        self.labelled = self.lengths

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:  # noqa: ARG002
        """Return token ids and, for each, the token after it."""
        places, real = self.grid(ids, multiple)
        return self._batch(ids, self.flat[places].astype(np.int64), real, np.where(real, self.flat_labels[places], IGNORE))


class Translations:
    """Pairs of token ids: the decoder reads its target one token behind what it predicts (teacher forcing).

    A target longer than `max_length` loses its end, and with it the token that would end it too early.
    """

    augments = ("none",)
    predicts_some = False

    def __init__(self, split: Split, tokenizer: Tokenizer, reading: Reading) -> None:
        most, start, end = reading.max_length, tokenizer.start_id, tokenizer.end_id
        self.source = TokenRows(tokenizer.encode_all(split.inputs, most), tokenizer.pad_id)
        self.overlong: Numbers = np.zeros(len(split), dtype=bool)

        def written() -> Iterator[Encoded]:
            for row, one in enumerate(tokenizer.encode_all(split.targets or ())):
                ids = ended(one.ids, end)
                ids = ids if ids[0] == start else [start, *ids]
                self.overlong[row] = most is not None and len(ids) > most + 1
                yield Encoded(ids if most is None else ids[: most + 1], [], [], cut=False)

        self.target = TokenRows(written(), tokenizer.pad_id)
        self.labelled = self.target.lengths - 1
        self.lengths = self.source.lengths + self.labelled
        self.rows = np.arange(len(self.lengths))
        self.cut = self.source.cut + int(self.overlong.sum())

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:  # noqa: ARG002
        """Return the sources, what the decoder reads, and the token after each of its tokens."""
        places, real = self.source.grid(ids, multiple)
        written, given = self.target.grid(ids, 1)
        tokens = self.target.flat[written].astype(np.int64)
        labels = np.where(given[:, 1:], tokens[:, 1:], IGNORE)
        read = np.where(given[:, 1:], tokens[:, :-1], self.target.pad_id)
        batch = self.source._batch(ids, self.source.flat[places].astype(np.int64), real, labels)
        extent = Extent.of([real.shape[1]] * len(real), [read.shape[1]] * len(real))
        return replace(batch, target=torch.from_numpy(read), tokens=batch.tokens + batch.targets, extent=extent)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """How many tokens of these rows are predicted."""
        return int(self.labelled[ids].sum())


def ended(ids: Sequence[int], end: int) -> list[int]:
    """Return the tokens of a text with the end token."""
    return list(ids) if ids and ids[-1] == end else [*ids, end]
