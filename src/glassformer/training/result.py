"""Results of training: the run folder, the best epoch and the metrics, with curves in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.show.curves import Curve, curves_table, read_curve
from glassformer.show.metric import ACCURACY, Metric, metric_of
from glassformer.spec.viewed import Presentation, Viewed

if TYPE_CHECKING:
    from glassformer.training.runs import Run


@dataclass(frozen=True, repr=False)
class Trained(Viewed):
    """A finished run; `gf.load(trained.folder)` loads its best weights."""

    run: Run
    metrics: dict[str, Any]  # of the whole run: step, epochs, best, test, seconds, peak_bytes, measured

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.run.path

    @property
    def best_epoch(self) -> int:
        """The epoch with the best validation result, counted from 1; its weights are in `folder / "best"`."""
        return int(self.metrics["best"]["epoch"])

    @property
    def metric(self) -> Metric:
        """The metric of the task."""
        return metric_of(self.folder)

    @property
    def score(self) -> float:
        """The metric of the best weights on the test data."""
        return self.metric.of(self.metrics["test"])

    @property
    def accuracy(self) -> float:
        """Test accuracy of the best weights, over rows (or words, or masked tokens); NaN for tasks without one."""
        return ACCURACY.of(self.metrics["test"])

    @property
    def curves(self) -> list[Curve]:
        """Loss and metric of each epoch."""
        return [read_curve(self.folder)]

    def presented(self) -> Presentation:
        """The notebook view of the run: curves, epochs, predictions and measurements."""
        return self.run.presented()

    def __str__(self) -> str:
        return "\n".join([curves_table(self.curves).text(), *self.lines()])

    def __repr__(self) -> str:
        return f"Trained({str(self.folder)!r}, best_epoch={self.best_epoch}, {self.metric.name}={self.score:.3f})"

    def lines(self) -> list[str]:
        """Test metric and scores, best epoch and folder."""
        test, best = self.metrics["test"], self.metrics["best"]
        which = f"mean of {best['averaged']} epochs" if "averaged" in best else f"epoch {self.best_epoch}, the best"
        written = [f"test BLEU {test['bleu']:.1f}, chrF {test['chrf']:.1f}"] if "bleu" in test else []
        return [*written, f"test {self.metric.name} {self.metric.text(self.score)} ({which}); run: {self.folder}"]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer train --json`."""
        return {"run": str(self.folder), "parameters": self.run.about.get("counts", {}), **self.metrics}


@dataclass(frozen=True, repr=False)
class TrainedRuns(Viewed):
    """Several runs in one folder that differ in the number of epochs."""

    folder: Path
    runs: tuple[Trained, ...]

    @property
    def curves(self) -> list[Curve]:
        """The curve of each run."""
        return [curve for run in self.runs for curve in run.curves]

    def __str__(self) -> str:
        return "\n".join([curves_table(self.curves).text(), *self.lines()])

    def __repr__(self) -> str:
        return f"TrainedRuns({str(self.folder)!r}, runs=[{', '.join(map(repr, self.runs))}])"

    def lines(self) -> list[str]:
        """One line per run, then the files that compare them."""
        compared = f"compared: {self.folder / 'curves.png'}, comparison.md, comparison.json"
        return [*(line for run in self.runs for line in run.lines()), compared]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer train --epochs 10,30 --json`."""
        return {"runs": [run.to_dict() for run in self.runs], "comparison": [curve.to_dict() for curve in self.curves]}
