"""The metric of a run: its name, its format, and which of two validations is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from glassformer.checkpoints.folder import RUN
from glassformer.errors import GlassformerError
from glassformer.files.documents import read_document

SETTINGS = "settings.json"  # in a run folder
Decider = Literal["metric", "loss"]


class Metric(NamedTuple):
    """The metric of a task besides its loss; larger is better, unless `smaller`."""

    name: str = "accuracy"
    percent: bool = True  # its format
    decider: Decider = "metric"  # compares two validations; with equal metrics, the loss decides
    smaller: bool = False  # whether a smaller value is better

    def text(self, value: float, digits: int = 1) -> str:
        """Format a value; a dot if there is none."""
        if math.isnan(value):
            return "·"
        return f"{value:.{digits}%}" if self.percent else f"{value:.{digits + 2}f}"

    def of(self, figures: Mapping[str, Any]) -> float:
        """Return the metric among some figures; NaN if there is none."""
        return float(figures.get(self.name, math.nan))

    def merit(self, value: float, loss: float) -> tuple[float, ...]:
        """Return the key to compare validations, larger is better; a metric that has no value is the worst."""
        if self.decider == "loss":
            return (-loss,)
        return (-math.inf if math.isnan(value) else -value if self.smaller else value, -loss)


ACCURACY = Metric()


def metric_of(run: Path) -> Metric:
    """Return the metric of a run folder, according to its settings; accuracy if the folder does not name one."""
    about, settings = _document(run / RUN), _document(run / SETTINGS)
    said = about.get("metric")
    metric = ACCURACY
    if isinstance(said, dict) and isinstance(said.get("name"), str):
        decider: Decider = "loss" if said.get("decider") == "loss" else "metric"
        metric = Metric(said["name"][:40], said.get("percent") is True, decider, said.get("smaller") is True)
    elif isinstance(about.get("data"), dict) and about["data"].get("task") == "mlm":  # a run of version 0.1.0
        metric = ACCURACY._replace(decider="loss")
    return decided_by(metric, settings.get("best_by"))


def decided_by(metric: Metric, best_by: Any) -> Metric:
    """Return the metric with the comparison of the setting `best_by`."""
    deciders: dict[Any, Decider] = {"loss": "loss", "metric": "metric", "accuracy": "metric"}
    found = deciders.get(best_by) if isinstance(best_by, str) else None
    return metric if found is None else metric._replace(decider=found)


def _document(path: Path) -> dict[str, Any]:
    try:
        return read_document(path)
    except GlassformerError:
        return {}
