"""Columns of a table: which hold the text and the label, and the raw rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.training.data.asked import Asked

WORDS, TAGS = "tokens", "tags"  # used if there are no columns text and label


class Raw(NamedTuple):
    """A raw row: its place in the file, the text (or list of words) and the label (or list of tags).

    `fault` says why a row could not be read; `gather` refuses it with this message, or skips it.
    """

    place: str
    text: Any
    label: Any = None
    fault: str = ""


def columns(names: Sequence[str], asked: Asked, name: str, rule: str = "") -> tuple[str, str | None]:
    """Return the text and label columns, ignoring case; list the columns of the file if they are missing."""
    if asked.text == "text" and asked.label in ("label", None) and "text" not in names and {WORDS, TAGS} <= set(names):
        return WORDS, TAGS if asked.label else None
    wanted = {asked.text_option: asked.text} | ({"label": asked.label} if asked.label is not None else {})
    found = {option: _among(column, names) for option, column in wanted.items()}
    missing = [option for option, column in found.items() if column is None]
    if missing:
        complaint = _missing(names, wanted, missing, name)
        raise GlassformerError(f"{complaint} {rule}" if missing == ["text", "label"] else complaint)
    twice = next((column for column in found.values() if list(names).count(str(column)) > 1), None)
    if twice is not None:
        raise GlassformerError(f"{name} has the column '{shown(twice)}' twice in its header: rename one.")
    return str(found[asked.text_option]), found.get("label")


def _among(column: str, names: Sequence[str]) -> str | None:
    """Return the column of this name, or the only one that differs only in case."""
    if column in names:
        return column
    alike = [one for one in names if one.casefold() == column.casefold()]
    return alike[0] if len(alike) == 1 else None


def _missing(names: Sequence[str], wanted: dict[str, str], missing: list[str], name: str) -> str:
    absent = " and no column ".join(f"'{shown(wanted[option])}'" for option in missing)
    near = next((hint for option in missing if (hint := nearest(wanted[option], names))), "")
    ways = " and ".join(f"{option}=… (--{option})" for option in missing)
    plain = ", or label=None (--no-label) for plain text without labels" if missing == ["label"] else ""
    return (
        f"{name} has no column {absent}.{near} Its columns: {listed(shown(one) for one in names)}. "
        f"Choose {'one' if len(missing) == 1 else 'them'} with {ways}{plain}."
    )


def row_of(place: str, text: Any, label: Any, chosen: tuple[str, str | None]) -> Raw:
    """Return a row; in the columns `tokens` and `tags`, words written as one text are split."""
    if chosen != (WORDS, TAGS) or not isinstance(text, str) or not isinstance(label, str):
        return Raw(place, text, label)
    words, tags = _words(text), _words(label)
    if words is None or tags is None:
        return Raw(place, None, None, f"{place}: {WORDS} and {TAGS} must be words separated by spaces, or JSON lists.")
    return Raw(place, words, tags)


def _words(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return text.split()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
