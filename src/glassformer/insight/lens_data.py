"""The lens over data: the accuracy and the loss of what each depth would answer, on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from glassformer.encoding.scores import Interval, wilson
from glassformer.errors import GlassformerError
from glassformer.insight.ablation import Told, scored
from glassformer.insight.grid import Grid
from glassformer.insight.labelled import Labelled
from glassformer.insight.lens import depth_names
from glassformer.insight.silencing import Onward, finish
from glassformer.model.core import Layout
from glassformer.model.encoder import Inputs, Output
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel


class DepthFigures(NamedTuple):
    """What the head makes of the hidden states at one depth, over all rows."""

    depth: str
    accuracy: Interval
    loss: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"depth": self.depth, "accuracy": self.accuracy.to_dict(), "loss": self.loss}


@dataclass(frozen=True, repr=False)
class LensOverData(Viewed):
    """Accuracy and loss by depth, from the embeddings to the last layer, which is the model itself."""

    model: str
    data: str
    part: str
    rows: int
    depths: tuple[DepthFigures, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<LensOverData of {self.model} on {self.rows:,} rows of {self.data}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer lens CHECKPOINT DATA --json`."""
        return vars(self) | {"depths": [one.to_dict() for one in self.depths]}

    def grids(self) -> list[Grid]:
        """One column of accuracies, the last depth on top."""
        above = self.depths[::-1]
        values = [[one.accuracy.value] for one in above]
        texts = [[f"{one.accuracy.value:.1%}"] for one in above]
        title = f"Lens of {self.model} on {self.data} ({self.part})"
        return [Grid(title, [one.depth for one in above], ["accuracy"], values, "accuracy", signed=False, texts=texts)]


def lens_over(model: LoadedModel, rows: Labelled, *, told: Told | None = None) -> LensOverData:
    """Read the hidden states of every depth through final norm, pooler and head, for all rows."""
    if model.spec.layer_sum:
        raise GlassformerError("this head reads a sum of all layers, so that no single depth has an answer.")
    names = depth_names(model.spec.layers)
    outcome = np.zeros((2, len(names), len(rows)))
    with evaluating(every_module(model.encoder)), torch.inference_mode():
        onward = Onward(model.encoder)

        def run(given: Inputs, layout: Layout) -> Output:
            begun = onward.begin(given, layout, whole=True)
            logits = torch.stack([_answered(onward, state, layout) for state in begun.states], dim=1)
            return Output(logits, None, logits, {}, ())

        for start, chunk in rows.chunks():
            targets = rows.targets[chunk.start : chunk.stop]
            for members, logits_BPC in rows.batches(model, chunk, run, onward.encoder):
                right, loss = scored(logits_BPC, torch.from_numpy(targets[members]))
                places = [start + member for member in members]
                outcome[0][:, places], outcome[1][:, places] = right.T.numpy(), loss.T.numpy()
            if told is not None:
                told(start + len(chunk), len(rows))
    figures = (
        DepthFigures(name, wilson(int(right.sum()), len(rows)), float(losses.mean()))
        for name, right, losses in zip(names, *outcome, strict=True)
    )
    return LensOverData(rows.model, rows.data, rows.part, len(rows), tuple(figures), tuple(rows.notes))


def _answered(onward: Onward, state: torch.Tensor, layout: Layout) -> torch.Tensor:
    logits = finish(onward.encoder, state, layout).logits
    assert logits is not None
    return logits.float()
