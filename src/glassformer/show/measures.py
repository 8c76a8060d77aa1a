"""Presentation of what `evaluate` measures of numbers, several classes and embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glassformer.errors import shown
from glassformer.show.evaluation import LONGEST_TEXT, EvaluationView, labels_table
from glassformer.show.table import Column, Table

OFF = {"regress": "error", "similarity": "error", "multilabel": "wrong classes", "embed": "rank"}
TEXT = {"embed": "anchor"}


def of_torch_room(found: Any) -> EvaluationView:
    """The result of `evaluate`, whose class this room may not import."""
    return EvaluationView(found, tables)


def tables(found: Any) -> Iterator[Table]:
    """Figures with intervals, each class, and the worst rows."""
    rows = [[name, f"{one.value:.4f}", f"{one.low:.4f} – {one.high:.4f}"] for name, one in found.figures.items()]
    title = f"{found.model} on {found.data}, {found.part}: {found.rows:,} rows"
    yield Table(title, [Column(""), Column("value", right=True), Column("95% interval", right=True)], rows, list(found.notes))
    if found.classes:
        yield labels_table(found.classes)
    if found.worst:
        worst = [[str(one.row), _cut(one.true), _cut(one.predicted), f"{one.off:.4g}", _cut(one.text)] for one in found.worst]
        heads = [Column("row", right=True), Column("true"), Column("predicted"), Column(OFF[found.task], right=True)]
        yield Table("Worst rows", [*heads, Column(TEXT.get(found.task, "text"))], worst)


def _cut(text: str) -> str:
    return shown(" ".join(text.split()), limit=LONGEST_TEXT // 2)
