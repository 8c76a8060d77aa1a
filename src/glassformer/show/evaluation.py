"""Presentation of evaluations: metrics with intervals, each class, confusions, calibration and the most confident mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.errors import shown
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html
from glassformer.show.table import Column, Table

MOST_CLASSES = 12  # largest confusion matrix shown; for more labels, the most frequent confusions are listed
MOST_LISTED = 30
LONGEST_TEXT = 100
RATES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class EvaluationView:
    """Several tables, one below the other."""

    found: Any
    tables: Callable[[Any], Iterator[Table]]

    def text(self) -> str:
        return "\n\n".join(table.text() for table in self.tables(self.found))

    def markdown(self) -> str:
        return "\n\n".join(table.markdown() for table in self.tables(self.found))

    def latex(self) -> str:
        return "\n\n".join(table.latex() for table in self.tables(self.found))

    def html(self) -> Html:
        return fragment(*(table.markup() for table in self.tables(self.found)))


def of_torch_room(found: Any) -> EvaluationView:
    """The result of `evaluate`, whose class this room may not import."""
    return EvaluationView(found, tables)


def tables(found: Any) -> Iterator[Table]:
    """The tables of an evaluation, the most important first."""
    yield _figures(found)
    yield labels_table(found.classes)
    yield _confusions(found)
    yield _calibration(found)
    if found.mistakes:
        yield _mistakes(found)


def _figures(found: Any) -> Table:
    told = found.calibration
    rows = [[name, _share(one.value), f"{_share(one.low)} – {_share(one.high)}"] for name, one in _intervals(found)]
    rows += [["always the most frequent label", _share(found.always_one), ""], ["mean confidence", _share(told.confidence), ""]]
    rows += [["calibration error", _share(told.error), ""], ["log loss", f"{told.log_loss:.4f}", ""]]
    rows += [["Brier score", f"{told.brier:.4f}", ""]]
    title = f"{found.model} on {found.data}, {found.part}: {found.rows:,} rows"
    return Table(title, [Column(""), Column("value", right=True), Column("95% interval", right=True)], rows, list(found.notes))


def _intervals(found: Any) -> list[tuple[str, Any]]:
    return [("accuracy", found.accuracy), ("macro-F1", found.macro_f1)]


def labels_table(classes: Sequence[dict[str, Any]]) -> Table:
    """Rows, predictions, precision, recall and F1 of each label."""
    heads = [Column("label"), *(Column(name, right=True) for name in ("rows", "predicted", "precision", "recall", "F1"))]
    rows = [
        [
            shown(one["label"]),
            f"{one['rows']:,}",
            f"{one['said']:,}",
            *(_share(one[name]) for name in RATES),
        ]
        for one in classes[:MOST_LISTED]
    ]
    left = len(classes) - len(rows)
    return Table("Labels", heads, rows, [f"{left:,} more labels are not shown; --json lists all."] if left else [])


def _confusions(found: Any) -> Table:
    names = [shown(label) for label in found.labels]
    if len(names) <= MOST_CLASSES:
        rows = [[name, *(f"{count:,}" for count in row)] for name, row in zip(names, found.confusion, strict=True)]
        return Table("Confusion matrix", [Column("true \\ predicted"), *(Column(name, right=True) for name in names)], rows)
    pairs = [(count, i, j) for i, row in enumerate(found.confusion) for j, count in enumerate(row) if i != j and count]
    rows = [[names[i], names[j], f"{count:,}"] for count, i, j in sorted(pairs, key=lambda pair: -pair[0])[:MOST_CLASSES]]
    return Table("Most frequent confusions", [Column("true"), Column("predicted"), Column("rows", right=True)], rows)


def _calibration(found: Any) -> Table:
    rows = [
        [f"{one['low']:.1f} – {one['high']:.1f}", f"{one['rows']:,}", _share(one["confidence"]), _share(one["accuracy"])]
        for one in found.calibration.bins
    ]
    heads = [Column("confidence"), *(Column(name, right=True) for name in ("rows", "mean confidence", "accuracy"))]
    return Table("Calibration", heads, rows)


def _mistakes(found: Any) -> Table:
    rows = [
        [str(one.row), shown(one.true), shown(one.predicted), _share(one.probability), _cut(one.text)] for one in found.mistakes
    ]
    heads = [Column("row", right=True), Column("true"), Column("predicted"), Column("probability", right=True), Column("text")]
    return Table("Most confident mistakes", heads, rows)


def _cut(text: str | None) -> str:
    return "(image)" if text is None else shown(" ".join(text.split()), limit=LONGEST_TEXT)


def _share(value: float | None) -> str:
    return "·" if value is None else f"{100 * value:.1f}%"
