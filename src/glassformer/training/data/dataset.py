"""Datasets: rows in three splits, their labels and their provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

from glassformer.errors import GlassformerError, nearest, shown

TaskName: TypeAlias = Literal[
    "classify", "pair", "regress", "similarity", "multilabel", "image", "tag", "mlm", "embed", "causal", "translate"
]
RowsFor: TypeAlias = Literal["encoder", "decoder", "seq2seq"]
PARTS = ("train", "validation", "test")


class Form(NamedTuple):
    """What a row of a task holds."""

    inputs: Literal["text", "texts", "words", "image"]  # texts: two or three in a row
    # a class for each row, a number, any number of classes, a class for each word, another text, or none
    targets: Literal["class", "number", "classes", "tags", "text", "none"]
    model: RowsFor = "encoder"  # the kind of model that learns from such rows

    @property
    def lists(self) -> bool:
        """Whether a row has a tuple of classes."""
        return self.targets in ("classes", "tags")


FORMS: dict[TaskName, Form] = {
    "classify": Form("text", "class"),
    "pair": Form("texts", "class"),
    "regress": Form("text", "number"),
    "similarity": Form("texts", "number"),
    "multilabel": Form("text", "classes"),
    "image": Form("image", "class"),
    "tag": Form("words", "tags"),
    "mlm": Form("text", "none"),
    "embed": Form("texts", "none"),
    "causal": Form("text", "none", "decoder"),
    "translate": Form("text", "text", "seq2seq"),
}


@dataclass(frozen=True)
class Provenance:
    """Source, licence and baseline of a dataset."""

    source: str
    licence: str = "not stated"
    baseline: str = "none"


@dataclass(frozen=True, eq=False)
class Split:
    """One split of a dataset.

    By the form of the task, `inputs` are texts, tuples of texts or words, or `Pictures`; `targets` are label numbers (one per
    row, a tuple of them per row, or one per word), numbers, texts, or None.
    """

    name: str
    task: TaskName
    inputs: Sequence[Any]
    targets: Sequence[Any] | None

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def form(self) -> Form:
        """What a row holds."""
        return FORMS[self.task]

    def texts(self) -> Iterator[str]:
        """Yield every text, targets included, for training a tokenizer; the words of a tagged row are joined by spaces."""
        if self.form.inputs == "image":
            raise GlassformerError("images have no texts: a tokenizer is for tasks that read texts.")
        if self.form.inputs == "texts":
            return chain.from_iterable(self.inputs)
        if self.form.targets == "text":
            return chain(self.inputs, self.targets or ())
        return (" ".join(row) for row in self.inputs) if self.form.inputs == "words" else iter(self.inputs)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the rows in order, inputs and targets."""
        digest = hashlib.sha256(f"{self.task} {len(self)}".encode())
        for piece in self._content():
            digest.update(len(piece).to_bytes(8, "little") + piece)
        return digest.hexdigest()

    def _content(self) -> Iterator[bytes]:
        if self.form.inputs == "image":
            yield from self.inputs.content()  # type: ignore[attr-defined]
        elif self.form.inputs in ("words", "texts"):
            yield from ("\x1f".join(row).encode() for row in self.inputs)
        else:
            yield from (row.encode() for row in self.inputs)
        if self.form.lists:
            yield from (str(tuple(map(int, row))).encode() for row in self.targets or ())
        elif self.form.targets == "number":
            yield str(list(map(float, self.targets if self.targets is not None else ()))).encode()
        elif self.form.targets == "text":
            yield from (text.encode() for text in self.targets or ())
        elif self.targets is not None:
            yield str(list(map(int, self.targets))).encode()


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows in three splits, each read on first access; `labels` are the names, in the order of their numbers."""

    name: str
    task: TaskName
    labels: tuple[str, ...]
    parts: Mapping[str, Callable[[], Split]]  # train, validation, test and extra splits
    provenance: Provenance
    notes: tuple[str, ...] = ()  # what was skipped, truncated or found while reading

    @property
    def form(self) -> Form:
        """What a row holds."""
        return FORMS[self.task]

    @cached_property
    def _read(self) -> dict[str, Split]:
        return {}

    def part(self, name: str) -> Split:
        """Return a split by name: one of the three, or an extra one (`extras`)."""
        if name not in self.parts:
            raise GlassformerError(
                f"{self.name} has no part '{shown(name)}'.{nearest(name, self.parts)} It has {', '.join(self.parts)}."
            )
        if name not in self._read:
            self._read[name] = self.parts[name]()
        return self._read[name]

    @property
    def train(self) -> Split:
        """The training split."""
        return self.part("train")

    @property
    def validation(self) -> Split:
        """The validation split, used for decisions during training."""
        return self.part("validation")

    @property
    def test(self) -> Split:
        """The test split, used once, at the end."""
        return self.part("test")

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of extra splits, such as a test split from another domain."""
        return tuple(name for name in self.parts if name not in PARTS)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of task, labels and rows of the three splits: equal exactly if training would see the same data."""
        parts = [self.part(name).fingerprint for name in PARTS]
        return hashlib.sha256("\x1f".join([self.task, *self.labels, *parts]).encode()).hexdigest()
