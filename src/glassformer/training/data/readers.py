"""Reading tables: CSV, TSV, JSON, JSON Lines, Parquet, CoNLL, and plain text with one text per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import unique_keys
from glassformer.files.paths import path_text
from glassformer.training.data.columns import Raw, columns
from glassformer.training.data.csv_tables import read_csv
from glassformer.training.data.lines import LONGEST_LINE, read_lines, whole_text
from glassformer.training.data.row_options import RowOptions

Reader: TypeAlias = Callable[[Path, RowOptions], Iterator[Raw]]
Found: TypeAlias = tuple[str, dict[str, Any] | str]  # a place, and an object or an error message

LOOKED_AT = 100  # objects read before columns are chosen, since some may lack a label
DEEPEST = 4  # maximum nesting of listed names
HINTS = {
    ".xlsx": " Save a spreadsheet as CSV UTF-8.",
    ".xls": " Save a spreadsheet as CSV UTF-8.",
    ".ods": " Save a spreadsheet as CSV UTF-8.",
    ".md": " Name plain text .txt.",
    ".zip": " Unpack it first.",
    ".tar": " Unpack it first.",
    "": " Add the suffix of its type.",
}


def read_table(path: Path, asked: RowOptions) -> Iterator[Raw]:
    """Yield the rows of a file, in order."""
    return READERS[table_kind(path)](path, asked)


def table_kind(path: Path) -> str:
    """Return the type of a file name (`.csv`, `.jsonl` …) without `.gz`; raise an error that lists the types if unknown."""
    kind = (Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix).lower()
    if kind in READERS and not (kind == ".parquet" and path.suffix.lower() == ".gz"):
        return kind
    raise GlassformerError(f"{path_text(path)} is not of a known type: {', '.join(READERS)}, or a folder.{HINTS.get(kind, '')}")


def is_table(path: Path) -> bool:
    """Return whether a file is a table, by its name."""
    try:
        return path.is_file() and bool(table_kind(path))
    except GlassformerError:
        return False


def read_jsonl(path: Path, asked: RowOptions) -> Iterator[Raw]:
    """Read one JSON object per line."""
    return _rows(_objects(path), asked, path_text(path))


def read_json(path: Path, asked: RowOptions) -> Iterator[Raw]:
    """Read a list of JSON objects, alone or inside one object; columns, as pandas writes them; or one object per line."""
    name = path_text(path)
    text = whole_text(path)
    try:
        found = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        if not text.lstrip().startswith("[") and not isinstance(error, GlassformerError):
            yield from read_jsonl(path, asked)
            return
        raise GlassformerError(_not_json(name, error)) from None
    listed = _listed(found, name) if isinstance(found, dict) else found
    if not isinstance(listed, list):
        yield from read_jsonl(path, asked)
        return
    yield from _rows((_object(f"{name} item {number}", one) for number, one in enumerate(listed, 1)), asked, name)


def _listed(found: dict[str, Any], name: str) -> list[Any]:
    """Return the rows in one object: a list of objects under a key, columns, or the object itself."""
    lists = [key for key, value in found.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
    if len(lists) > 1:
        raise GlassformerError(
            f"{name} contains several lists of rows: {shown(', '.join(lists))}. Save each as a separate file in one folder, "
            "as in train.json, validation.json and test.json."
        )
    if lists:
        return list(found[lists[0]])
    values = list(found.values())
    if values and all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values) and _numbered(values[0]):
        return [{column: found[column][row] for column in found} for row in values[0]]
    if all(isinstance(value, list) and len(value) == len(values[0]) for value in values) and _sentences(values):
        return [dict(zip(found, row, strict=True)) for row in zip(*values, strict=True)]
    return [found]


def _numbered(column: dict[str, Any]) -> bool:
    return bool(column) and all(name.isdecimal() for name in column)


def _sentences(columns: list[list[Any]]) -> bool:
    """Return whether any cell has several words: tokens and tags of one sentence are lists of single words."""
    return any(isinstance(cell, str) and len(cell.split()) > 1 for column in columns for cell in column)


def _objects(path: Path) -> Iterator[Found]:
    for line in read_lines(path):
        place = f"{path_text(path)} line {line.number}"
        if line.cut:
            yield place, f"{place} has more than {LONGEST_LINE:,} bytes: it was not read. Shorten it."
        elif line.text.strip():
            try:
                found = json.loads(line.text, object_pairs_hook=unique_keys)
            except (ValueError, RecursionError) as error:
                if line.number == 1 and line.text.lstrip().startswith("["):
                    raise GlassformerError(
                        f"{place} starts a JSON list, but JSON Lines has one object per line: rename it to .json."
                    ) from None
                yield place, _not_json(place, error)
                continue
            yield _object(place, found)


def _not_json(place: str, error: Exception) -> str:
    if isinstance(error, GlassformerError):  # ambiguous JSON
        return f"{place}: {error}"
    return f"{place} is not JSON: {shown(str(error), limit=100)}."


def _object(place: str, found: Any) -> Found:
    if isinstance(found, dict):
        return place, found
    way = " Rename a file that is one list to .json." if isinstance(found, list) else ""
    return place, f"{place} must be an object {{…}}, found {shown(json.dumps(found, ensure_ascii=False), limit=20)}.{way}"


def _rows(objects: Iterator[Found], asked: RowOptions, name: str) -> Iterator[Raw]:
    first = list(islice(objects, LOOKED_AT))
    names = dict.fromkeys(column for _, one in first if isinstance(one, dict) for column in _names(one))
    chosen = None if not names else columns(list(names), asked, name)
    for place, one in chain(first, objects):
        if isinstance(one, str):
            yield Raw(place, None, None, one)
        elif chosen is None:
            chosen = columns(_names(one), asked, name)
        if isinstance(one, dict) and chosen is not None:
            yield chosen.row(place, partial(_value, one))


def _names(row: dict[str, Any], depth: int = 1) -> list[str]:
    """Return the names of an object; nested names are joined with a dot: `data.text`."""
    names = list(row)
    for name, value in row.items():
        if isinstance(value, dict) and depth < DEEPEST:
            names += [f"{name}.{inner}" for inner in _names(value, depth + 1)]
    return names


def _value(row: dict[str, Any], name: str) -> Any:
    if name in row:
        return row[name]
    outer, _, inner = name.partition(".")
    return _value(row[outer], inner) if inner and isinstance(row.get(outer), dict) else None


def read_parquet(path: Path, asked: RowOptions) -> Iterator[Raw]:
    """Read a Parquet file with the optional package pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise GlassformerError(f"{path_text(path)} needs the package pyarrow: pip install 'glassformer[data]'.") from None
    name = path_text(path)
    try:
        with parquet.ParquetFile(path) as file:
            chosen = columns(list(file.schema_arrow.names), asked, name)
            number = 0
            for batch in file.iter_batches(batch_size=1024, columns=chosen.names):
                for one in batch.to_pylist():
                    number += 1
                    yield chosen.row(f"{name} row {number}", one.__getitem__)
    except (pyarrow.ArrowException, OSError) as error:
        raise GlassformerError(f"{name} is not a readable Parquet file: {shown(str(error).rstrip('.'), limit=100)}.") from None


