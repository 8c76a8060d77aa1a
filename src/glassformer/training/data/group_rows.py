"""Groups of texts as rows: an anchor, a text that belongs to it, and perhaps one that does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from glassformer.training.data.dataset import Split
from glassformer.training.data.examples import PART_TOKENS, Batch, Extent, Numbers, Reading, TokenRows, spans
from glassformer.training.tokenizers import Encoded, Tokenizer


@dataclass(frozen=True)
class GroupBatch(Batch):
    """A batch whose rows have several texts: `inputs` has all texts, sorted by length.

    `places` is the position of each text in `inputs`: first all anchors, then the positive texts, then the negative ones.
    `labels` numbers the texts in that order: equal texts have equal numbers.
    """

    places: Tensor | None = None
    lengths: tuple[int, ...] = ()  # of the inputs

    def parts(self, most: int) -> Iterator[Batch]:  # noqa: ARG002
        """Each row is compared with all others, so a batch is not cut."""
        yield self

    def with_tensors(self, change: Any) -> Batch:
        """Return the batch with each of its tensors changed."""
        assert self.places is not None
        changed = super().with_tensors(change)
        return replace(changed, places=change(self.places))  # type: ignore[call-arg]  # it is of this class

    def pieces(self, most: int) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Yield the texts with their masks in parts of at most `most` tokens, padding included; None where nothing is padding."""
        assert self.attend is not None
        for rows, longest, _ in spans(self.lengths, most):
            padded = self.lengths[rows.start] < longest
            yield self.inputs[rows, :longest], self.attend[rows, :longest] if padded else None


class GroupedTexts:
    """Rows of two or three texts each; every text is a separate sequence."""

    augments = ("none",)
    predicts_some = False

    def __init__(self, split: Split, tokenizer: Tokenizer, reading: Reading) -> None:
        self.width = len(split.inputs[0]) if len(split) else 2
        every = list(chain.from_iterable(split.inputs))
        self.texts = _Texts(tokenizer.first_rows(every, reading.max_length), tokenizer.pad_id)
        known: dict[str, int] = {}
        self.numbers: Numbers = np.array([known.setdefault(text, len(known)) for text in every], dtype=np.int64)
        shape = (len(split), self.width)
        self.lengths: Numbers = self.texts.lengths.reshape(shape).sum(1)
        self.cut = int(np.array(self.texts.were_cut, dtype=bool).reshape(shape).any(1).sum())
        self.rows: Numbers = np.arange(len(split))
        self.labelled: Numbers = np.ones(len(split), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """The number of labels of these rows that a loss uses: one each."""
        return len(ids)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:  # noqa: ARG002
        """Return the token ids of all texts of these rows."""
        texts = np.concatenate([ids * self.width + column for column in range(self.width)])
        order = np.argsort(self.texts.lengths[texts], kind="stable")
        places, real = self.texts.grid(texts[order], multiple)
        lengths = tuple(self.texts.lengths[texts[order]].tolist())
        return GroupBatch(
            inputs=torch.from_numpy(np.where(real, self.texts.flat[places].astype(np.int64), self.texts.pad_id)),
            attend=torch.from_numpy(real),
            labels=torch.from_numpy(self.numbers[texts]),
            ids=tuple(map(int, ids)),
            tokens=int(real.sum()),
            targets=len(ids),
            targets_in_step=len(ids),
            extent=Extent.of(
                [longest for rows, longest, _ in spans(lengths, PART_TOKENS) for _ in range(rows.stop - rows.start)]
            ),
            padded=not real.all(),
            places=torch.from_numpy(np.argsort(order)),
            lengths=lengths,
        )


class _Texts(TokenRows):
    """The texts of all rows, and which were truncated."""

    def __init__(self, encoded: Any, pad_id: int) -> None:
        self.were_cut: list[bool] = []
        super().__init__(encoded, pad_id)

    def keep(self, one: Encoded) -> None:
        """Store whether a text was truncated."""
        self.were_cut.append(one.cut)
