"""Evaluating a classifier on labelled data: predictions of its head against the labels of one part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.encoding.scores import (
    Calibration,
    Interval,
    calibration,
    confusion_of,
    macro_f1,
    most_confident_mistakes,
    wilson,
)
from glassformer.errors import GlassformerError, listed, shown
from glassformer.files.paths import path_text
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel
    from glassformer.training.data.dataset import Dataset, Split

IMAGES_AT_ONCE = 256
EVERY = "all"  # all parts together


class Mistake(NamedTuple):
    """A wrong prediction."""

    row: int  # in its part, from 1
    true: str
    predicted: str
    probability: float  # of the predicted label
    text: str | None  # None for an image

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict()


@dataclass(frozen=True, repr=False)
class Evaluation(Viewed):
    """The evaluation of a classifier on labelled data, with 95% intervals."""

    model: str
    data: str
    part: str
    rows: int
    labels: tuple[str, ...]
    accuracy: Interval
    macro_f1: Interval
    always_one: float  # accuracy of always predicting the most frequent label
    calibration: Calibration
    confusion: list[list[int]]  # rows are true labels, columns predicted labels
    classes: list[dict[str, Any]]  # precision, recall and F1 of each label
    mistakes: tuple[Mistake, ...]  # the most confident ones
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        where = f"{self.data} ({self.part}, {self.rows:,} rows)"
        return f"<Evaluation of {self.model} on {where}: accuracy {self.accuracy.value:.4f}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer evaluate --json`."""
        nested = ("accuracy", "macro_f1", "calibration")
        plain = {name: value for name, value in vars(self).items() if name not in (*nested, "mistakes")}
        figures = {name: getattr(self, name).to_dict() for name in nested}
        return plain | figures | {"mistakes": [one.to_dict() for one in self.mistakes]}


def evaluation(model: LoadedModel, data: Dataset, part: str, worst: int, **reading: Any) -> Evaluation:
    """Evaluate the head of a model on one part of the data, or on all of them."""
    from glassformer.training.report import by_class

    check_task(model, data, "evaluate")
    places, notes = class_places(model, data)
    splits = parts_of(data, part)
    probabilities, cut = _probabilities(model, splits, reading)
    true = np.array([places[int(label)] for split in splits for label in _targets(split)], dtype=np.int64)
    said = probabilities.argmax(1)
    confusion = confusion_of(true, said, len(model.labels))
    inputs = [
        None if data.task == "image" else one if isinstance(one, str) else " / ".join(one)
        for split in splits
        for one in split.inputs
    ]
    if cut:
        notes.append(f"{cut:,} of {len(true):,} texts are truncated to {model.longest:,} tokens.")
    return Evaluation(
        model=path_text(model.folder.path),
        data=data.name,
        part=part,
        rows=len(true),
        labels=tuple(model.labels),
        accuracy=wilson(int((said == true).sum()), len(true)),
        macro_f1=macro_f1(confusion),
        always_one=float(confusion.sum(1).max() / len(true)),
        calibration=calibration(probabilities, true),
        confusion=confusion.tolist(),
        classes=by_class(confusion.tolist(), model.labels),
        mistakes=tuple(
            Mistake(row + 1, model.labels[true[row]], model.labels[said[row]], float(probabilities[row, said[row]]), inputs[row])
            for row in most_confident_mistakes(probabilities, true, worst)
        ),
        notes=tuple(notes),
    )


def parts_of(data: Dataset, part: str) -> list[Split]:
    """Return the part that is asked for, or every part; together they have rows."""
    splits = [data.part(name) for name in (data.parts if part == EVERY else (part,))]
    if not any(map(len, splits)):
        raise GlassformerError(f"{data.name} has no rows in the part {shown(part)}: there is nothing to evaluate.")
    return splits


def _targets(split: Split) -> Sequence[Any]:
    assert split.targets is not None  # only masked-token data has none
    return split.targets


def check_task(model: LoadedModel, data: Dataset, command: str) -> None:
    """Refuse data without one label for each input, and a model that does not predict one."""
    from glassformer.model.sentences.predictions import kind_of

    if data.form.targets != "class":
        what = {"tags": "tags for words", "none": "no labels", "number": "numbers", "classes": "several labels per row"}
        raise GlassformerError(
            f"{data.name} has {what[data.form.targets]}: {command} needs one label per row, of texts or images."
        )
    if model.spec.head != "classify" or kind_of(model.folder) != "classes":
        raise GlassformerError(
            f"{model.folder.path.name} is not a classifier with one label per input: {command} cannot evaluate it."
        )
    wanted = "image" if data.task == "image" else "tokens"
    if model.spec.reads != wanted:
        raise GlassformerError(f"{model.folder.path.name} reads {model.spec.reads}, but {data.name} has the task {data.task}.")


def class_places(model: LoadedModel, data: Dataset) -> tuple[list[int], list[str]]:
    """Return the model's class for each label of the data, and notes."""
    known = {label: place for place, label in enumerate(model.labels)}
    unknown = [label for label in data.labels if label not in known]
    if not unknown:
        return [known[label] for label in data.labels], []
    unnamed = model.labels == [f"LABEL_{i}" for i in range(len(model.labels))]
    if unnamed and len(data.labels) == len(model.labels):
        return list(range(len(model.labels))), ["the model's labels have no names: they are matched with the data's by number."]
    raise GlassformerError(
        f"{data.name} has labels that {model.folder.path.name} lacks: {listed(map(shown, unknown))}. "
        f"The model has {listed(map(shown, model.labels))}."
    )


def row_losses(model: LoadedModel, data: Dataset, part: str) -> NDArray[np.float64]:
    """The loss of each row of a part: minus the logarithm of the probability of its label."""
    check_task(model, data, "evaluate")
    places, _ = class_places(model, data)
    split = data.part(part)
    probabilities, _ = _probabilities(model, [split], {})
    true = np.array([places[int(label)] for label in _targets(split)], dtype=np.int64)
    found: NDArray[np.float64] = -np.log(np.maximum(probabilities[np.arange(len(true)), true], np.finfo(np.float64).tiny))
    return found


def _probabilities(model: LoadedModel, splits: list[Split], reading: dict[str, Any]) -> tuple[NDArray[Any], int]:
    """Return the probabilities [row, class] in order, and how many texts were truncated."""
    rows, cut = [], 0
    for split in splits:
        if split.task == "image":
            rows += _of_images(model, split)
            continue
        for some in model.predict_stream(split.inputs, truncate=True, empty="encode", **reading):
            rows += [list(one.values.values()) for one in some.values]  # type: ignore[union-attr]  # a classifier's
            cut += len(some.dropped)
    return np.array(rows, dtype=np.float64).reshape(-1, len(model.labels)), cut


def _of_images(model: LoadedModel, split: Split) -> list[list[float]]:
    from glassformer.training.data.prepare import prepare

    made = prepare(split)
    numbers = np.arange(len(split), dtype=np.int64)
    batches = (numbers[start : start + IMAGES_AT_ONCE] for start in range(0, len(split), IMAGES_AT_ONCE))
    return [list(one.values.values()) for ids in batches for one in model.predict(made.batch(ids, seed=0, epoch=0).inputs)]
