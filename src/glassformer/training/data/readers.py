"""Reading tables of rows: CSV, TSV, JSON, JSON Lines, Parquet, CoNLL, and plain text with a text a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from glassformer.spec import GlassformerError, shown
from glassformer.spec.files import no_key_twice
from glassformer.spec.paths import path_text
from glassformer.training.data.asked import Asked
from glassformer.training.data.columns import Raw, columns, row_of
from glassformer.training.data.csv_tables import read_csv
from glassformer.training.data.lines import LONGEST_LINE, read_lines, whole_text

Reader: TypeAlias = Callable[[Path, Asked], Iterator[Raw]]
Found: TypeAlias = tuple[str, dict[str, Any] | str]  # a place, and an object or why there is none

LOOKED_AT = 100  # objects whose names are known before columns are chosen: one of them may lack a label
DEEPEST = 4  # of objects in objects whose names are listed
HINTS = {
    ".xlsx": " Save a spreadsheet as CSV UTF-8.",
    ".xls": " Save a spreadsheet as CSV UTF-8.",
    ".ods": " Save a spreadsheet as CSV UTF-8.",
    ".md": " Plain text is named .txt.",
    ".zip": " Unpack it first.",
    ".tar": " Unpack it first.",
    "": " Give it the ending of its kind.",
}


def read_table(path: Path, asked: Asked) -> Iterator[Raw]:
    """The rows of a file, in its order."""
    return READERS[table_kind(path)](path, asked)


def table_kind(path: Path) -> str:
    """`.csv`, `.jsonl` … of a file name, with `.gz` taken off; an error that lists the kinds where it is none of them."""
    kind = (Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix).lower()
    if kind in READERS and not (kind == ".parquet" and path.suffix.lower() == ".gz"):
        return kind
    raise GlassformerError(f"{path_text(path)} is of no known kind: {', '.join(READERS)}, or a folder.{HINTS.get(kind, '')}")


def is_table(path: Path) -> bool:
    """Whether a file has the name of a table."""
    try:
        return path.is_file() and bool(table_kind(path))
    except GlassformerError:
        return False


def read_jsonl(path: Path, asked: Asked) -> Iterator[Raw]:
    """One JSON object a line."""
    return _rows(_objects(path), asked, path_text(path))


def read_json(path: Path, asked: Asked) -> Iterator[Raw]:
    """A list of JSON objects, by itself or inside one object; columns, as pandas writes them; or one object a line."""
    name = path_text(path)
    text = whole_text(path)
    try:
        found = json.loads(text, object_pairs_hook=no_key_twice)
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
    """The rows that one object holds: as a list of objects under a name of its own, as columns, or as itself."""
    lists = [key for key, value in found.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
    if len(lists) > 1:
        raise GlassformerError(
            f"{name} holds several lists of rows: {shown(', '.join(lists))}. Save each as a file of its own in one folder, "
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
    """Whether some cell is more than a word: the tokens and tags of one sentence are lists of words, too."""
    return any(isinstance(cell, str) and len(cell.split()) > 1 for column in columns for cell in column)


def _objects(path: Path) -> Iterator[Found]:
    for line in read_lines(path):
        place = f"{path_text(path)} line {line.number}"
        if line.cut:
            yield place, f"{place} has more than {LONGEST_LINE:,} bytes: it was not read. Shorten it."
        elif line.text.strip():
            try:
                found = json.loads(line.text, object_pairs_hook=no_key_twice)
            except (ValueError, RecursionError) as error:
                if line.number == 1 and line.text.lstrip().startswith("["):
                    raise GlassformerError(
                        f"{place} begins a list of JSON, and JSON Lines has an object a line: name it .json."
                    ) from None
                yield place, _not_json(place, error)
                continue
            yield _object(place, found)


def _not_json(place: str, error: Exception) -> str:
    if isinstance(error, GlassformerError):  # JSON of which two things could be meant
        return f"{place}: {error}"
    return f"{place} is not JSON: {shown(str(error), limit=100)}."


def _object(place: str, found: Any) -> Found:
    if isinstance(found, dict):
        return place, found
    way = " Name a file that is one list .json." if isinstance(found, list) else ""
    return place, f"{place} must be an object {{…}}, found {shown(json.dumps(found, ensure_ascii=False), limit=20)}.{way}"


def _rows(objects: Iterator[Found], asked: Asked, name: str) -> Iterator[Raw]:
    first = list(islice(objects, LOOKED_AT))
    names = dict.fromkeys(column for _, one in first if isinstance(one, dict) for column in _names(one))
    chosen = None if not names else columns(list(names), asked, name)
    for place, one in chain(first, objects):
        if isinstance(one, str):
            yield Raw(place, None, None, one)
        elif chosen is None:
            chosen = columns(_names(one), asked, name)
        if isinstance(one, dict) and chosen is not None:
            text, label = chosen
            yield row_of(place, _value(one, text), _value(one, label) if label else None, chosen)


def _names(row: dict[str, Any], depth: int = 1) -> list[str]:
    """The names of an object, those inside objects with a dot: `data.text`."""
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
            chosen = text, label = columns(list(file.schema_arrow.names), asked, name)
            number = 0
            for batch in file.iter_batches(batch_size=1024, columns=[text, *([label] if label else [])]):
                rows = batch.to_pydict()
                for one, other in zip(rows[text], rows[label] if label else [None] * len(batch), strict=True):
                    number += 1
                    yield row_of(f"{name} row {number}", one, other, chosen)
    except (pyarrow.ArrowException, OSError) as error:
        raise GlassformerError(f"{name} is not Parquet that can be read: {shown(str(error).rstrip('.'), limit=100)}.") from None


def read_conll(path: Path, asked: Asked) -> Iterator[Raw]:
    """A word a line, its tag last, an empty line between sentences."""
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
            yield Raw(place, None, None, f"{place} has a word and no tag: '{shown(fields[0])}'.")


def _fields(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line, and an empty line after the last."""
    number = 0
    for line in read_lines(path):
        number = line.number
        yield number, [] if line.text.startswith("# ") else line.text.split()
    yield number + 1, []


def read_plain(path: Path, asked: Asked) -> Iterator[Raw]:  # noqa: ARG001
    """Plain text: a text a line, no labels; a line too long for memory keeps its beginning."""
    return (Raw(f"{path_text(path)} line {line.number}", line.text) for line in read_lines(path) if line.text.strip())


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
