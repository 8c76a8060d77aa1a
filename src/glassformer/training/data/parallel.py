"""Parallel text: pairs of a text and its translation, from a table or from two files with equally many lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.training.data.columns import Raw
from glassformer.training.data.lines import read_lines
from glassformer.training.data.readers import is_table, table_kind
from glassformer.training.data.row_options import RowOptions, Tally
from glassformer.training.data.texts import Rows, clean_text, gather


def is_plain(path: Path) -> bool:
    """Whether a file has one text per line: by its name, or because its name is not that of a table (`train.en`)."""
    return path.is_file() and (not is_table(path) or table_kind(path) == ".txt")


def read_two(source: Path, target: Path) -> Iterator[Raw]:
    """Read two files line by line; a line without a partner is refused."""
    ended = None
    for one, other in zip_longest(read_lines(source), read_lines(target)):
        line = one or other
        if one is None or other is None:
            longer, shorter = (source, target) if other is None else (target, source)
            ended = ended or f"line {line.number} of {path_text(longer)} has no partner: {path_text(shorter)} has"
            continue
        yield Raw(f"line {line.number} of {path_text(source)} and {path_text(target)}", one.text, other.text)
        last = line.number
    if ended is not None:
        raise GlassformerError(f"{ended} {last:,} line{'' if last == 1 else 's'}. Each line needs its translation.")


def gather_for(raw: Iterable[Raw], asked: RowOptions, tally: Tally, name: str, *, labelled: bool) -> Rows:
    """Return the usable rows, as the kind of model needs them."""
    if asked.rows_for == "seq2seq":
        return gather_pairs(raw, asked, tally, name)
    rows = gather(raw, asked, tally, name, labelled=labelled)
    return replace(rows, task="causal") if asked.rows_for == "decoder" and rows.task == "mlm" else rows


def gather_pairs(raw: Iterable[Raw], asked: RowOptions, tally: Tally, name: str) -> Rows:
    """Return the usable pairs; those of which one text is empty are skipped and counted."""
    sources: list[str] = []
    targets: list[str] = []
    for row in raw:
        if row.fault:
            tally.bad(row.fault, "rows that cannot be read", row.place, asked)
            continue
        source = clean_text(row.text, row.place, asked, tally)
        target = None if source is None else clean_text(row.label, row.place, asked, tally)
        if source is not None and target is not None:
            sources.append(source)
            targets.append(target)
    if not sources:
        skipped = f" {tally.notes()[0]}." if tally.counts else ""
        raise GlassformerError(f"{name} has no usable pair of texts.{skipped}")
    return Rows("translate", sources, targets)


def linked(sources: Sequence[bytes], targets: Sequence[bytes]) -> list[bytes]:
    """Return one key per pair, the same for pairs that are linked by an equal source or target, directly or through others.

    Such pairs go into the same split: otherwise a sentence of the test would be among the training data in other words.
    """
    parent = list(range(len(sources)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    seen: dict[tuple[str, bytes], int] = {}
    for place, pair in enumerate(zip(sources, targets, strict=True)):
        for side in zip(("source", "target"), pair, strict=True):
            first, own = root(seen.setdefault(side, place)), root(place)
            parent[max(first, own)] = min(first, own)
    least: dict[int, bytes] = {}
    for place, pair in enumerate(zip(sources, targets, strict=True)):
        key = b"\x1f".join(pair)
        least[root(place)] = min(least.get(root(place), key), key)  # independent of the order of the rows
    return [least[root(place)] for place in range(len(sources))]