def read_conll(path: Path, asked: RowOptions) -> Iterator[Raw]:
    """Read one word per line, with its tag last and an empty line between sentences."""
    words: list[str] = []
    tags: list[str] = []
    start = 1
    for number, fields in _fields(path):
        if len(fields) > 1 and fields[0] != "-DOCSTART-":
            start = start if words else number
            words.append(fields[0])
            tags.append(fields[-1])
        elif words:
            yield Raw(f"{path_text(path)} line {start}", words, tags if asked.label is not None else None)
            words, tags = [], []
        if len(fields) == 1 and not fields[0].startswith("#"):
            place = f"{path_text(path)} line {number}"
            yield Raw(place, None, None, f"{place} has a word without a tag: '{shown(fields[0])}'.")


def _fields(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line, and an empty line after the last."""
    number = 0
    for line in read_lines(path):
        number = line.number
        yield number, [] if line.text.startswith("# ") else line.text.split()
    yield number + 1, []


def read_plain(path: Path, asked: RowOptions) -> Iterator[Raw]:  # noqa: ARG001
    """Read plain text: one text per line, without labels; very long lines are truncated."""
    name = path_text(path)
    return (Raw(f"{name} line {line.number}", line.text) for line in read_lines(path) if line.text.strip())


READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".parquet": read_parquet,
    ".conll": read_conll,
    ".txt": read_plain,
}
