"""How training looks in a notebook: the curves of runs as charts, and the table that compares them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from glassformer.show.curve_charts import charts
from glassformer.show.curves import Curve, curves_table, read_curve
from glassformer.show.notebook.frame import framed
from glassformer.show.present import present
from glassformer.show.report.learned import learned_section, read_run
from glassformer.spec import GlassformerError
from glassformer.spec.viewed import Viewed


@dataclass(frozen=True)
class Curves(Viewed):
    """Several runs on shared axes."""

    curves: tuple[Curve, ...]

    def __str__(self) -> str:
        return curves_table(self.curves).text()

    def to_dict(self) -> list[dict[str, Any]]:
        """What the table says."""
        return [curve.to_dict() for curve in self.curves]


def curves(*runs: str | Path) -> Curves:
    """The curves of run folders: `curves("runs/digits-1", "runs/digits-2")`."""
    if not runs:
        raise GlassformerError("which runs? Give the folder of one, or of several.")
    return Curves(tuple(read_curve(run) for run in runs))


@dataclass(frozen=True)
class CurvesView:
    """Charts, then the table."""

    curves: tuple[Curve, ...]

    def text(self) -> str:
        return curves_table(self.curves).text()

    def html(self) -> str:
        return framed(charts(self.curves) + curves_table(self.curves).html())


@dataclass(frozen=True)
class RunView:
    """A run folder: its curves, its epochs, what was predicted and measured."""

    path: Path

    def text(self) -> str:
        try:
            return curves_table([read_curve(self.path)]).text()
        except GlassformerError as error:
            return str(error)

    def html(self) -> str:
        try:
            return framed(f"<p><strong>{escape(self.path.name)}</strong></p>{learned_section(read_run(self.path)).html}")
        except GlassformerError as error:
            return framed(f"<p>{escape(str(error))}</p>")


@present.register
def _curves(found: Curves) -> CurvesView:
    return CurvesView(found.curves)


@present.register
def _curve(curve: Curve) -> CurvesView:
    return CurvesView((curve,))


def of_torch_room(run: Any) -> RunView:
    """A training run, known by its folder."""
    return RunView(Path(run.path))
