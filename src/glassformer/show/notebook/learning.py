"""Presentation of training in notebooks: the curves of runs as charts, and a table that compares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.arguments import path
from glassformer.configs.reading import is_there
from glassformer.errors import GlassformerError
from glassformer.show.curve_charts import charts
from glassformer.show.curves import METRICS, Curve, curves_table, distinct_names, read_curve, runs_in
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, tags
from glassformer.show.present import present
from glassformer.show.report.learned import learned_section, read_run
from glassformer.spec.viewed import Viewed


@dataclass(frozen=True)
class Curves(Viewed):
    """Several runs on shared axes."""

    curves: tuple[Curve, ...]

    def __str__(self) -> str:
        return curves_table(self.curves).text()

    def to_dict(self) -> list[dict[str, Any]]:
        """The text of the table."""
        return [curve.to_dict() for curve in self.curves]


def curves(*runs: str | Path) -> Curves:
    """The curves of run folders: `curves("runs/digits-1", "runs/digits-2")`, or of all runs in a folder."""
    if not runs:
        raise GlassformerError("no run is given: give the folder of one or several runs.")
    paths = [run for name in runs for run in runs_meant(path("run", name))]
    return Curves(tuple(read_curve(run, name) for run, name in zip(paths, distinct_names(paths), strict=True)))


def runs_meant(folder: Path) -> list[Path]:
    """The run itself, or all runs with a log in the folder."""
    if not is_there(str(folder)) or not folder.is_dir() or (folder / METRICS).exists():
        return [folder]
    return [run for run in runs_in(folder) if (run / METRICS).exists()] or [folder]


@dataclass(frozen=True)
class CurvesView:
    """Charts, then the table."""

    curves: tuple[Curve, ...]

    def text(self) -> str:
        return curves_table(self.curves).text()

    def html(self) -> Html:
        return fragment(charts(self.curves), curves_table(self.curves).markup())


@dataclass(frozen=True)
class RunView:
    """A run folder: its curves, its epochs, predicted and measured costs."""

    path: Path

    def text(self) -> str:
        try:
            return curves_table([read_curve(self.path)]).text()
        except GlassformerError as error:
            return str(error)

    def html(self) -> Html:
        try:
            return fragment(tags.p(tags.strong(self.path.name)), learned_section(read_run(self.path)).html)
        except GlassformerError as error:
            return fragment(tags.p(str(error)))


@present.register
def _curves(found: Curves) -> CurvesView:
    return CurvesView(found.curves)


@present.register
def _curve(curve: Curve) -> CurvesView:
    return CurvesView((curve,))


def of_torch_room(found: Any) -> RunView | CurvesView:
    """The view of a training run (recognised by its folder) or of several (by their curves)."""
    return CurvesView(tuple(found.curves)) if hasattr(found, "curves") else RunView(Path(found.path))
