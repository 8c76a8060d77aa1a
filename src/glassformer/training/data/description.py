"""Description of a dataset: rows per split and label, lengths, and sample rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.spec.viewed import Viewed
from glassformer.training.data.dataset import Dataset, Split
from glassformer.training.data.images import Pictures
from glassformer.training.data.sets import SETS, card


@dataclass(frozen=True)
class Lengths:
    """Text lengths of a split, in words (separated by whitespace) or characters."""

    unit: str
    shortest: int
    median: float
    mean: float
    most: float  # 95th percentile
    longest: int


@dataclass(frozen=True)
class Description(Viewed):
    """The result of `describe`."""

    dataset: Dataset
    rows: dict[str, int]  # by part
    labels: dict[str, dict[str, int]]  # by part, then label; words for a tagged set
    lengths: dict[str, list[Lengths]]  # by part
    sample: list[tuple[Any, Any]]  # the first training rows with their label names

    def __str__(self) -> str:
        return self.presented().text()

    @property
    def title(self) -> str:
        """The name of the set, or its task."""
        return card(self.dataset.name).title if self.dataset.name in SETS else f"task {self.dataset.task}"

    @property
    def picture_size(self) -> str:
        """Return the size of the images, such as `1 × 28 × 28`."""
        assert isinstance(self.dataset.train.inputs, Pictures)
        return " × ".join(map(str, self.dataset.train.inputs.shape))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dict."""
        data = self.dataset
        return {
            "name": data.name,
            "task": data.task,
            "labels": list(data.labels),
            "source": data.provenance.source,
            "licence": data.provenance.licence,
            "baseline": data.provenance.baseline,
            "fingerprint": data.fingerprint,
            "notes": list(data.notes),
            "rows": self.rows,
            "counts": self.labels,
            "lengths": {part: [vars(one) for one in found] for part, found in self.lengths.items()},
            "sample": [{"input": _plain(one), "label": label} for one, label in self.sample],
        }


def describe(data: Dataset, *, rows: int = 5) -> Description:
    """Count and measure a dataset, and sample some training rows."""
    parts = {name: data.part(name) for name in data.parts}
    train = parts["train"]
    return Description(
        dataset=data,
        rows={name: len(part) for name, part in parts.items()},
        labels={name: _counted(part, data.labels) for name, part in parts.items()},
        lengths={name: _lengths(part) for name, part in parts.items()},
        sample=[(train.inputs[place], _label(train, place, data.labels)) for place in _places(train, rows)],
    )


def _places(train: Split, rows: int) -> list[int]:
    """Return the first rows; if all are of one class, as in folders read class by class, take the classes in turn."""
    first = list(range(min(rows, len(train))))
    labels = train.targets
    if labels is None or train.form.targets != "class" or len({labels[place] for place in first}) > 1:
        return first
    turns: dict[int, int] = {}
    ranked = []
    for place, label in enumerate(labels):
        turns[label] = turns.get(label, -1) + 1
        ranked.append((turns[label], place))
    return [place for _, place in sorted(ranked)[:rows]]


def _counted(part: Split, labels: tuple[str, ...]) -> dict[str, int]:
    targets: Sequence[Any] = () if part.targets is None or part.form.targets in ("number", "text") else part.targets
    found = Counter(number for row in targets for number in row) if part.form.lists else Counter(map(int, targets))
    return {label: found[number] for number, label in enumerate(labels)}


def _lengths(part: Split) -> list[Lengths]:
    if part.form.inputs == "image":
        return []
    if part.form.inputs == "words":
        counts = {"words": [len(row) for row in part.inputs]}
    else:
        counts = {"words": [len(text.split()) for text in part.texts()]}
    counts["characters"] = [len(text) for text in part.texts()]
    return [
        Lengths(
            unit,
            min(found),
            float(np.median(found)),
            round(float(np.mean(found)), 1),
            round(float(np.percentile(found, 95)), 1),
            max(found),
        )
        for unit, found in counts.items()
    ]


def _label(part: Split, place: int, labels: tuple[str, ...]) -> Any:
    if part.targets is None:
        return None
    target = part.targets[place]
    if part.form.targets == "text":
        return target
    if part.form.targets == "number":
        return float(target)
    return [labels[number] for number in target] if part.form.lists else labels[int(target)]


def _plain(one: Any) -> Any:
    return one.tolist() if isinstance(one, np.ndarray) else list(one) if isinstance(one, tuple) else one
