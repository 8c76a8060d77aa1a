"""The training section of a report, from the run folder alone: curves, epochs, predicted and measured costs, the test."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.checkpoints.folder import RUN
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.show.algebra import bytes_text
from glassformer.show.curve_charts import charts
from glassformer.show.curves import METRICS, Curve, curves_table, read_curve
from glassformer.show.markup import Child, Html, join, tags
from glassformer.show.report.page import Section, facts, folded
from glassformer.show.table import Column, Table

SETTINGS = "settings.json"
MOST_EPOCHS = 60  # rows of the table of epochs
MOST_CLASSES = 40


@dataclass(frozen=True)
class Learned:
    """The content of a run folder: its task, its curve, and the first and last lines of its log."""

    path: Path
    about: dict[str, Any]
    settings: dict[str, Any]
    curve: Curve
    start: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()


def is_run(path: str | Path) -> bool:
    """Whether a name is the folder of a training run."""
    try:
        return (Path(path) / RUN).is_file()
    except (OSError, ValueError):
        return False


def read_run(path: str | Path) -> Learned:
    """Read the metrics of a run folder; a run without a finished epoch is an error."""
    path = Path(path)
    curve = read_curve(path)
    lines = list(_lines(path / METRICS))
    start, end = (_last(lines, kind) for kind in ("start", "end"))
    times: list[Any] = [line.get("seconds") for line in lines if line.get("kind") == "epoch"]
    seconds = tuple(time if _is_number(time) else 0.0 for time in times)
    about, settings = (read_document(path / name) for name in (RUN, SETTINGS))
    return Learned(path, about, settings, curve, start, end, seconds)


def _last(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next((line for line in reversed(lines) if line.get("kind") == kind), {})


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if '"kind": "step"' not in line:
                    try:
                        found = json.loads(line)
                    except (ValueError, RecursionError):  # truncated when the process was killed
                        continue
                    if isinstance(found, dict):
                        yield found
    except (OSError, UnicodeDecodeError) as error:
        raise GlassformerError(f"{shown(str(path))} cannot be read: {shown(str(error))}.") from None


def learned_section(run: Learned) -> Section:
    """Return the section."""
    parts: list[Child] = [_data(run), _results(run), charts([run.curve])]
    parts += [tags.p(note) for note in curves_table([run.curve]).notes if note]  # where it overfits
    parts += [_predicted(run), _epochs(run), _classes(run), _settings(run)]
    return Section("training", "Training", join(parts))


def _data(run: Learned) -> list[Html]:
    data, origin = _mapping(run.about.get("data")), _mapping(run.about.get("provenance"))
    counted = ", ".join(f"{count:,} {part}" for part, count in _mapping(data.get("rows")).items() if isinstance(count, int))
    labels = data.get("labels") or []
    classes = f" in {len(labels)} classes" if isinstance(labels, list) and labels else ""
    said = tags.p(f"Data: {shown(str(data.get('name', 'unknown')))}{classes}; rows: {counted or 'unknown'}.")
    beside = [f"{word}: {shown(str(origin[word]), limit=200)}" for word in ("licence", "baseline") if origin.get(word)]
    trained, special = (_mapping(run.about.get("counts")).get(word) for word in ("trained", "task_specific"))
    if isinstance(trained, int) and isinstance(special, int):
        beside.append(f"trained parameters: {trained:,}, of which task-specific: {special:,}")
    return [said, *(tags.p(line, class_="note") for line in beside)]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _results(run: Learned) -> list[Child]:
    said, metric = run.curve.to_dict(), run.curve.metric
    best = f"{said['best_epoch']} of {said['epochs']}"
    there = metric.text(run.curve.validation_score[run.curve.best - 1])
    pairs = [("best epoch", best), (f"validation {metric.name} there", there)]
    test = _mapping(run.end.get("test"))
    if _is_number(test.get(metric.name)):
        pairs.insert(0, (f"test {metric.name}", metric.text(test[metric.name])))
    if _is_number(run.end.get("seconds")):
        pairs.append(("time", f"{run.end['seconds']:.1f} s"))
    unfinished = None if run.end else tags.p("This run is not finished: continue it with 'glassformer resume'.")
    return [facts(pairs), unfinished]


def _predicted(run: Learned) -> list[Html]:
    """The costs predicted before the first step next to the measured ones."""
    said, began = _mapping(run.about.get("predicted")), _mapping(run.start.get("measured"))
    step = _mapping(_mapping(run.end.get("measured")).get("step"))
    size = (step.get("rows"), step.get("t")) if "flops" in step else (said.get("batch"), said.get("t"))
    over = " of {:,} × {:,}".format(*size) if all(map(_is_number, size)) else ""
    rows = [
        _row("parameters", said.get("parameters"), began.get("parameters"), lambda number: f"{number:,.0f}"),
        _row(f"FLOPs of a step{over}", step.get("predicted_flops", said.get("matrix_flops")), step.get("flops"), _flops),
        _row(f"memory of a step{over}", step.get("predicted_bytes", said.get("bytes")), step.get("bytes"), _bytes),
        _row("memory of the whole process, including Python and PyTorch", None, run.end.get("peak_bytes"), _bytes),
    ]
    kept = [row for row in rows if row[1:] != ["·", "·"]]
    view = Table("", [Column(""), Column("predicted", right=True), Column("measured", right=True)], kept)
    return [tags.h3("Predicted and measured"), view.markup()] if kept else []


def _row(name: str, predicted: Any, measured: Any, write: Callable[[float], str]) -> list[str]:
    return [name, *(write(one) if _is_number(one) else "·" for one in (predicted, measured))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _flops(value: float) -> str:
    return f"{value / 1e9:,.4g} G"


def _bytes(value: float) -> str:
    return bytes_text(int(value))


def _epochs(run: Learned) -> list[Html]:
    curve, count = run.curve, len(run.curve.epochs)
    kept = list(range(count)) if count <= MOST_EPOCHS else [*range(MOST_EPOCHS // 2), *range(count - MOST_EPOCHS // 2, count)]
    rows = []
    for place in kept:
        losses = [f"{values[place]:.4f}" for values in (curve.train_loss, curve.validation_loss)]
        shares = [curve.metric.text(values[place]) for values in (curve.train_score, curve.validation_score)]
        seconds = f"{run.seconds[place]:.1f}" if place < len(run.seconds) else "·"
        rows.append([str(place + 1), *losses, *shares, seconds])
    metric = curve.metric.name
    titles = ["epoch", "training loss", "validation loss", f"training {metric}", f"validation {metric}", "seconds so far"]
    best = frozenset(row for row, place in enumerate(kept) if place == curve.best - 1)
    notes = [f"{count - len(kept)} epochs in between are left out."] if len(kept) < count else []
    view = Table("", [Column(title, right=True) for title in titles], rows, ["The best epoch is bold.", *notes], best)
    return [tags.h3("Epochs"), view.markup()]


def _classes(run: Learned) -> list[Html]:
    """Return the test results of each class, from the confusion matrix: rows are true classes, columns predicted ones."""
    found = _mapping(run.end.get("test")).get("confusion")
    if not _is_square(found):
        return []
    counts = np.array(found, dtype=np.int64)
    given = _mapping(run.about.get("data")).get("labels")
    labels = [shown(str(label), limit=24) for label in given] if isinstance(given, list) else []
    names = labels if len(labels) == len(counts) else [str(place) for place in range(len(counts))]
    right, said, true = np.diag(counts), counts.sum(axis=0), counts.sum(axis=1)
    shares = [[f"{a / b:.1%}" if b else "·" for a, b in zip(right, totals, strict=True)] for totals in (said, true)]
    rows = [[name, *cells, f"{total:,}"] for name, *cells, total in zip(names, *shares, true, strict=True)]
    columns = [Column("class"), Column("precision", right=True), Column("recall", right=True), Column("test rows", right=True)]
    confused = Table(
        "rows are true classes, columns predicted ones",
        [Column(""), *(Column(name, right=True) for name in names)],
        [[name, *(f"{count:,}" if count else "·" for count in row)] for name, row in zip(names, counts, strict=True)],
    )
    whole = folded("Confusion matrix", confused.markup())
    return [tags.h3("Test results by class"), Table("", columns, rows).markup(), whole]


def _is_square(found: Any) -> bool:
    """Whether a value of a log is a confusion matrix: square, of counts, and small enough to show."""
    if not isinstance(found, list) or not 0 < len(found) <= MOST_CLASSES:
        return False
    return all(isinstance(row, list) and len(row) == len(found) and all(type(one) is int for one in row) for row in found)


def _settings(run: Learned) -> Html:
    rows = [[shown(name), shown(str(value))] for name, value in run.settings.items()]
    return folded("Settings", Table("", [Column("setting"), Column("value")], rows).markup())
