"""Cleaning raw rows: usable texts and label names; other rows are truncated, skipped or refused, and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.files.texts import encodable
from glassformer.training.data.columns import GROUPS, Raw
from glassformer.training.data.dataset import FORMS, Form, TaskName
from glassformer.training.data.label_values import class_names, is_missing, label_name, number_value
from glassformer.training.data.row_options import Goal, RowOptions, Tally

MOST_CHARACTERS = 100_000  # of one text; a longer one is truncated or refused
MOST_WORDS = 10_000  # of one tagged row
NUL = "\0"  # padding, or a remnant of UTF-16; never real text
HAS_NUL = "has a NUL character (\\u0000): remove it."


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one split, in order: inputs and labels (a name, a number or a tuple of names per row, or none)."""

    task: TaskName
    inputs: Any  # list of texts, list of tuples of texts or words, or Pictures
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


def gather(raw: Iterable[Raw], asked: RowOptions, tally: Tally, name: str, *, labelled: bool) -> Rows:
    """Return the usable rows. Lists of words make it a tagging task; no labels mean masked-token training, unless `asked`."""
    inputs: list[Any] = []
    labels: list[Any] = []
    task: TaskName | None = None
    for row in raw:
        if row.fault:
            tally.bad(row.fault, "rows that cannot be read", row.place, asked)
            continue
        lists = isinstance(row.text, list | tuple)
        if lists and (not labelled or asked.task != "auto") and all(isinstance(word, str) for word in row.text):
            row, lists = row._replace(text=" ".join(row.text)), False
        if task is not None and lists != (task == "tag") and row.text is not None:
            found, before = ("a list of words", "a text") if lists else ("a text", "a list of words")
            raise GlassformerError(f"{row.place} has {found} where the rows before it have {before}.")
        if task is None and row.text is not None:
            task = "tag" if lists else task_for(asked.task, 1 + len(row.others), name, labelled=labelled)
        pair = _tagged(row, asked, tally) if lists else _labelled(row, asked, tally, task)
        if pair is not None:
            inputs.append(pair[0])
            labels.append(pair[1])
    if not inputs or task is None:
        skipped = f" {tally.notes()[0]}." if tally.counts else ""
        raise GlassformerError(f"{name} has no usable row.{skipped}")
    return Rows(task, inputs, None if FORMS[task].targets == "none" else labels)


def task_for(goal: Goal, texts: int, name: str, *, labelled: bool) -> TaskName:
    """Return the task of rows with so many texts each."""
    if goal == "embed" or (goal == "auto" and not labelled and texts > 1):
        if texts not in GROUPS:
            raise GlassformerError(
                f"task=embed needs two or three texts in a row of {name}, found {texts}: an anchor, a text that belongs to it, "
                "and perhaps one that does not. Name the columns: --text question,answer."
            )
        return "embed"
    if not labelled:
        if goal != "auto":
            raise GlassformerError(f"task={goal} needs labels, but {name} is read without them: give a table with labels.")
        return "mlm"
    if texts > (1 if goal == "multilabel" else 2):
        most = "one text" if goal == "multilabel" else "one text or two"
        raise GlassformerError(f"task={goal} reads {most} in a row, but {texts} columns are named: name fewer with --text.")
    found: dict[tuple[Goal, int], TaskName] = {("regress", 1): "regress", ("regress", 2): "similarity"}
    return found.get((goal, texts), "multilabel" if goal == "multilabel" else "classify" if texts == 1 else "pair")


def _labelled(row: Raw, asked: RowOptions, tally: Tally, task: TaskName | None) -> tuple[Any, Any] | None:
    texts = tuple(clean_text(text, row.place, asked, tally) for text in (row.text, *row.others))
    if task is None or None in texts:
        return None
    form = FORMS[task]
    given = texts if form.inputs == "texts" else texts[0]
    if form.targets == "none":
        return given, None
    label = LABELS[form.targets](row.label, row.place)
    if label is None:
        way = "no label (empty or NaN)" if is_missing(row.label) else f"the label {shown(row.label)}, which is not a number"
        tally.bad(f"{row.place} has {way}.", "rows without a label", row.place, asked)
        return None
    return given, label


LABELS: dict[str, Callable[[Any, str], Any]] = {
    "class": label_name,
    "classes": class_names,
    "number": lambda value, _place: number_value(value),
}


def _tagged(row: Raw, asked: RowOptions, tally: Tally) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
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
    if not all(isinstance(word, str) and word.strip() and encodable(word) for word in words) or None in names:
        tally.bad(f"{row.place} has an empty word or tag, or one that is not text.", "rows with bad words", row.place, asked)
        return None
    return tuple(word.strip()[:MOST_CHARACTERS] for word in words), tuple(str(name) for name in names)


def clean_text(value: Any, place: str, asked: RowOptions, tally: Tally) -> str | None:
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
    if not encodable(text):
        tally.bad(f"{place} has an unpaired surrogate, which is not a character.", "texts with unpaired surrogates", place, asked)
        return None
    if NUL in text:
        tally.bad(f"{place}: {shown(asked.text)} {HAS_NUL}", "texts with a NUL character", place, asked)
        return None
    return text


def _empty(place: str, asked: RowOptions, tally: Tally) -> None:
    if asked.on_empty == "refuse":
        raise GlassformerError(f"{place} is an empty text. on_empty='skip' skips empty texts.")
    tally.add("skipped: empty texts", place)
