"""Evaluation of regression, multilabel and embedding models: metrics with 95% intervals, and the worst rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.encoding.evaluation import class_places, parts_of
from glassformer.encoding.scores import Interval, bootstrap
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel
    from glassformer.training.data.dataset import Dataset, Split

Numbers = NDArray[Any]


class Worst(NamedTuple):
    """One of the rows with the worst predictions."""

    row: int  # in its part, from 1
    true: str
    predicted: str
    off: float  # error of a number, number of wrong classes, rank of a text, chrF of a translation, or loss of a text
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict()


@dataclass(frozen=True, repr=False)
class Measured(Viewed):
    """The evaluation of a model without exactly one class per row, with 95% bootstrap intervals (1,000 resamples)."""

    model: str
    data: str
    part: str
    rows: int
    task: str
    figures: dict[str, Interval]
    classes: list[dict[str, Any]]  # of several: precision, recall and F1 of each
    worst: tuple[Worst, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        name, first = next(iter(self.figures.items()))
        return f"<Measured {self.model} on {self.data} ({self.part}, {self.rows:,} rows): {name} {first.value:.4f}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer evaluate --json`."""
        figures = {name: one.to_dict() for name, one in self.figures.items()}
        return vars(self) | {"figures": figures, "worst": [one.to_dict() for one in self.worst], "notes": list(self.notes)}


class Found(NamedTuple):
    """What was measured: the figures, each class, and the worst rows."""

    figures: dict[str, Interval]
    classes: list[dict[str, Any]]
    worst: list[Worst]
    cut: int


def measured(model: LoadedModel, data: Dataset, part: str, worst: int, **reading: Any) -> Measured:
    """Evaluate a model on one part of the data, or on all of them."""
    splits = parts_of(data, part)
    count = sum(map(len, splits))
    found = MEASURES[data.task](model, data, splits, worst, reading | {"truncate": True, "empty": "encode"})
    notes = (f"{found.cut:,} texts are truncated to {model.longest:,} tokens.",) if found.cut else ()
    name = path_text(model.folder.path)
    return Measured(name, data.name, part, count, data.task, found.figures, found.classes, tuple(found.worst), notes)


def of_numbers(model: LoadedModel, data: Dataset, splits: Sequence[Split], worst: int, reading: dict[str, Any]) -> Found:
    """Correlations and errors of predicted numbers."""
    from glassformer.training.figures import pearson, spearman

    _require(model, data, "scores", classes=1)
    values, cut = _predicted(model, splits, reading)
    said, true = values[:, 0], np.concatenate([np.asarray(split.targets, dtype=np.float64) for split in splits])
    figures = bootstrap(
        {
            "pearson": lambda rows: pearson(said[rows], true[rows]),
            "spearman": lambda rows: spearman(said[rows], true[rows]),
            "mean absolute error": lambda rows: float(np.abs(said[rows] - true[rows]).mean()),
            "root mean squared error": lambda rows: float(np.sqrt(np.square(said[rows] - true[rows]).mean())),
        },
        len(true),
    )
    off, inputs = np.abs(said - true), _inputs(splits)
    order = np.argsort(-off, kind="stable")[:worst].tolist()
    rows = [Worst(row + 1, f"{true[row]:.4g}", f"{said[row]:.4g}", float(off[row]), inputs[row]) for row in order]
    return Found(figures, [], rows, cut)


def of_several(model: LoadedModel, data: Dataset, splits: Sequence[Split], worst: int, reading: dict[str, Any]) -> Found:
    """Micro- and macro-F1 of several classes for each row."""
    from glassformer.training.figures import Several

    _require(model, data, "labels")
    places, _ = class_places(model, data)
    values, cut = _predicted(model, splits, reading)
    said, true = values >= 0.5, np.zeros(values.shape, dtype=bool)
    every = [classes for split in splits for classes in (split.targets if split.targets is not None else ())]
    for row, classes in enumerate(every):
        true[row, [places[one] for one in classes]] = True
    figures = bootstrap(
        {
            "micro-F1": lambda rows: Several.of(said[rows], true[rows]).micro_f1(),
            "macro-F1": lambda rows: Several.of(said[rows], true[rows]).macro_f1(),
            "rows with all classes right": lambda rows: float((said[rows] == true[rows]).all(1).mean()),
        },
        len(true),
    )
    counts = Several.of(said, true)
    named = [
        {"label": label, "rows": int(right + missed), "said": int(right + extra), **_rates(int(right), int(extra), int(missed))}
        for label, right, extra, missed in zip(model.labels, *counts, strict=True)
    ]
    off, inputs = (said != true).sum(1), _inputs(splits)
    wrong = [row for row in np.lexsort((-np.abs(values - true).max(1), -off)).tolist() if off[row]][:worst]
    rows = [Worst(row + 1, _names(model, true[row]), _names(model, said[row]), float(off[row]), inputs[row]) for row in wrong]
    return Found(figures, named, rows, cut)


