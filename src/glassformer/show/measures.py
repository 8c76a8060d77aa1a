"""Presentation of evaluations of regression, multilabel, embedding and generation models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glassformer.errors import shown
from glassformer.show.evaluation import LONGEST_TEXT, EvaluationView, labels_table
from glassformer.show.table import Column, Table

OFF = {
    "translate": "chrF",
    "causal": "loss",
    "regress": "error",
    "similarity": "error",
    "multilabel": "wrong classes",
    "embed": "rank",
}
TEXT = {"embed": "anchor"}
WRITTEN = {"translate": ("source", "translation", "reference"), "causal": ("text", "", "tokens")}  # a line for each text


def of_torch_room(found: Any) -> EvaluationView:
    """The result of `evaluate`, whose class this room may not import."""
    return EvaluationView(found, tables)


def tables(found: Any) -> Iterator[Table]:
    """Figures with intervals, each class, and the worst rows."""
    rows = [[name, _number(one.value), f"{_number(one.low)} – {_number(one.high)}"] for name, one in found.figures.items()]
    title = f"{found.model} on {found.data}, {found.part}: {found.rows:,} rows"
    yield Table(title, [Column(""), Column("value", right=True), Column("95% interval", right=True)], rows, list(found.notes))
    if found.classes:
        yield labels_table(found.classes)
    if found.worst:
        yield (_worst_texts if found.task in WRITTEN else _worst_rows)(found)


def _worst_rows(found: Any) -> Table:
    worst = [[str(one.row), _cut(one.true), _cut(one.predicted), f"{one.off:.4g}", _cut(one.text)] for one in found.worst]
    heads = [Column("row", right=True), Column("true"), Column("predicted"), Column(OFF[found.task], right=True)]
    return Table("Worst rows", [*heads, Column(TEXT.get(found.task, "text"))], worst)


def _worst_texts(found: Any) -> Table:
    """The worst texts, one below the other, since they are long."""
    rows = []
    for one in found.worst:
        lines = [
            (name, text) for name, text in zip(WRITTEN[found.task], (one.text, one.predicted, one.true), strict=True) if name
        ]
        for number, (name, text) in enumerate(lines):
            first = [str(one.row), f"{one.off:.4g}"] if number == 0 else ["", ""]
            rows.append([*first, name, shown(" ".join(text.split()), limit=LONGEST_TEXT)])
    heads = [Column("row", right=True), Column(OFF[found.task], right=True), Column(""), Column("text")]
    return Table("Worst rows", heads, rows)


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def _cut(text: str) -> str:
    return shown(" ".join(text.split()), limit=LONGEST_TEXT // 2)
