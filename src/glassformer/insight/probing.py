"""Probes: a linear classifier on the hidden states of each depth, and a control task that measures the capacity of the probe."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from glassformer.encoding.scores import Interval, wilson
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.insight.grid import Grid
from glassformer.insight.hooks import tapped
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.model.fast.packing import passes
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel
    from glassformer.training.data.dataset import Dataset, Split

ITERATIONS = 200
STRENGTH = 1.0  # weight of the L2 penalty, relative to the summed loss of all rows


class Probe(NamedTuple):
    """One depth: test accuracy on the labels and on the control labels, and their difference."""

    depth: str
    accuracy: Interval
    control: Interval

    @property
    def selectivity(self) -> float:
        """Accuracy minus that of the control task (Hewitt and Liang 2019)."""
        return self.accuracy.value - self.control.value

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        figures = {"accuracy": self.accuracy.to_dict(), "control": self.control.to_dict()}
        return {"depth": self.depth, **figures, "selectivity": self.selectivity}


@dataclass(frozen=True, repr=False)
class Probes(Viewed):
    """A probe for each depth, from the embeddings to the last layer."""

    model: str
    data: str
    train_rows: int
    test_rows: int
    always_one: float  # accuracy of always predicting the most frequent label
    probes: tuple[Probe, ...]

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<Probes of {self.model} on {self.data}: {len(self.probes)} depths>"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON document."""
        return vars(self) | {"probes": [one.to_dict() for one in self.probes]}

    def grids(self) -> list[Grid]:
        """Depths, the last on top: accuracy, control, selectivity."""
        rows = [[one.accuracy.value, one.control.value, one.selectivity] for one in self.probes[::-1]]
        texts = [[f"{value:.1%}" for value in row] for row in rows]
        columns, depths = ["accuracy", "control", "selectivity"], [one.depth for one in self.probes[::-1]]
        return [Grid(f"{self.model} on {self.data}: linear probes", depths, columns, rows, "share", signed=False, texts=texts)]


def probe(model: LoadedModel, data: Dataset, *, rows: int | None = None, seed: int = 0) -> Probes:
    """Fit a linear probe at each depth on training texts, and score it on test texts.

    The features of a text are the mean of its hidden states. In the control task the label of a text is drawn at random
    for its first word, so its accuracy shows what the probe can memorise. `rows` limits the texts of each part.
    """
    if data.task != "classify":
        raise GlassformerError(f"{data.name} is {data.task} data: probe needs texts with one label each.")
    train, test = data.part("train"), data.part("test")
    with evaluating(every_module(model.encoder)), torch.inference_mode():
        features = [_features(model, list(part.inputs)[:rows]) for part in (train, test)]
    targets = [_targets(part, rows) for part in (train, test)]
    controls = [_controls(list(part.inputs)[:rows], targets[0], seed) for part in (train, test)]
    depths = ["embeddings", *(f"layer {number}" for number in range(model.spec.layers))]
    found = []
    for number, depth in enumerate(depths):
        fitting, testing = features[0][number], features[1][number]
        right = [_right(fitting, one[0], testing, one[1], len(data.labels)) for one in (targets, controls)]
        found.append(Probe(depth, *(wilson(count, len(testing)) for count in right)))
    always = float(np.bincount(targets[1]).max() / len(targets[1]))
    return Probes(path_text(model.folder.path), data.name, len(targets[0]), len(targets[1]), always, tuple(found))


def _targets(part: Split, rows: int | None) -> NDArray[np.int64]:
    assert part.targets is not None
    found = np.array([int(label) for label in part.targets], dtype=np.int64)[:rows]
    if not len(found):
        raise GlassformerError(f"the part {part.name} has no rows: probe needs texts to fit and texts to test.")
    return found


def _controls(texts: Sequence[str], labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A random label for each first word, drawn with the label frequencies of the training texts."""

    def place(text: str) -> int:
        first = (text.lower().split() or [""])[0]
        digest = hashlib.sha256(f"{seed} {first}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % len(labels)

    return labels[[place(text) for text in texts]]


def _features(model: LoadedModel, texts: Sequence[str]) -> list[Tensor]:
    """The mean hidden state of each text, [text, d_model], for each depth."""
    names = ["x", *(f"layers.{number}.out" for number in range(model.spec.layers))]
    seen: dict[str, Tensor] = {}
    encoder = tapped(model.encoder, {name: partial(seen.__setitem__, name) for name in names})
    found = [torch.zeros(len(texts), model.spec.d_model) for _ in names]
    for window in model._windows(texts, {"truncate": True, "empty": "encode"}):
        for members, _, layout in passes(encoder, window.ids, window.segments):
            numbers = [window.numbers[member] for member in members]
            for depth, name in enumerate(names):
                found[depth][numbers] = layout.mean(seen[name]).float().cpu()
    return found


def _right(fit: Tensor, labels: NDArray[np.int64], test: Tensor, wanted: NDArray[np.int64], classes: int) -> int:
    """How many test rows a multinomial logistic regression on standardised features gets right."""
    mean, spread = fit.mean(0), fit.std(0).clamp(min=1e-6)
    fit, test = ((part - mean).double() / spread for part in (fit, test))
    targets = torch.from_numpy(labels)
    weight = torch.zeros(classes, fit.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(classes, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> float:
        optimizer.zero_grad()
        summed = functional.cross_entropy(functional.linear(fit, weight, bias), targets, reduction="sum")
        value = (summed + STRENGTH / 2 * weight.square().sum()) / len(targets)
        value.backward()
        return float(value.detach())

    optimizer.step(loss)
    said = functional.linear(test, weight.detach(), bias.detach()).argmax(-1)
    return int((said == torch.from_numpy(wanted)).sum())
