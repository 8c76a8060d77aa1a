"""Options for reading your own data: the columns, and what to do with rows that cannot be used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.training.data.dataset import RowsFor

OnBad: TypeAlias = Literal["refuse", "skip"]
OnLong: TypeAlias = Literal["cut", "refuse"]
Goal: TypeAlias = Literal["auto", "classify", "regress", "multilabel", "embed"]
LARGEST_SIDE = 4096


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """The validated options of `load_data`."""

    text: str = "text"  # a column, or several with commas between them
    text_option: str = "text"  # how the caller names that column, for messages
    label: str | None = "label"
    target: str | None = None  # the column of the translations; None: see `columns.pair_of`
    rows_for: RowsFor = "encoder"
    on_bad: OnBad = "refuse"
    on_empty: OnBad = "skip"
    on_long: OnLong = "cut"
    resize: tuple[int, int] | None = None
    task: Goal = "auto"  # the kind of labels; auto: classes, or masked tokens if there are no labels

    def __post_init__(self) -> None:
        named = {"on_bad": OnBad, "on_empty": OnBad, "on_long": OnLong, "task": Goal}
        for name, choices in ((name, get_args(kind)) for name, kind in named.items()):
            value = getattr(self, name)
            if value not in choices:
                near = nearest(value, choices) if isinstance(value, str) else ""
                raise GlassformerError(f"{name}={shown(value)} is not known: one of {', '.join(choices)}.{near}")
        if self.rows_for not in get_args(RowsFor):
            raise GlassformerError(f"rows_for={shown(self.rows_for)} is not known: one of {', '.join(get_args(RowsFor))}.")
        if self.target is not None and self.target == self.text:
            raise GlassformerError(
                f"text={shown(self.text)} and target={shown(self.target)} are the same column: a text is not its translation. "
                "Name two columns (--text, --target)."
            )
        if self.label is not None and self.label in (self.text, *self.texts):
            raise GlassformerError(
                f"text={shown(self.text)} and label={shown(self.label)} are the same column: the input would contain "
                "the label. Name two columns (--text, --label)."
            )
        if twice := next((name for name in self.texts if name and self.texts.count(name) > 1), None):
            raise GlassformerError(f"text={shown(self.text)} names {shown(twice)} twice: name different columns.")
        if "" in self.texts and "," in self.text:
            raise GlassformerError(f"text={shown(self.text)} has an empty name: write the columns with one comma between them.")
        if self.resize is not None and not all(isinstance(side, int) and 1 <= side <= LARGEST_SIDE for side in self.resize):
            raise GlassformerError(
                f"resize={shown(self.resize)} is not allowed: give a side in pixels, or (height, width), "
                f"from 1 to {LARGEST_SIDE:,}."
            )

    @property
    def texts(self) -> tuple[str, ...]:
        """The names between the commas of `text`; a column whose own name has commas is looked for first."""
        return tuple(name.strip() for name in self.text.split(","))


@dataclass
class Tally:
    """What was skipped or truncated: how often, and where first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, place: str) -> None:
        """Count one more of a kind, such as `skipped: empty texts`."""
        self.counts[what] += 1
        self.first.setdefault(what, place)

    def bad(self, complaint: str, what: str, place: str, asked: RowOptions) -> None:
        """Refuse a row or file with the complaint, or skip and count it, depending on `on_bad`."""
        if asked.on_bad == "refuse":
            raise GlassformerError(f"{complaint} on_bad='skip' (--skip-bad) skips such rows.")
        self.add(f"skipped: {what}", place)

    def notes(self) -> tuple[str, ...]:
        """Return one note per kind."""
        return tuple(f"{what}: {count:,} (first: {self.first[what]})" for what, count in self.counts.items())
