"""Presentation of data: the built-in sets, and the rows, labels, lengths and examples of one data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.errors import shown
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, tags
from glassformer.show.table import Column, Table

INK = " ░▒▓█"
WIDEST_PICTURE = 32
ACROSS = 96  # width of a row of pictures, in characters
LONGEST_TEXT = 90


def sets_table(document: Sequence[dict[str, Any]]) -> Table:
    """The built-in sets, one per row."""
    heads = [Column("set"), Column("task"), *(Column(part, right=True) for part in ("train", "validation", "test"))]
    rows = [
        [
            one["name"],
            one["task"],
            *(f"{one['rows'][part]:,}" for part in ("train", "validation", "test")),
            str(len(one["labels"]) or "·"),
            "·" if one["to_beat"] is None else f"{one['to_beat']:.1f}",
            one["licence"],
        ]
        for one in document
    ]
    notes = [
        "",
        "Baseline: test accuracy in percent (of rows; for tag, of tokens) of a linear model on counts or pixels.",
        "'glassformer data NAME' describes one. NAME can also be a file or folder of your own.",
    ]
    columns = [*heads, Column("classes", right=True), Column("to beat", right=True), Column("licence")]
    return Table("", columns, rows, notes)


@dataclass(frozen=True)
class DataView:
    """A description of data: tables, and images in shades of grey, if any."""

    found: Any

    def text(self) -> str:
        return "\n\n".join([*(table.text() for table in tables(self.found)), *gallery(self.found)])

    def html(self) -> Html:
        return fragment(*(table.markup() for table in tables(self.found)), *(tags.pre(one) for one in gallery(self.found)))


def of_torch_room(found: Any) -> DataView:
    """The result of `describe`, whose class this room may not import."""
    return DataView(found)


def tables(found: Any) -> list[Table]:
    """Rows per part and label with their source; lengths; the first training rows."""
    data = found.dataset
    parts = list(found.rows)
    rows = [[label, *(f"{found.labels[part][label]:,}" for part in parts)] for label in data.labels]
    total = ["rows", *(f"{found.rows[part]:,}" for part in parts)]
    kind = {"tag": "words with the label", "multilabel": "rows with the label"}.get(data.task, "label")
    about = [f"size: {found.picture_size} (channels × height × width)"] if data.task == "image" else []
    about += [f"{word}: {getattr(data.provenance, word)}" for word in ("source", "licence", "baseline")]
    about += [f"fingerprint: {data.fingerprint[:16]}", *(f"note: {note}" for note in data.notes)]
    heads = [Column(kind if data.labels else ""), *(Column(part, right=True) for part in parts)]
    gap = [[""] * len(heads)] if rows else []
    counts = Table(f"{data.name}: {found.title}", heads, [*rows, *gap, total], ["", *about], frozenset([len(rows) + len(gap)]))
    views = [counts]
    if any(found.lengths.values()):
        views.append(_lengths(found))
    if data.task != "image" and found.sample:
        views.append(_sample(found))
    return views


def _lengths(found: Any) -> Table:
    rows = [
        [part, one.unit, str(one.shortest), f"{one.median:g}", f"{one.mean:g}", f"{one.most:g}", str(one.longest)]
        for part, units in found.lengths.items()
        for one in units
    ]
    heads = [Column(name, right=True) for name in ("shortest", "median", "mean", "95%", "longest")]
    return Table("", [Column("length"), Column("in"), *heads], rows)


def _sample(found: Any) -> Table:
    tagged = found.dataset.task == "tag"
    rows = []
    for one, label in found.sample:
        if tagged:
            one = " ".join(f"{word}/{tag}" for word, tag in zip(one, label, strict=True))
        named = "|".join(label) if isinstance(label, list) else _number(label)
        told = [] if label is None or tagged else [shown(named, limit=LONGEST_TEXT)]
        rows.append([*told, shown(one if isinstance(one, str) else " / ".join(one), limit=LONGEST_TEXT)])
    labelled = bool(rows) and len(rows[0]) == 2
    name = "translation" if found.dataset.form.targets == "text" else "label"
    return Table("", [*([Column(name)] if labelled else []), Column("first training rows")], rows)


def _number(label: str | float | None) -> str:
    return f"{label:g}" if isinstance(label, float | int) else str(label)


def gallery(found: Any) -> list[str]:
    """The pictures side by side, each below its label; empty if there are none."""
    if found.dataset.task != "image" or not found.sample:
        return []
    drawn = [(label, _drawing(image)) for image, label in found.sample if image.shape[2] <= WIDEST_PICTURE]
    if not drawn:
        return [f"Pictures wider than {WIDEST_PICTURE} pixels are not drawn."]
    width = len(drawn[0][1][0])
    per_line = max(1, ACROSS // (width + 2))
    blocks = []
    for start in range(0, len(drawn), per_line):
        some = drawn[start : start + per_line]
        lines = ["  ".join(label[:width].ljust(width) for label, _ in some)]
        lines += ["  ".join(rows) for rows in zip(*(rows for _, rows in some), strict=True)]
        blocks.append("\n".join(line.rstrip() for line in lines))
    return ["\n\n".join(blocks)]


def _drawing(image: Any) -> list[str]:
    """An image in five shades: two characters per pixel, or, for wide images, one character for two pixels."""
    grey = image.mean(axis=0)
    if grey.shape[1] > 16:
        even = grey.shape[0] // 2 * 2
        grey = (grey[0:even:2] + grey[1:even:2]) / 2
        times = 1
    else:
        times = 2
    top = max(float(grey.max()), 1.0)
    return ["".join(INK[min(len(INK) - 1, int(value / top * len(INK)))] * times for value in row) for row in grey]