def of_embeddings(model: LoadedModel, _: Dataset, splits: Sequence[Split], worst: int, reading: dict[str, Any]) -> Found:
    """The rank of the positive of each anchor among all texts of the part."""
    from glassformer.training.figures import mean_reciprocal_rank, reciprocal_ranks

    rows = [row for split in splits for row in split.inputs]
    width, cut = len(rows[0]), 0
    every, known = [row[column] for column in range(width) for row in rows], dict[str, int]()
    numbers = np.array([known.setdefault(text, len(known)) for text in every])
    vectors = []
    for some in model.encode_stream(every, **reading):
        vectors.append(some.values)
        cut += len(some.dropped)
    anchors, others = np.split(np.concatenate(vectors), [len(rows)])
    found = reciprocal_ranks(anchors, others, numbers[: len(rows)], numbers[len(rows) : 2 * len(rows)], numbers[len(rows) :])
    figures = bootstrap(
        {
            "MRR@10": lambda chosen: mean_reciprocal_rank(found[chosen]),
            "recall@1": lambda chosen: float((found[chosen] == 1).mean()),
            "recall@10": lambda chosen: float((found[chosen] >= 1 / 10 - 1e-9).mean()),
        },
        len(rows),
    )
    order = [row for row in np.argsort(found, kind="stable")[:worst].tolist() if found[row] < 1]
    chosen = []
    for row in order:
        scores = np.where(numbers[len(rows) :] == numbers[row], -np.inf, others @ anchors[row])
        chosen.append(Worst(row + 1, rows[row][1], every[len(rows) + int(scores.argmax())], round(1 / found[row]), rows[row][0]))
    return Found(figures, [], chosen, cut)


Measure = Callable[["LoadedModel", "Dataset", "Sequence[Split]", int, dict[str, Any]], Found]
MEASURES: dict[str, Measure] = {
    "regress": of_numbers,
    "similarity": of_numbers,
    "multilabel": of_several,
    "embed": of_embeddings,
}


def _require(model: LoadedModel, data: Dataset, kind: str, classes: int | None = None) -> None:
    from glassformer.model.sentences.predictions import kind_of

    if model.spec.head != "classify" or kind_of(model.folder) != kind or classes not in (None, model.spec.classes):
        what = {"scores": "a number for each row", "labels": "any number of classes for each row"}[kind]
        raise GlassformerError(
            f"{data.name} has {what}, which {model.folder.path.name} does not predict: evaluate a model that does."
        )


def _predicted(model: LoadedModel, splits: Sequence[Split], reading: dict[str, Any]) -> tuple[Numbers, int]:
    rows: list[list[float]] = []
    cut = 0
    for split in splits:
        for some in model.predict_stream(split.inputs, **reading):
            rows += [list(one.values.values()) for one in some.values]  # type: ignore[union-attr]  # a classifier's
            cut += len(some.dropped)
    return np.array(rows, dtype=np.float64), cut


def _inputs(splits: Sequence[Split]) -> list[str]:
    return [row if isinstance(row, str) else " / ".join(row) for split in splits for row in split.inputs]


def _names(model: LoadedModel, marks: Numbers) -> str:
    return "|".join(label for label, mark in zip(model.labels, marks, strict=True) if mark) or "none"


def _rates(right: int, extra: int, missed: int) -> dict[str, float | None]:
    said, true = right + extra, right + missed
    return {
        "precision": right / said if said else None,
        "recall": right / true if true else None,
        "f1": 2 * right / (said + true) if said + true else None,
    }
