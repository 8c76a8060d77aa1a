"""Shortens results for a conversation: repeated layers omitted, long lists truncated, with notes on how to get the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glassformer.program import Tensor

ROWS = 40  # default number of entries in a list
MOST_ROWS = 1_000

Document = dict[str, Any]


def fitted(
    document: Mapping[str, Any], *, rows: int = ROWS, way_out: str = "", tensors: Sequence[Tensor] | None = None
) -> Document:
    """Return the document with lists of at most `rows` entries; `notes` says what was omitted and how to get it.

    `tensors` are the tensors of its rows: rows of a layer that repeat those of layer 0 are omitted.
    """
    plain: Document = {str(key): _plain(value) for key, value in document.items()}
    notes: list[str] = list(plain.get("notes", []))
    if tensors is not None:
        listed = plain["rows"]
        plain["rows"] = without_repeated_layers(listed, tensors)
        if missing := len(listed) - len(plain["rows"]):
            notes.append(f"rows: {missing:,} rows of other layers repeat those of layer 0 and are omitted.")
    cuts: list[str] = []
    kept = {key: _cut(value, rows, key, cuts) for key, value in plain.items() if key != "notes"}
    notes += [f"{cut}{way_out}." for cut in dict.fromkeys(cuts)]
    return kept | ({"notes": notes} if notes or "notes" in plain else {})


def without_repeated_layers(rows: Sequence[Mapping[str, Any]], tensors: Sequence[Tensor]) -> list[Mapping[str, Any]]:
    """Return the rows without those that repeat the row of the same tensor in layer 0."""
    pairs = list(zip(rows, tensors, strict=True))
    first = {_in_any_layer(tensor): _content(row) for row, tensor in pairs if tensor.block.layer == 0}
    return [row for row, tensor in pairs if not tensor.block.layer or first.get(_in_any_layer(tensor)) != _content(row)]


def _in_any_layer(tensor: Tensor) -> tuple[str, str]:
    return tensor.block.any_layer, tensor.symbol


def _content(row: Mapping[str, Any]) -> str:
    return repr([(key, value) for key, value in row.items() if key not in ("name", "layer", "also")])


def _cut(value: Any, rows: int, where: str, notes: list[str]) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item, rows, f"{where}.{key}", notes) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > rows:
        notes.append(f"{where}: the first {rows} of {len(value):,} entries")
    return [_cut(item, rows, where, notes) for item in value[:rows]]


def _plain(value: Any) -> Any:
    """Return values for JSON: tuples as lists, NaN and infinity as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
