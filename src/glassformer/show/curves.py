"""Learning curves: loss and metric of one or several runs, and the epoch with the lowest validation loss."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from glassformer.arguments import path as given_path
from glassformer.checkpoints.folder import RUN
from glassformer.configs.reading import is_there
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import no_such
from glassformer.show.colours import LINES
from glassformer.show.figures import Axes, Figure, check_format, drawn, figures, new_figure, save_picture
from glassformer.show.metric import ACCURACY, Metric, metric_of
from glassformer.show.table import Column, Table
from glassformer.spec.viewed import Viewed

METRICS = "metrics.jsonl"
HUES = (LINES.first, LINES.second, "#2a8c55", "#a3397f", "#6b5bb5", "#8a6d1c")
MARGIN = 1.02  # overfitting: the validation loss ends at least this far above its minimum
MOST_BYTES = 256_000_000
Row: TypeAlias = tuple[float, float, float, float]  # loss while training and validating, then the metric of both


@dataclass(frozen=True)
class Curve(Viewed):
    """The metrics of a run, one value of each per epoch."""

    name: str
    train_loss: tuple[float, ...]
    validation_loss: tuple[float, ...]
    train_score: tuple[float, ...]  # of the metric; NaN if it is not measured in training
    validation_score: tuple[float, ...]
    metric: Metric = ACCURACY

    @property
    def epochs(self) -> range:
        """1, 2, …"""
        return range(1, len(self.validation_loss) + 1)

    @property
    def least(self) -> int:
        """The epoch of the lowest validation loss."""
        return 1 + min(range(len(self.validation_loss)), key=self.validation_loss.__getitem__)

    @property
    def best(self) -> int:
        """The epoch with the best validation result (the first of equal ones), whose weights the run keeps."""
        ranks = [self.metric.merit(*pair) for pair in zip(self.validation_score, self.validation_loss, strict=True)]
        return 1 + ranks.index(max(ranks))

    @property
    def turn(self) -> int | None:
        """The epoch with the lowest validation loss; None if it is the last epoch."""
        return self.least if self.least < len(self.validation_loss) else None

    @property
    def overfits(self) -> bool:
        """Whether the validation loss rose until the end while the training loss still fell.

        A single low epoch is noise: the loss must end above the median of the lowest epoch and its neighbours, and at least
        two epochs must follow the lowest.
        """
        turn = self.turn
        if turn is None or turn + 2 > len(self.validation_loss):
            return False
        level = median(self.validation_loss[max(0, turn - 2) : turn + 1])
        rose = self.validation_loss[-1] > MARGIN * level
        return rose and self.train_loss[-1] < self.train_loss[turn - 1]

    def to_dict(self) -> dict[str, Any]:
        """The content of the table."""
        return {
            "run": self.name,
            "epochs": len(self.epochs),
            "train_loss": self.train_loss[-1],
            "validation_loss": self.validation_loss[-1],
            f"validation_{self.metric.name}": self.validation_score[-1],
            f"best_{self.metric.name}": self.validation_score[self.best - 1],
            "best_epoch": self.best,
            "least_loss": self.validation_loss[self.least - 1],
            "turn": self.turn,
            "overfits": self.overfits,
        }


def read_curve(run: str | Path, name: str | None = None) -> Curve:
    """The curve of a run folder, or of a metrics.jsonl; a truncated last line is ignored."""
    run = given_path("run", run)
    path = run
    try:
        path = run / METRICS if run.is_dir() else run
        if path.stat().st_size > MOST_BYTES:
            raise GlassformerError(f"{shown(str(path))} is larger than {MOST_BYTES:,} bytes. It was not read.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        if not run.exists():
            raise no_such(run, "folder", wanted="Give the folder of a run, as written by 'glassformer train'.") from None
        raise GlassformerError(f"{shown(str(run))} has no {METRICS}: is it the folder of a run?") from None
    except (OSError, UnicodeError, ValueError) as error:
        if isinstance(error, GlassformerError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise GlassformerError(f"{shown(str(path))} cannot be read: {shown(why)}. Give the folder of a run.") from None
    metric = metric_of(path.parent)
    found = (_row(path, number, line, metric, last=number == len(lines)) for number, line in enumerate(lines, 1))
    rows = [row for row in found if row]
    if not rows:
        raise GlassformerError(f"{shown(str(run))} has no finished epoch yet: there is nothing to draw.")
    named = name or (run.resolve().name if run.is_dir() else run.stem)
    return curve_of(rows, named, metric)


def runs_in(folder: Path) -> list[Path]:
    """The run folders in a folder, `epochs-5` before `epochs-10`."""
    try:
        found = [entry for entry in folder.iterdir() if (entry / RUN).is_file()]
    except (OSError, ValueError):
        return []
    return sorted(found, key=lambda path: re.sub(r"\d+", lambda digits: digits[0].rjust(20, "0"), path.name))


def distinct_names(runs: Sequence[Path]) -> list[str]:
    """Return the name of each run: that of its folder, with the parent folder if two names are equal."""
    folders = [run if is_there(str(run)) and run.is_dir() else run.parent / run.stem for run in runs]
    paths = [Path(os.path.realpath(folder)) for folder in folders]
    names = [path.name for path in paths]
    return [path.name if names.count(path.name) == 1 else f"{path.parent.name}/{path.name}" for path in paths]


def curve_of(rows: Sequence[Row], name: str, metric: Metric) -> Curve:
    """The curve of at least one epoch."""
    train_loss, validation_loss, train_score, validation_score = zip(*rows, strict=True)
    return Curve(name, train_loss, validation_loss, train_score, validation_score, metric)


def epoch_row(line: Mapping[str, Any], metric: Metric) -> Row:
    """The figures of a line of a log; ValueError, KeyError or TypeError if it is not the line of an epoch."""
    train, validation = line["train"], line["validation"]
    return float(train["loss"]), float(validation["loss"]), metric.of(train), float(validation[metric.name])


def _row(path: Path, number: int, line: str, metric: Metric, *, last: bool) -> Row | None:
    try:
        found = json.loads(line)
        return epoch_row(found, metric) if found["kind"] == "epoch" else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        if last:
            return None
        raise GlassformerError(f"{shown(str(path))} line {number} is not a line of a training log.") from None


def curves_table(curves: Sequence[Curve]) -> Table:
    """One row per run: the last epoch, the best epoch, and whether it overfits."""
    names = list(dict.fromkeys(curve.metric.name for curve in curves))
    heads = ("epochs", "training loss", "validation loss", " or ".join(names), "best", "at epoch", "loss turned at")
    rows = []
    for curve in curves:
        said = curve.to_dict()
        numbers = [f"{said['epochs']}", f"{said['train_loss']:.4f}", f"{said['validation_loss']:.4f}"]
        scores = (curve.validation_score[-1], curve.validation_score[curve.best - 1])
        numbers += [*map(curve.metric.text, scores), f"{said['best_epoch']}"]
        rows.append([curve.name, *numbers, "·" if curve.turn is None else str(curve.turn)])
    notes = [_overfitting(curve) for curve in curves if curve.overfits]
    columns = [Column("run"), *(Column(head, right=True) for head in heads)]
    return Table("", columns, rows, ["", *notes] if notes else [])


def _overfitting(curve: Curve) -> str:
    least, last = (figures(curve.validation_loss[place], 3) for place in (curve.least - 1, -1))
    return (
        f"{curve.name} overfits from epoch {curve.turn}: the validation loss rose from {least} to {last} while the training "
        "loss still fell."
    )


@drawn
def curves_figure(curves: Sequence[Curve]) -> Figure:
    """Loss to the left, the metric to the right; training dashed, validation solid, a dot at the best validation."""
    figure = new_figure(9.2, 3.6, layout="constrained")
    loss, score = figure.subplots(1, 2)
    hues = hues_for(len(curves))
    for curve, hue in zip(curves, hues, strict=True):
        _pair(loss, curve, curve.train_loss, curve.validation_loss, hue)
        _pair(score, curve, curve.train_score, curve.validation_score, hue)
        _dot(score, curve.best, curve.validation_score[curve.best - 1], hue)
        if curve.turn is not None:
            _dot(loss, curve.turn, curve.validation_loss[curve.turn - 1], hue)
    for axes, title in zip((loss, score), _titles(curves), strict=True):
        axes.set_title(title)
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if all(len(curve.epochs) == 1 for curve in curves):
            axes.set_xlim(0.5, 1.5)
            axes.set_xticks([1])
        axes.grid(axis="y", color=LINES.quiet, alpha=0.2, linewidth=0.6)
    if all(curve.metric.percent for curve in curves):
        score.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if len(curves) > len(HUES):  # a legend over the curves would hide them
        figure.legend(handles=_legend(curves, hues), fontsize=8, loc="outside right upper")
    else:
        loss.legend(handles=_legend(curves, hues), fontsize=8)
    values = [value for curve in curves for value in (*curve.train_loss, *curve.validation_loss)]
    if all(map(math.isfinite, values)):
        loss.set_ylim(0, 1.06 * max(values) or None)
    return figure


def hues_for(count: int) -> list[str]:
    """Return a different colour for each run."""
    if count <= len(HUES):
        return list(HUES[:count])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["turbo"](0.05 + 0.9 * place / (count - 1))) for place in range(count)]


def _pair(axes: Axes, curve: Curve, train: Sequence[float], validation: Sequence[float], hue: str) -> None:
    mark = "o" if len(curve.epochs) == 1 else ""
    axes.plot(curve.epochs, train, "--", marker=mark, color=hue, linewidth=1.1, alpha=0.75)
    axes.plot(curve.epochs, validation, marker=mark, color=hue, linewidth=1.7)


def _dot(axes: Axes, epoch: int, value: float, hue: str) -> None:
    axes.plot([epoch], [value], "o", color=hue, markersize=6, markerfacecolor="white", zorder=5)


def _titles(curves: Sequence[Curve]) -> tuple[str, str]:
    """Describe the dots of a single run in the titles: a label at a dot would cover a line."""
    metric = curves[0].metric
    if len(curves) != 1:
        return "loss", " or ".join(dict.fromkeys(curve.metric.name for curve in curves))
    turns = "" if curves[0].turn is None else f", turns at epoch {curves[0].turn}"
    best = curves[0].best
    return f"loss{turns}", f"{metric.name}, {metric.text(curves[0].validation_score[best - 1])} at epoch {best}"


def _legend(curves: Sequence[Curve], hues: Sequence[str]) -> list[Any]:
    """Return the legend: one line per run if there are several, and the meaning of dashes and dots."""
    from matplotlib.lines import Line2D

    several = [(curve.name, {"color": hue}) for curve, hue in zip(curves, hues, strict=True)] if len(curves) > 1 else []
    ink: dict[str, Any] = {"color": LINES.ink if several else HUES[0]}
    mark = {"marker": "o", "markersize": 4} if all(len(curve.epochs) == 1 for curve in curves) else {}
    kinds = [("validation", ink | mark), ("training", ink | mark | {"linestyle": "--", "linewidth": 1.1, "alpha": 0.75})]
    dot = ink | {"linestyle": "", "marker": "o", "markerfacecolor": "white"}
    return [Line2D([], [], label=name, **how) for name, how in (*several, *kinds, ("validation at its best", dot))]


def save_curves(curves: Sequence[Curve], path: str | Path) -> Path:
    """Draw and write, as PNG or SVG."""
    check_format(path)
    return save_picture(curves_figure(curves), path)


def save_comparison(runs: Sequence[str | Path], folder: str | Path) -> None:
    """Save a comparison of runs: comparison.md, comparison.json, and curves.png and .svg if matplotlib is installed."""
    curves, folder = [read_curve(run) for run in runs], Path(folder)
    table = curves_table(curves).markdown()
    (folder / "comparison.md").write_text(
        f"# {folder.resolve().name}\n\n![loss and accuracy](curves.png)\n\n{table}\n", encoding="utf-8"
    )
    content = json.dumps([curve.to_dict() for curve in curves], indent=1, ensure_ascii=False)
    (folder / "comparison.json").write_text(f"{content}\n", encoding="utf-8")
    save_pictures(curves, folder)


def save_pictures(curves: Sequence[Curve], folder: Path) -> None:
    """Save curves.png and curves.svg from one drawing, if matplotlib is installed."""
    try:
        figure = curves_figure(curves)
        for form in ("png", "svg"):
            save_picture(figure, folder / f"curves.{form}")
    except GlassformerError as error:
        if "matplotlib" not in str(error):
            raise
