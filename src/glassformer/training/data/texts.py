"""Raw rows into texts and label names that can be learned from; what is not fit is counted, cut, skipped or refused."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glassformer.spec import GlassformerError, shown
from glassformer.training.data.asked import Asked, Tally
from glassformer.training.data.columns import Raw
from glassformer.training.data.dataset import Task

MOST_CHARACTERS = 100_000  # of one text; a longer one is cut, or refused if asked
MOST_WORDS = 10_000  # of one tagged row
LONGEST_LABEL = 200
NUL = "\0"  # what programs pad with and what is left of UTF-16: nobody writes it
HAS_NUL = "has a NUL character (\\u0000), which no text has: take it out."


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one part, in order: inputs, and the names of their labels (one a row, one a word, or none)."""

    task: Task
    inputs: Any  # list of texts, list of tuples of words, or Pictures
    labels: list[Any] | None

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, places: list[int]) -> Rows:
        """Some of the rows."""
        inputs = self.inputs.select(places) if self.task == "image" else [self.inputs[place] for place in places]
        return Rows(self.task, inputs, None if self.labels is None else [self.labels[place] for place in places])


def gather(raw: Iterable[Raw], asked: Asked, tally: Tally, name: str, *, labelled: bool) -> Rows:
    """The rows that can be used. A list of words in the text's place makes it a tagging task, no labels masked-token training."""
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
        raise GlassformerError(f"{name} has no row that can be used.{skipped}")
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
        found = f"{len(tags)} tags" if several else f"no list of tags, but {shown(tags)}"
        rule = "A word has a tag." if several else "A text with one label is written as one text."
        complaint = f"{row.place} has {len(words)} words and {found}. {rule}"
        tally.bad(complaint, "rows whose words and tags differ", row.place, asked)
        return None
    if not words:
        _empty(row.place, asked, tally)
        return None
    if len(words) > MOST_WORDS:
        raise GlassformerError(f"{row.place} has {len(words):,} words; a row has at most {MOST_WORDS:,}. Split it.")
    padded = next((number for number, word in enumerate(words, 1) if isinstance(word, str) and NUL in word), None)
    if padded is not None:
        tally.bad(f"{row.place}: its word {padded} {HAS_NUL}", "texts with a NUL character", row.place, asked)
        return None
    names = [label_name(tag, row.place) for tag in tags]
    if not all(isinstance(word, str) and word.strip() and _encodable(word) for word in words) or None in names:
        tally.bad(f"{row.place} has an empty word or tag, or one that is no text.", "rows with bad words", row.place, asked)
        return None
    return tuple(word.strip()[:MOST_CHARACTERS] for word in words), tuple(str(name) for name in names)


def clean_text(value: Any, place: str, asked: Asked, tally: Tally) -> str | None:
    """A text without the blanks around it; None where it is empty and such are skipped."""
    if value is not None and not isinstance(value, str):
        tally.bad(
            f"{place}: a text is wanted, found {shown(value)}. Is it the right column?", "texts that are none", place, asked
        )
        return None
    text = (value or "").strip()
    if not text:
        _empty(place, asked, tally)
        return None
    if len(text) > MOST_CHARACTERS:
        if asked.on_long == "refuse":
            raise GlassformerError(f"{place} has more than {MOST_CHARACTERS:,} characters. Split it, or cut it: on_long='cut'.")
        tally.add(f"cut to {MOST_CHARACTERS:,} characters", place)
        text = text[:MOST_CHARACTERS].strip()
    if not _encodable(text):
        tally.bad(f"{place} has half of a surrogate pair, which is no character.", "texts with half characters", place, asked)
        return None
    if NUL in text:
        tally.bad(f"{place}: {shown(asked.text)} {HAS_NUL}", "texts with a NUL character", place, asked)
        return None
    return text


def _empty(place: str, asked: Asked, tally: Tally) -> None:
    if asked.on_empty == "refuse":
        raise GlassformerError(f"{place} is an empty text. on_empty='skip' leaves such out.")
    tally.add("skipped: empty texts", place)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def label_name(value: Any, place: str) -> str | None:
    """A label as a name; None where there is none. `nan` is what spreadsheets and pandas write for a missing value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int):
        way = " If it is a class, write it as a text." if isinstance(value, float) else ""
        raise GlassformerError(
            f"{place}: a label is a name or a whole number, found {shown(value)}. Is it the right column?{way}"
        )
    name = unicodedata.normalize("NFC", str(value)).strip()  # two ways to write é are one name
    if len(name) > LONGEST_LABEL or not _encodable(name) or not name.isprintable():
        raise GlassformerError(f"{place}: '{shown(name)}' is no label: one line of at most {LONGEST_LABEL} characters.")
    return None if name.lower() in ("", "nan") else name
