"""Rows of the input files: text, CSV, JSONL or Parquet; a row that cannot be read carries the reason."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from glassformer.encoding.jobs.inputs import Input
from glassformer.encoding.tables import parquet_packages
from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.files.paths import path_text
from glassformer.files.text_lines import LONGEST_LINE

BATCH_ROWS = 1024  # of a Parquet file at once
ENCODED = ("file", "row", "embedding", "scale")
PREDICTED = ("file", "row", "label", "labels", "probability", "probabilities", "scores", "tokens", "masks")


class Row(NamedTuple):
    """One row of an input: its text, or why there is none, and the values of the carried columns."""

    text: str | None
    beside: tuple[Any, ...] = ()
    fault: str | None = None


@dataclass(frozen=True)
class Columns:
    """Which column holds the text, and which are carried along; `carry` is None for all others."""

    text: str | None = None
    carry: tuple[str, ...] | None = None
    taken: tuple[str, ...] = ENCODED  # names of output columns

    def chosen(self, known: Sequence[str], name: str, *, fixed: bool = True) -> tuple[str, tuple[str, ...]]:
        """Return the text column and the carried columns of a file; with `fixed`, it has these columns and no others."""
        text = self.text if self.text is not None else "text"
        for one in (text, *(self.carry or ())) if fixed else ():
            if one not in known:
                way = " Name the text column with --column NAME." if self.text is None and one == text else nearest(one, known)
                way = " Pairs of columns are read with --file." if one == text and "," in text else way
                raise GlassformerError(f"{name} has no column '{shown(one)}': it has {listed(map(shown, known))}.{way}")
        carry = tuple(one for one in known if one != text) if self.carry is None else self.carry
        for one in carry:
            if one in self.taken:
                raise GlassformerError(
                    f"{name}: column '{shown(one)}' has the name of an output column: choose others with --carry or --no-carry."
                )
        return text, carry


class Reader(NamedTuple):
    """The rows of an open file, the names of its carried columns, and their Arrow types if it has any."""

    rows: Iterator[Row]
    carried: tuple[str, ...]
    types: dict[str, Any]


def read(one: Input, columns: Columns, plain: BinaryIO) -> Reader:
    """Return the rows of an open file; wrong columns are raised now, and a bad row says so itself."""
    return READERS[one.form](one, columns, plain)


def check_columns(one: Input, columns: Columns) -> None:
    """Open a file and refuse it if it lacks a column, before anything is computed."""
    with one.opened() as (plain, _):
        read(one, columns, plain)


def _text(one: Input, columns: Columns, plain: BinaryIO) -> Reader:
    if columns.text is not None or columns.carry:
        raise GlassformerError(f"{path_text(one.path)} is plain text without columns: leave out --column and --carry.")
    return Reader((Row(line) if fault is None else Row(None, (), fault) for line, fault in _lines(plain)), (), {})


def _lines(plain: BinaryIO) -> Iterator[tuple[str, str | None]]:
    """Yield lines without their ends; for a line that is not text, why."""
    first = True
    while line := plain.readline(LONGEST_LINE + 1):
        fault, text = None, ""
        if len(line) > LONGEST_LINE:
            fault = f"the line is longer than {LONGEST_LINE:,} bytes"
            _skip_line(plain, line)
        else:
            try:
                text = (line.removeprefix(b"\xef\xbb\xbf") if first else line).decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                fault = f"byte {error.start + 1} is not UTF-8"
        first = False
        yield text, fault


def _skip_line(plain: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = plain.readline(LONGEST_LINE)


def _jsonl(one: Input, columns: Columns, plain: BinaryIO) -> Reader:
    lines = _lines(plain)
    first = list(next(([line] for line in lines), []))  # its keys are the columns of the file
    found = _object(*first[0])[0] if first else None
    name, carry = columns.chosen(list(found or ()), path_text(one.path), fixed=False)

    def row(line: str, fault: str | None) -> Row:
        found, fault = _object(line, fault)
        if found is None:
            return Row(None, (None,) * len(carry), fault)
        return _checked(found.get(name), tuple(found.get(one) for one in carry), name, missing=name not in found)

    return Reader((row(line, fault) for line, fault in chain(first, lines)), carry, {})


def _object(line: str, fault: str | None) -> tuple[dict[str, Any] | None, str | None]:
    """Return the JSON object of a line, or why there is none."""
    if fault is not None:
        return None, fault
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return None, f"not JSON: {shown(str(error), limit=80)}"
    return (found, None) if isinstance(found, dict) else (None, f"not a JSON object, found {shown(line, limit=40)}")


class _CsvLines:
    """Lines for a CSV reader; a line that is too long is an error of its row alone."""

    def __init__(self, plain: BinaryIO) -> None:
        self.plain, self.first = plain, True

    def __iter__(self) -> _CsvLines:
        return self

    def __next__(self) -> str:
        line = self.plain.readline(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        if len(line) > LONGEST_LINE:
            _skip_line(self.plain, line)
            raise csv.Error(f"a line is longer than {LONGEST_LINE:,} bytes")
        line, self.first = line.removeprefix(b"\xef\xbb\xbf") if self.first else line, False
        return line.decode("utf-8", "surrogateescape")


def _csv(one: Input, columns: Columns, plain: BinaryIO) -> Reader:
    table = csv.reader(_CsvLines(plain), delimiter="\t" if ".tsv" in one.path.suffixes else ",")
    try:
        head = next(table, [])
    except csv.Error as error:
        raise GlassformerError(f"{path_text(one.path)} is not CSV: {shown(str(error), limit=80)}.") from None
    if len(set(head)) < len(head):
        twice = next(name for name in head if head.count(name) > 1)
        raise GlassformerError(f"{path_text(one.path)} has two columns '{shown(twice)}': rename one.")
    name, carry = columns.chosen(head, path_text(one.path))
    at, places = head.index(name), [head.index(other) for other in carry]

    def row() -> Row | None:
        """Return the next row, or None for a blank line."""
        try:
            cells = _next_cells(table)
        except csv.Error as error:
            return Row(None, (None,) * len(carry), f"not CSV: {shown(str(error), limit=80)}")
        if not cells and len(head) > 1:
            return None
        cells = cells or [""]
        fault = _fault(cells, len(head))
        return Row(None, (None,) * len(carry), fault) if fault else Row(cells[at], tuple(cells[place] for place in places))

    def rows() -> Iterator[Row]:
        while True:
            try:
                found = row()
            except StopIteration:
                return
            if found is not None:
                yield found

    return Reader(rows(), carry, {})


def _fault(cells: list[str], wanted: int) -> str | None:
    if len(cells) != wanted:
        return f"{len(cells)} cells, but the header has {wanted}"
    escaped = any("\udc80" <= letter <= "\udcff" for cell in cells if not cell.isascii() for letter in cell)
    return "a byte is not UTF-8" if escaped else None


def _next_cells(table: Iterator[list[str]]) -> list[str]:
    """Read one row with a limit on its cells, so that an unclosed quote does not consume the whole file."""
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        return next(table)
    finally:
        csv.field_size_limit(before)


def _parquet(one: Input, columns: Columns, plain: BinaryIO) -> Reader:
    arrow, parquet = parquet_packages()
    try:
        file = parquet.ParquetFile(plain)
    except (arrow.ArrowException, OSError) as error:
        raise GlassformerError(f"{path_text(one.path)} is not a Parquet file: {shown(str(error), limit=100)}.") from None
    name, carry = columns.chosen(file.schema_arrow.names, path_text(one.path))
    types = {other: file.schema_arrow.field(other).type for other in carry}
    for other, kind in types.items():
        if not _carries(arrow.types, kind):
            raise GlassformerError(
                f"{path_text(one.path)}: column '{shown(other)}' of type {shown(str(kind))} cannot be carried along: name the "
                "others with --carry, or --no-carry."
            )

    def rows() -> Iterator[Row]:
        try:
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(dict.fromkeys((name, *carry)))):
                lists = [batch.column(other).to_pylist() for other in carry]
                for number, found in enumerate(batch.column(name).to_pylist()):
                    yield _checked(found, tuple(values[number] for values in lists), name)
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise one.unread(error) from None

    return Reader(rows(), carry, types)


def _carries(known: Any, kind: Any) -> bool:
    """Whether values of an Arrow type survive the way through Python unchanged."""
    if known.is_list(kind) or known.is_large_list(kind):
        return _carries(known, kind.value_type)
    if known.is_struct(kind):
        return all(_carries(known, kind.field(i).type) for i in range(kind.num_fields))
    if known.is_timestamp(kind):
        return bool(kind.unit != "ns")
    simple = "boolean integer floating string large_string binary large_binary decimal date null".split()
    return any(getattr(known, f"is_{name}")(kind) for name in simple)


def _checked(found: Any, beside: tuple[Any, ...], name: str, *, missing: bool = False) -> Row:
    if isinstance(found, str):
        return Row(found, beside)
    what = "is missing" if missing else f"must be a string, found {shown(found)}"
    return Row(None, beside, f"'{shown(name)}' {what}")


READERS: dict[str, Callable[[Input, Columns, BinaryIO], Reader]] = {
    "text": _text,
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}
