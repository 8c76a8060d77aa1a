"""Cleaning raw rows: usable texts and label names; other rows are truncated, skipped or refused, and counted."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.training.data.asked import Asked, Tally
from glassformer.training.data.columns import Raw
from glassformer.training.data.dataset import FORMS, Form, TaskName

MOST_CHARACTERS = 100_000  # of one text; a longer one is truncated or refused
MOST_WORDS = 10_000  # of one tagged row
LONGEST_LABEL = 200
NUL = "\0"  # padding, or a remnant of UTF-16; never real text
HAS_NUL = "has a NUL character (\\u0000): remove it."


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one split, in order: inputs and label names (one per row, one per word, or none)."""

    task: TaskName
    inputs: Any  # list of texts, list of tuples of words, or Pictures
    labels: list[Any] | None

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def form(self) -> Form:
        """What a row holds."""
        return FORMS[self.task]

    def take(self, places: list[int]) -> Rows:
        """Return a subset of the rows."""
        inputs = self.inputs.select(places) if self.form.inputs == "image" else [self.inputs[place] for place in places]
        return Rows(self.task, inputs, None if self.labels is None else [self.labels[place] for place in places])


def gather(raw: Iterable[Raw], asked: Asked, tally: Tally, name: str, *, labelled: bool) -> Rows:
    """Return the usable rows. Lists of words make it a tagging task; no labels mean masked-token training."""
    inputs: list[Any] = []
    labels: list[Any] = []
    tagged: bool | None = None
    for row in raw:
        if row.fault:
            tally.bad(row.fault, "rows that cannot be read", row.place, asked)
            continue
        lists = isinstance(row.text, list | tuple)
        if lists and not labelled and all(isinstance(word, str) for word in row.text):
            row, lists = row._replace(text=" ".join(row.text)), False
        if tagged is not None and lists != tagged and row.text is not None:
            found, before = ("a list of words", "a text") if lists else ("a text", "a list of words")
            raise GlassformerError(f"{row.place} has {found} where the rows before it have {before}.")
        if tagged is None and row.text is not None:
            tagged = lists
        pair: tuple[Any, Any] | None
        pair = _tagged(row, asked, tally) if lists else _labelled(row, asked, tally, labelled=labelled)
        if pair is not None:
            inputs.append(pair[0])
            labels.append(pair[1])
    if not inputs:
        skipped = f" {tally.notes()[0]}." if tally.counts else ""
        raise GlassformerError(f"{name} has no usable row.{skipped}")
    if tagged:
        return Rows("tag", inputs, labels)
    return Rows("classify", inputs, labels) if labelled else Rows("mlm", inputs, None)


def _labelled(row: Raw, asked: Asked, tally: Tally, *, labelled: bool) -> tuple[str, str] | None:
    text = clean_text(row.text, row.place, asked, tally)
    if text is None:
        return None
    if not labelled:
        return text, ""
    name = label_name(row.label, row.place)
    if name is None:
        tally.bad(f"{row.place} has no label (empty or NaN).", "rows without a label", row.place, asked)
        return None
    return text, name


def _tagged(row: Raw, asked: Asked, tally: Tally) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    words, tags = row.text, row.label
    if not isinstance(tags, list | tuple) or len(words) != len(tags):
        several = isinstance(tags, list | tuple)
        found = f"{len(tags)} tags" if several else f"no list of tags but {shown(tags)}"
        rule = "Each word needs one tag." if several else "Write a text with one label as a string."
        complaint = f"{row.place} has {len(words)} words and {found}. {rule}"
        tally.bad(complaint, "rows with different numbers of words and tags", row.place, asked)
        return None
    if not words:
        _empty(row.place, asked, tally)
        return None
    if len(words) > MOST_WORDS:
        raise GlassformerError(f"{row.place} has {len(words):,} words; a row has at most {MOST_WORDS:,}. Split it.")
    padded = next((number for number, word in enumerate(words, 1) if isinstance(word, str) and NUL in word), None)
    if padded is not None:
        tally.bad(f"{row.place}: word {padded} {HAS_NUL}", "texts with a NUL character", row.place, asked)
        return None
    names = [label_name(tag, row.place) for tag in tags]
    if not all(isinstance(word, str) and word.strip() and _encodable(word) for word in words) or None in names:
        tally.bad(f"{row.place} has an empty word or tag, or one that is not text.", "rows with bad words", row.place, asked)
        return None
    return tuple(word.strip()[:MOST_CHARACTERS] for word in words), tuple(str(name) for name in names)


def clean_text(value: Any, place: str, asked: Asked, tally: Tally) -> str | None:
    """Strip a text; return None if it is empty and empty texts are skipped."""
    if value is not None and not isinstance(value, str):
        tally.bad(
            f"{place}: expected a text, found {shown(value)}. Is it the right column?", "values that are not text", place, asked
        )
        return None
    text = (value or "").strip()
    if not text:
        _empty(place, asked, tally)
        return None
    if len(text) > MOST_CHARACTERS:
        if asked.on_long == "refuse":
            raise GlassformerError(
                f"{place} has more than {MOST_CHARACTERS:,} characters. Split it, or truncate it with on_long='cut'."
            )
        tally.add(f"truncated to {MOST_CHARACTERS:,} characters", place)
        text = text[:MOST_CHARACTERS].strip()
    if not _encodable(text):
        tally.bad(f"{place} has an unpaired surrogate, which is not a character.", "texts with unpaired surrogates", place, asked)
        return None
    if NUL in text:
        tally.bad(f"{place}: {shown(asked.text)} {HAS_NUL}", "texts with a NUL character", place, asked)
        return None
    return text


def _empty(place: str, asked: Asked, tally: Tally) -> None:
    if asked.on_empty == "refuse":
        raise GlassformerError(f"{place} is an empty text. on_empty='skip' skips empty texts.")
    tally.add("skipped: empty texts", place)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def label_name(value: Any, place: str) -> str | None:
    """Return a label as a name, or None if it is missing; spreadsheets and pandas write `nan` for missing values."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int):
        way = " If it is a class, write it as text." if isinstance(value, float) else ""
        raise GlassformerError(
            f"{place}: a label must be a name or a whole number, found {shown(value)}. Is it the right column?{way}"
        )
    name = unicodedata.normalize("NFC", str(value)).strip()  # composed and decomposed é are the same name
    if len(name) > LONGEST_LABEL or not _encodable(name) or not name.isprintable():
        raise GlassformerError(
            f"{place}: '{shown(name)}' is not a valid label: give one line of at most {LONGEST_LABEL} characters."
        )
    return None if name.lower() in ("", "nan") else name
