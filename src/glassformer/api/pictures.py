"""Pictures in Python: save the figure of a result to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from glassformer.arguments import path
from glassformer.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.insight.grid import Grid
    from glassformer.numbers.attention import Attention
    from glassformer.numbers.contributions.ledger import Contributions
    from glassformer.numbers.experiments import Experiment
    from glassformer.show.curves import Curve
    from glassformer.show.notebook.learning import Curves


@runtime_checkable
class Gridded(Protocol):
    """A result that is drawn as coloured grids: an ablation, a saliency map, a logit lens, a patching."""

    def grids(self) -> list[Grid]: ...


def save_picture(result: Attention | Contributions | Experiment | Curves | Curve | Gridded, file: str | Path) -> Path:
    """Save attention, contributions, an experiment, an insight result, or learning curves as a .png or .svg file.

    Attention is also saved as an .html page.
    """
    from glassformer.numbers.attention import Attention
    from glassformer.numbers.contributions.ledger import Contributions
    from glassformer.numbers.experiments import Experiment
    from glassformer.show.contribution_pictures import contributions_figure
    from glassformer.show.curves import Curve, save_curves
    from glassformer.show.experiment_pictures import experiment_figure
    from glassformer.show.figures import check_format
    from glassformer.show.figures import save_picture as save_figure
    from glassformer.show.grid_pictures import grids_figure
    from glassformer.show.notebook.learning import Curves
    from glassformer.show.pictures import save_attention

    file = path("file", file)
    if isinstance(result, Attention):
        return save_attention(result, file)
    if isinstance(result, Experiment):
        check_format(file)
        return save_figure(experiment_figure(result), file)
    if isinstance(result, Contributions):
        check_format(file)
        return save_figure(contributions_figure(result), file)
    if isinstance(result, Curve | Curves):
        return save_curves(result.curves if isinstance(result, Curves) else [result], file)
    if isinstance(result, Gridded):
        check_format(file)
        return save_figure(grids_figure(result.grids()), file)
    raise GlassformerError(
        f"{shown(type(result).__name__)} cannot be drawn: give attention, contributions, an experiment or learning curves."
    )
