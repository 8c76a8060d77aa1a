"""Results that fit into a conversation: repeated layers left out, long lists cut, and a note that says how to get the rest."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

ROWS = 40  # entries of a list, unless the call asks for more
MOST_ROWS = 1_000
LAYER = re.compile(r"\blayers\.(\d+)\.")

Document = dict[str, Any]


def fitted(document: Mapping[str, Any], *, rows: int = ROWS, way_out: str = "") -> Document:
    """The document with lists of at most `rows` entries; `notes` says what was left out and how to get it."""
    plain: Document = {str(key): _plain(value) for key, value in document.items()}
    notes: list[str] = list(plain.get("notes", []))
    listed = plain.get("rows")
    if isinstance(listed, list):
        plain["rows"] = without_repeated_layers(listed)
        if missing := len(listed) - len(plain["rows"]):
            notes.append(f"rows: {missing:,} rows of other layers repeat those of layer 0 and are left out.")
    cuts: list[str] = []
    kept = {key: _cut(value, rows, key, cuts) for key, value in plain.items() if key != "notes"}
    notes += [f"{cut}{way_out}." for cut in dict.fromkeys(cuts)]
    return kept | ({"notes": notes} if notes or "notes" in plain else {})


def without_repeated_layers(rows: list[Any]) -> list[Any]:
    """Rows of a layer that say the same as the row of layer 0 with the same name."""
    first = {row["name"]: _content(row) for row in rows if _layer_of(row) == 0}
    return [row for row in rows if not _layer_of(row) or first.get(LAYER.sub("layers.0.", row["name"])) != _content(row)]


def _layer_of(row: Any) -> int | None:
    found = LAYER.search(row["name"]) if isinstance(row, dict) and isinstance(row.get("name"), str) else None
    return int(found[1]) if found is not None else None


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
    """Values as JSON takes them: tuples as lists, no bare NaN or infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
