"""Reading tables of rows: CSV, TSV, JSON Lines, Parquet, and plain text with a text a line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.weight_files import path_text
from glassformer.training.data.asked import Asked
from glassformer.training.data.lines import LONGEST_LINE, read_lines


class Raw(NamedTuple):
    """A row as it stands in the file: where, the text (or the list of words), the label (or the list of tags)."""

    place: str
    text: Any
    label: Any = None


Reader: TypeAlias = Callable[[Path, Asked], Iterator[Raw]]


def read_table(path: Path, asked: Asked) -> Iterator[Raw]:
    """The rows of a file, in its order."""
    return READERS[table_kind(path)](path, asked)


def table_kind(path: Path) -> str:
    """`.csv`, `.jsonl` … of a file name, with `.gz` taken off; an error that lists the kinds where it is none of them."""
    kind = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if kind.lower() in READERS and not (kind == ".parquet" and path.suffix == ".gz"):
        return kind.lower()
    hint = " A .json file must be JSON Lines, one object a line: name it .jsonl." if kind == ".json" else ""
    raise GlassformerError(f"{path_text(path)} is of no known kind: {', '.join(READERS)}, or a folder.{hint}")


def columns(names: Sequence[str], asked: Asked, name: str) -> tuple[str, str | None]:
    """Which columns hold text and label; the file's columns are listed where they do not."""
    if asked.text == "text" and asked.label == "label" and "text" not in names and {"tokens", "tags"} <= set(names):
        return "tokens", "tags"
    for option, wanted in (("text", asked.text), ("label", asked.label)):
        if wanted is not None and wanted not in names:
            listed = ", ".join(shown(column) for column in names[:20]) + (", …" if len(names) > 20 else "")
            plain = ", or label=None (--no-label) for plain text without labels" if option == "label" else ""
            raise GlassformerError(
                f"{name} has no column '{shown(wanted)}'.{nearest(wanted, names)} Its columns: {listed}. "
                f"Choose one with {option}=… (--{option}){plain}."
            )
    return asked.text, asked.label


def read_csv(path: Path, asked: Asked) -> Iterator[Raw]:
    """A header and rows of as many fields; commas, or what the header shows to stand in their place (semicolons, tabs)."""
    name, ends = path_text(path), [0]

    def lines() -> Iterator[str]:
        for line in read_lines(path):
            if line.cut:
                raise GlassformerError(f"{name} line {line.number} has more than {LONGEST_LINE:,} bytes: it was not read.")
            ends[0] = line.number
            yield line.text + "\n"

    source = lines()
    header = next((line for line in source if line.strip()), "")
    if not header:
        raise GlassformerError(f"{name} is empty: there is nothing to learn from.")
    delimiter = "\t" if ".tsv" in path.suffixes else next((sign for sign in ",;\t" if sign in header), ",")
    names = [column.strip() for column in next(csv.reader([header], delimiter=delimiter))]
    _no_column_twice(names, name)
    text, label = columns(names, asked, name)
    limit = csv.field_size_limit(LONGEST_LINE)  # else a quote that is never closed swallows the file
    try:
        rows, start = csv.reader(source, delimiter=delimiter, strict=True), ends[0] + 1
        for row in rows:
            if row:
                if len(row) != len(names):
                    raise GlassformerError(
                        f"{name} line {start} has {len(row)} fields, the header has {len(names)}. "
                        f'A text that contains "{_sign(delimiter)}" must stand in double quotes.'
                    )
                yield Raw(f"{name} line {start}", row[names.index(text)], row[names.index(label)] if label else None)
            start = ends[0] + 1
    except csv.Error as error:
        raise GlassformerError(f"{name} line {start}: {shown(str(error), limit=100)}. Is a double quote never closed?") from None
    finally:
        csv.field_size_limit(limit)


def read_jsonl(path: Path, asked: Asked) -> Iterator[Raw]:
    """One JSON object a line."""
    name, chosen = path_text(path), None
    for line in read_lines(path):
        place = f"{name} line {line.number}"
        if line.cut:
            raise GlassformerError(f"{place} has more than {LONGEST_LINE:,} bytes: it was not read.")
        if not line.text.strip():
            continue
        try:
            row = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            raise GlassformerError(f"{place} is not JSON: {shown(str(error), limit=100)}.") from None
        if not isinstance(row, dict):
            raise GlassformerError(f"{place} must be an object {{…}}, found {shown(line.text, limit=20)}.")
        text, label = chosen = chosen or columns(list(row), asked, name)
        yield Raw(place, row.get(text), row.get(label) if label else None)


def read_parquet(path: Path, asked: Asked) -> Iterator[Raw]:
    """Row groups of a Parquet file, through the optional package pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise GlassformerError(f"{path_text(path)} needs the package pyarrow: pip install 'glassformer[data]'.") from None
    name = path_text(path)
    try:
        with parquet.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
            _no_column_twice(names, name)
            text, label = columns(names, asked, name)
            number = 0
            for batch in file.iter_batches(batch_size=1024, columns=[text, *([label] if label else [])]):
                rows = batch.to_pydict()
                for one, other in zip(rows[text], rows[label] if label else [None] * len(batch), strict=True):
                    number += 1
                    yield Raw(f"{name} row {number}", one, other)
    except (pyarrow.ArrowException, OSError) as error:
        raise GlassformerError(f"{name} is not Parquet that can be read: {shown(str(error), limit=100)}.") from None


def read_plain(path: Path, asked: Asked) -> Iterator[Raw]:  # noqa: ARG001
    """Plain text: a text a line, no labels; a line too long for memory keeps its beginning."""
    return (Raw(f"{path_text(path)} line {line.number}", line.text) for line in read_lines(path) if line.text.strip())


READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".parquet": read_parquet,
    ".txt": read_plain,
}


def _no_column_twice(names: Sequence[str], name: str) -> None:
    twice = next((column for place, column in enumerate(names) if column in names[:place]), None)
    if twice is not None:
        raise GlassformerError(f"{name} has the column '{shown(twice)}' twice in its header: rename one.")


def _sign(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else delimiter
