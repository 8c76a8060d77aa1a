"""Columns of a table: which hold the text and the label, and the raw rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.training.data.row_options import RowOptions

WORDS, TAGS = "tokens", "tags"  # used if there are no columns text and label
GROUPS = (2, 3)  # texts of a row for sentence embeddings: an anchor, a text that belongs to it, and one that does not
PAIR = "source", "target"


class Raw(NamedTuple):
    """A raw row: its place in the file, the text (or list of words), the label (or list of tags), and further texts.

    `fault` says why a row could not be read; `gather` refuses it with this message, or skips it.
    """

    place: str
    text: Any
    label: Any = None
    fault: str = ""
    others: tuple[Any, ...] = ()  # the further texts of a row of several


class Columns(NamedTuple):
    """The columns to read: one for each text of a row, and that of the label."""

    texts: tuple[str, ...]
    label: str | None

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*self.texts, *([self.label] if self.label is not None else [])]

    def row(self, place: str, value: Callable[[str], Any]) -> Raw:
        """Return a row from its cells; in the columns `tokens` and `tags`, words written as one text are split."""
        text, *others = map(value, self.texts)
        label = value(self.label) if self.label is not None else None
        if self != ((WORDS,), TAGS) or not isinstance(text, str) or not isinstance(label, str):
            return Raw(place, text, label, others=tuple(others))
        words, tags = _words(text), _words(label)
        if words is None or tags is None:
            return Raw(place, None, None, f"{place}: {WORDS} and {TAGS} must be words separated by spaces, or JSON lists.")
        return Raw(place, words, tags)


def columns(names: Sequence[str], asked: RowOptions, name: str, rule: str = "") -> Columns:
    """Return the text and label columns, ignoring case; list the columns of the file if they are missing."""
    if asked.rows_for == "seq2seq":
        return pair_of(names, asked, name)
    if asked.text == "text" and asked.label in ("label", None) and "text" not in names and {WORDS, TAGS} <= set(names):
        return Columns((WORDS,), TAGS if asked.label else None)
    if asked.task == "embed" and asked.text == "text" and _among("text", names) is None and len(names) in GROUPS:
        return Columns(tuple(names), None)
    texts = (asked.text,) if _among(asked.text, names) is not None else asked.texts
    wanted = [(asked.text_option, text) for text in texts] + ([("label", asked.label)] if asked.label is not None else [])
    found = [_among(column, names) for _, column in wanted]
    missing = [one for one, column in zip(wanted, found, strict=True) if column is None]
    if missing:
        complaint = _missing(names, missing, name)
        raise GlassformerError(f"{complaint} {rule}" if len(missing) == len(wanted) > 1 else complaint)
    twice = next((column for column in found if list(names).count(str(column)) > 1), None)
    if twice is not None:
        raise GlassformerError(f"{name} has the column '{shown(twice)}' twice in its header: rename one.")
    chosen = [str(column) for column in found]
    return Columns(tuple(chosen[: len(texts)]), chosen[len(texts)] if asked.label is not None else None)


def pair_of(names: Sequence[str], asked: RowOptions, name: str) -> Columns:
    """Return the columns of a text and its translation: those named, else `source` and `target`, else the first two."""
    if len(names) < 2:
        raise GlassformerError(f"{name} has one column, '{shown(names[0])}': parallel text needs a text and its translation.")
    if asked.text == "text" and asked.target is None and "text" not in names:
        chosen = PAIR if set(names) >= set(PAIR) else (names[0], names[1])
        if written := next((one for one in chosen if one.endswith((".", "!", "?", "…", "।")) or len(one.split()) > 4), None):
            raise GlassformerError(
                f"{name} has no header: '{shown(written)}' in its first line is a text. Name the columns there, as in en, fr."
            )
        return Columns((chosen[0],), chosen[1])
    wanted = [("text", asked.text), ("target", asked.target or "target")]
    if missing := [one for one in wanted if _among(one[1], names) is None]:
        raise GlassformerError(_missing(names, missing, name))
    source, target = (str(_among(column, names)) for _, column in wanted)
    return Columns((source,), target)


def _among(column: str, names: Sequence[str]) -> str | None:
    """Return the column of this name, or the only one that differs only in case."""
    if column in names:
        return column
    alike = [one for one in names if one.casefold() == column.casefold()]
    return alike[0] if len(alike) == 1 else None


def _missing(names: Sequence[str], missing: Sequence[tuple[str, str]], name: str) -> str:
    absent = " and no column ".join(f"'{shown(column)}'" for _, column in missing)
    near = next((hint for _, column in missing if (hint := nearest(column, names))), "")
    options = list(dict.fromkeys(option for option, _ in missing))
    ways = " and ".join(f"{option}=… (--{option})" for option in options)
    plain = ", or label=None (--no-label) for plain text without labels" if options == ["label"] else ""
    return (
        f"{name} has no column {absent}.{near} Its columns: {listed(shown(one) for one in names)}. "
        f"Choose {'one' if len(missing) == 1 else 'them'} with {ways}{plain}."
    )


def _words(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return text.split()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
