"""Tensors as pictures: one flat page of a tensor at a time, a window of it where it is large, thumbnails of all heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents import trace as documents
from glassformer.numbers import Difference, Run
from glassformer.program import Tensor
from glassformer.program.axes import HEADS, Array, Axis

WINDOW = 64  # rows or columns that are sent at once
LONGEST_ROW = 4096
THUMBNAIL = 24  # cells along the side of a head's thumbnail
MOST_AT_ONCE = 6_000_000  # weights that are looked through for the thumbnails of all layers
ONE = Axis("", 1)


class Page(NamedTuple):
    """A tensor laid flat: which axis goes down, which across, and where the others stand."""

    tensor: Tensor
    rows: Axis
    columns: Axis
    fixed: dict[str, int]

    def values(self, value: Array) -> Array:
        """The page as a matrix."""
        index = tuple(self.fixed.get(axis.name, slice(None)) for axis in self.tensor.axes)
        return np.asarray(value[index], dtype=float).reshape(self.rows.size, self.columns.size)


def page_of(tensor: Tensor, asked: Mapping[str, int]) -> Page:
    """The last two axes that are neither batch nor head; the rest stands where it was asked for, or at 0."""
    flat = [axis for axis in tensor.axes if axis.name not in ("batch", *HEADS)][-2:]
    names = [axis.name for axis in flat]
    fixed = {}
    for axis in tensor.axes:
        if axis.name in names:
            continue
        place = asked.get(axis.name, 0)
        if not 0 <= place < axis.size:
            raise GlassformerError(f"{axis.name}={place} is outside {tensor.name}: {axis.name} runs from 0 to {axis.size - 1}.")
        fixed[axis.name] = place
    if len(flat) == 2:
        return Page(tensor, flat[0], flat[1], fixed)
    one = flat[0] if flat else ONE
    return Page(tensor, ONE, one, fixed) if one.name not in ("t", "s", "patch") else Page(tensor, one, ONE, fixed)


def window(difference: Difference[Run], name: str, asked: Mapping[str, int]) -> tuple[documents.Page, dict[str, Array]]:
    """One window of one page, after the changes and, where it moved, before them."""
    after = difference.after
    page = page_of(after.tensor(name), asked)
    down, across = _extent(page.rows, asked, "row", WINDOW), _extent(page.columns, asked, "column", WINDOW)
    if asked.get("whole_row"):  # one row, as far as it goes
        down, across = _extent(page.rows, asked, "row", 1), slice(0, LONGEST_ROW)
    whole = page.values(after.values[page.tensor.name])
    arrays = {"after": whole[down, across]}
    if difference.before.values[page.tensor.name] is not after.values[page.tensor.name]:
        arrays["before"] = page.values(difference.before.values[page.tensor.name])[down, across]
        with np.errstate(invalid="ignore"):
            moved = np.where(arrays["before"] == arrays["after"], 0.0, arrays["after"] - arrays["before"])
        arrays["difference"] = moved
    finite = whole[np.isfinite(whole)]
    header: documents.Page = {
        "name": page.tensor.name,
        "rows": {"axis": page.rows.name, "size": page.rows.size, "start": down.start},
        "columns": {"axis": page.columns.name, "size": page.columns.size, "start": across.start},
        "fixed": page.fixed,
        "least": float(finite.min(initial=np.inf)) if finite.size else 0.0,
        "largest": float(finite.max(initial=-np.inf)) if finite.size else 0.0,
        "window": WINDOW,
    }
    return header, arrays


def _extent(axis: Axis, asked: Mapping[str, int], side: str, most: int) -> slice:
    start = max(0, min(asked.get(f"from_{side}", 0), axis.size - most))
    return slice(start, start + most)


def thumbnails(run: Run, layer: int) -> tuple[documents.Heads, dict[str, Array]]:
    """Every head's weights, shrunk to a few cells that show the largest weight in them; of a large run one layer's."""
    most = max(1, max(step.block.layer or 0 for step in run.program.steps) + 1)
    if not 0 <= layer < most:
        raise GlassformerError(f"layer {shown(layer)} does not exist: this run has layer 0 to {most - 1}.")
    weights = [step.output for step in run.program.steps if step.output.role == "weights"]
    everything = sum(tensor.size for tensor in weights) <= MOST_AT_ONCE
    names = [one.name for one in weights if one.name in run and (everything or one.block.layer == layer)]
    return {"names": names, "all": everything}, {name: _shrunk(run[name][0]) for name in names}


def _shrunk(weights: Array) -> Array:
    """[head, t, s] with both sides at most THUMBNAIL long."""
    for axis in (1, 2):
        side = weights.shape[axis]
        if side > THUMBNAIL:
            weights = np.maximum.reduceat(weights, np.arange(THUMBNAIL) * side // THUMBNAIL, axis=axis)
    return weights
