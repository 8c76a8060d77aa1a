"""Ablation over data: the change of accuracy and loss when each head, feed-forward block or layer is silenced."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from glassformer.encoding.scores import Interval, wilson
from glassformer.insight.grid import Grid
from glassformer.insight.kept_rows import KeptRows
from glassformer.insight.labelled import Labelled
from glassformer.insight.silencing import KINDS, Kind, Part, Silencer
from glassformer.model.core import Layout
from glassformer.model.encoder import Inputs, Output
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

RESAMPLES = 1000
RESAMPLES_AT_ONCE = 50

Array = NDArray[np.float64]
Told = Callable[[int, int], None]  # rows done, rows in all


class Silenced(NamedTuple):
    """A part, and the change of accuracy and loss without it, each with a 95% bootstrap interval over rows."""

    part: Part
    accuracy: Interval
    loss: Interval

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        changes = {"accuracy": self.accuracy.to_dict(), "loss": self.loss.to_dict()}
        return {"name": self.part.name, **self.part._asdict(), **changes}


@dataclass(frozen=True, repr=False)
class Ablation(Viewed):
    """What each part is worth on labelled data. Changes are paired: the same rows with and without the part."""

    model: str
    data: str
    part: str
    rows: int
    accuracy: Interval
    loss: float
    silenced: tuple[Silenced, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<Ablation of {len(self.silenced)} parts of {self.model} on {self.rows:,} rows of {self.data}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer ablate --json`."""
        plain = {name: value for name, value in vars(self).items() if name not in ("accuracy", "silenced")}
        return plain | {"accuracy": self.accuracy.to_dict(), "silenced": [one.to_dict() for one in self.silenced]}

    def grids(self) -> list[Grid]:
        """The change of accuracy by layer and head, and beside the heads that of the feed-forward block and the layer."""
        layers = sorted({one.part.layer for one in self.silenced})
        columns = list(dict.fromkeys(_column(one.part) for one in self.silenced))
        cells = {(one.part.layer, _column(one.part)): one.accuracy.value for one in self.silenced}
        values = [[100 * cells.get((layer, column), math.nan) for column in columns] for layer in layers]
        title = f"{self.model} on {self.data} ({self.part}): accuracy {self.accuracy.value:.1%}"
        return [Grid(title, [f"layer {layer}" for layer in layers], columns, values, "change of accuracy, points")]

    def free(self, most: float = 0.01, kind: Kind = "head") -> int:
        """How many parts of a kind can be silenced, one at a time, for a loss of accuracy of at most `most`."""
        return sum(one.accuracy.value >= -most for one in self.silenced if one.part.kind == kind)


def _column(part: Part) -> str:
    return f"head {part.head}" if part.kind == "head" else part.kind


def ablate(
    model: LoadedModel, rows: Labelled, *, kinds: Sequence[Kind] = KINDS, kept: KeptRows | None = None, told: Told | None = None
) -> Ablation:
    """Silence each part in turn on all rows. With `kept`, finished rows are stored, and a second call goes on after them."""
    with evaluating(every_module(model.encoder)), torch.inference_mode():
        silencer = Silencer(model.encoder, kinds)
        found = []
        for number, (start, chunk) in enumerate(rows.chunks()):
            outcome = kept.read(number) if kept is not None else None
            if outcome is None:
                outcome = _outcome(silencer, model, rows, chunk)
                if kept is not None:
                    kept.write(number, outcome)
            found.append(outcome)
            if told is not None:
                told(start + len(chunk), len(rows))
    right, losses = np.concatenate(found, axis=2).astype(np.float64)
    return _ablation(rows, silencer.parts, right, losses)


def _outcome(silencer: Silencer, model: LoadedModel, rows: Labelled, chunk: range) -> NDArray[np.float32]:
    """[right or loss, part, row]: whether each row is right, and its loss; the first part is none."""
    targets = rows.targets[chunk.start : chunk.stop]
    outcome = np.zeros((2, len(silencer.parts) + 1, len(chunk)), dtype=np.float32)

    def run(given: Inputs, layout: Layout) -> Output:
        logits = torch.stack([one.float() for one in silencer.logits(given, layout)], dim=1)
        return Output(logits, None, logits, {}, ())

    for members, logits_BPC in rows.batches(model, chunk, run, silencer.onward.encoder):
        wanted = torch.from_numpy(targets[members])
        right, loss = scored(logits_BPC, wanted)
        outcome[0][:, members], outcome[1][:, members] = right.T.numpy(), loss.T.numpy()
    return outcome


def scored(logits_BPC: Tensor, wanted_B: Tensor) -> tuple[Tensor, Tensor]:
    """Whether the largest logit is the label's, and the cross-entropy, by row and part."""
    logits_BPC = logits_BPC.cpu()
    wanted_BP = wanted_B[:, None].expand(logits_BPC.shape[:2])
    loss_BP = functional.cross_entropy(logits_BPC.mT, wanted_BP, reduction="none")
    return logits_BPC.argmax(-1) == wanted_BP, loss_BP


def _ablation(rows: Labelled, parts: Sequence[Part], right: Array, losses: Array) -> Ablation:
    accuracy, loss = changes(right), changes(losses)
    return Ablation(
        model=rows.model,
        data=rows.data,
        part=rows.part,
        rows=len(rows),
        accuracy=wilson(int(right[0].sum()), len(rows)),
        loss=float(losses[0].mean()),
        silenced=tuple(Silenced(*one) for one in zip(parts, accuracy, loss, strict=True)),
        notes=tuple(rows.notes),
    )


def changes(figures: Array) -> list[Interval]:
    """The mean change of each later row of `figures` [part, row] against the first, with percentile bootstrap intervals."""
    moved = figures[1:] - figures[:1]
    count = moved.shape[1]
    random = np.random.default_rng(0)
    means = [_resampled(random, moved, min(RESAMPLES_AT_ONCE, RESAMPLES - done)) for done in _steps()]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975], axis=0) if count else (np.zeros(len(moved)),) * 2
    return [Interval(float(value), float(a), float(b)) for value, a, b in zip(moved.mean(1), low, high, strict=True)]


def _steps() -> Iterator[int]:
    return iter(range(0, RESAMPLES, RESAMPLES_AT_ONCE))


def _resampled(random: np.random.Generator, moved: Array, times: int) -> Array:
    """Means over rows that are drawn again with replacement, [time, part]."""
    count = moved.shape[1]
    drawn = random.multinomial(count, np.full(count, 1 / count), size=times)
    return drawn @ moved.T / count
