"""A data set in figures: rows a part and a label, lengths, and some rows to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.training.data.dataset import Dataset, Split
from glassformer.training.data.images import Pictures


@dataclass(frozen=True)
class Lengths:
    """How long the texts of a part are, in words and in characters; words are what stands between blanks."""

    unit: str
    shortest: int
    median: float
    mean: float
    most: float  # 95 of 100 are no longer
    longest: int


@dataclass(frozen=True)
class Description:
    """What `describe` found."""

    dataset: Dataset
    rows: dict[str, int]  # by part
    labels: dict[str, dict[str, int]]  # by part, then label; of a tagged set, words
    lengths: dict[str, list[Lengths]]  # by part
    sample: list[tuple[Any, Any]]  # the first training rows with their label names

    def to_dict(self) -> dict[str, Any]:
        """One JSON document."""
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
    """Count, measure, and take some rows of the training part."""
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
    """The first rows; where these are all of one class, as in folders read class by class, the first of each, then the second."""
    first = list(range(min(rows, len(train))))
    labels = train.targets
    if labels is None or train.task == "tag" or len({labels[place] for place in first}) > 1:
        return first
    turns: dict[int, int] = {}
    ranked = []
    for place, label in enumerate(labels):
        turns[label] = turns.get(label, -1) + 1
        ranked.append((turns[label], place))
    return [place for _, place in sorted(ranked)[:rows]]


def _counted(part: Split, labels: tuple[str, ...]) -> dict[str, int]:
    targets: Sequence[Any] = () if part.targets is None else part.targets
    found = Counter(number for row in targets for number in row) if part.task == "tag" else Counter(map(int, targets))
    return {label: found[number] for number, label in enumerate(labels)}


def _lengths(part: Split) -> list[Lengths]:
    if part.task == "image":
        return []
    if part.task == "tag":
        counts = {"words": [len(row) for row in part.inputs]}
    else:
        counts = {"words": [len(text.split()) for text in part.inputs]}
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
    return [labels[number] for number in target] if part.task == "tag" else labels[int(target)]


def _plain(one: Any) -> Any:
    return one.tolist() if isinstance(one, np.ndarray) else list(one) if isinstance(one, tuple) else one


def picture_size(data: Dataset) -> str:
    """`1 × 28 × 28` of an image set."""
    assert isinstance(data.train.inputs, Pictures)
    return " × ".join(map(str, data.train.inputs.shape))
