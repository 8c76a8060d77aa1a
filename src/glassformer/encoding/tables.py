"""Streaming writers for .npy, .jsonl and .parquet; a file gets its name only when it is complete."""

from __future__ import annotations

import importlib
import json
import math
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import GlassformerError
from glassformer.files.paths import not_written, path_text

NPY_HEADER = 128  # bytes: enough for any number of rows, so that the header can be rewritten at the end


class Rows(NamedTuple):
    """Some rows of a table: columns by name, each an array [rows, width] or a list; `numbers` are the input line numbers."""

    numbers: Sequence[int]
    columns: Mapping[str, NDArray[Any] | Sequence[Any]]


class Sink(Protocol):
    """A destination for rows."""

    def add(self, rows: Rows) -> None:
        """Write some rows."""

    def finish(self) -> None:
        """Complete the file."""


class JsonLines:
    """Writes one JSON object per line."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def add(self, rows: Rows) -> None:
        names = list(rows.columns)
        for number, *cells in zip(rows.numbers, *rows.columns.values(), strict=True):
            told = ", ".join(f'"{name}": {_json(cell)}' for name, cell in zip(names, cells, strict=True))
            self.file.write(f'{{"line": {number + 1}, {told}}}\n'.encode())
        self.file.flush()

    def finish(self) -> None:
        self.file.flush()


def _json(cell: Any) -> str:
    if isinstance(cell, np.ndarray):
        # Nine digits restore a float32 exactly, and are half as long as those of a float64.
        digits = "%.9g" if cell.dtype == np.float32 else "%.17g"
        return "[" + ", ".join([digits] * cell.size) % tuple(cell.tolist()) + "]"
    return json.dumps(cell, ensure_ascii=False, allow_nan=False)


class Npy:
    """Writes one array [rows, width]; the header is rewritten when the number of rows is known."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.rows, self.width = 0, 0
        self.dtype = np.dtype("<f4")
        self.file.write(b"\0" * NPY_HEADER)

    def add(self, rows: Rows) -> None:
        values = next(column for column in rows.columns.values() if isinstance(column, np.ndarray))
        self.dtype, self.width = values.dtype.newbyteorder("<"), values.shape[1]
        self.file.write(np.ascontiguousarray(values, dtype=self.dtype).tobytes())
        self.rows += len(values)

    def finish(self) -> None:
        header = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self.rows}, {self.width}), }}"
        room = NPY_HEADER - 10
        assert len(header) < room
        self.file.seek(0)
        self.file.write(b"\x93NUMPY\x01\x00" + room.to_bytes(2, "little") + header.ljust(room - 1).encode("latin-1") + b"\n")


class Parquet:
    """Writes one row group per call; the first call determines the columns."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.writer: Any = None
        self.schema: Any = None
        self.arrow, self.parquet = parquet_packages()

    def add(self, rows: Rows) -> None:
        columns: dict[str, Any] = {"line": self.arrow.array([number + 1 for number in rows.numbers], self.arrow.int64())}
        for name, column in rows.columns.items():
            if isinstance(column, np.ndarray):
                flat = self.arrow.array(column.reshape(-1))
                columns[name] = self.arrow.FixedSizeListArray.from_arrays(flat, column.shape[1])
            else:
                known = self.schema.field(name).type if self.schema is not None else None
                columns[name] = self.arrow.array(list(column), type=known)
        table = self.arrow.table(columns)
        if self.writer is None:
            self.schema = table.schema
            self.writer = self.parquet.ParquetWriter(self.file, self.schema)
        self.writer.write_table(table)

    def finish(self) -> None:
        if self.writer is not None:
            self.writer.close()


SINKS: dict[str, Callable[[BinaryIO], Sink]] = {".npy": Npy, ".jsonl": JsonLines, ".parquet": Parquet}
FORMS = tuple(SINKS)


def parquet_packages() -> tuple[Any, Any]:
    """Import pyarrow, or say how to install it."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise GlassformerError(".parquet needs the pyarrow package: pip install 'glassformer[data]', or write .jsonl.") from None


def check_out(out: Path, *, forms: Sequence[str] = FORMS) -> None:
    """Refuse an output name that cannot be written, before anything is computed."""
    if out.suffix not in forms:
        raise GlassformerError(f"--out {path_text(out)}: the name must end in one of {', '.join(forms)}.")
    if out.is_dir() or not out.absolute().parent.is_dir():
        what = "is a folder: name a file in it" if out.is_dir() else "is in a folder that does not exist: create it first"
        raise GlassformerError(f"--out {path_text(out)} {what}.")
    if out.exists() or out.is_symlink():
        raise GlassformerError(f"--out {path_text(out)} exists already: choose another name, nothing is overwritten.")
    if out.suffix == ".parquet":
        parquet_packages()


@contextmanager
def sink(out: Path | BinaryIO) -> Iterator[Sink]:
    """Open a destination for rows: a stream, or a file that is renamed when complete and removed after an error."""
    if not isinstance(out, Path):
        yield JsonLines(out)
        return
    unfinished = out.absolute().parent / f".{out.name[:200]}.{secrets.token_hex(4)}"
    try:
        with ending_by_exit(), unfinished.open("wb") as file:
            made: Sink = SINKS[out.suffix](file)
            try:
                yield made
            finally:
                made.finish()
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(out)
    except OSError as error:
        raise not_written(out, error) from None
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def ending_by_exit() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that an unfinished file is removed; only the main thread may do so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def require_finite(values: NDArray[Any], name: str) -> None:
    """Refuse vectors that are not finite."""
    if not math.isfinite(float(values.sum())) and not np.isfinite(values).all():
        raise GlassformerError(f"the vectors of {name} are not finite: the numbers overflowed. Try --dtype float32.")
