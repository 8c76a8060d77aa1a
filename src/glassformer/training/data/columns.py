"""Which columns of a table hold the text and the label, and a row of it as it stands in the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.errors import listed
from glassformer.training.data.asked import Asked

WORDS, TAGS = "tokens", "tags"  # columns that are taken where text and label are not there


class Raw(NamedTuple):
    """A row as it stands in the file: where, the text (or the list of words), the label (or the list of tags).

    `fault` says why a row could not be read; whoever gathers the rows refuses it with these words, or skips it.
    """

    place: str
    text: Any
    label: Any = None
    fault: str = ""


def columns(names: Sequence[str], asked: Asked, name: str, rule: str = "") -> tuple[str, str | None]:
    """Which columns hold text and label, capitals or not; the file's columns are listed where they do not."""
    if asked.text == "text" and asked.label in ("label", None) and "text" not in names and {WORDS, TAGS} <= set(names):
        return WORDS, TAGS if asked.label else None
    wanted = {"text": asked.text} | ({"label": asked.label} if asked.label is not None else {})
    found = {option: _among(column, names) for option, column in wanted.items()}
    missing = [option for option, column in found.items() if column is None]
    if missing:
        complaint = _missing(names, wanted, missing, name)
        raise GlassformerError(f"{complaint} {rule}" if missing == ["text", "label"] else complaint)
    twice = next((column for column in found.values() if list(names).count(str(column)) > 1), None)
    if twice is not None:
        raise GlassformerError(f"{name} has the column '{shown(twice)}' twice in its header: rename one.")
    return str(found["text"]), found.get("label")


def _among(column: str, names: Sequence[str]) -> str | None:
    """The column of this name, or the only one that differs from it in capitals alone."""
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
    """A row; of the columns `tokens` and `tags` words that were written as one text are taken apart."""
    if chosen != (WORDS, TAGS) or not isinstance(text, str) or not isinstance(label, str):
        return Raw(place, text, label)
    words, tags = _words(text), _words(label)
    if words is None or tags is None:
        return Raw(place, None, None, f"{place}: {WORDS} and {TAGS} are words with blanks between them, or lists of JSON.")
    return Raw(place, words, tags)


def _words(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return text.split()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
