"""The input files of a job: found by name, folder or glob, and decompressed."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from glassformer.encoding.tables import parquet_packages
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import no_such, path_text

ENDINGS = {
    ".txt": "text",
    ".text": "text",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
PACKED = (".gz", ".zst")
PIECE = 1 << 22


@dataclass(frozen=True)
class Input:
    """An input file: its path, the name that its rows carry, its format and its compression."""

    path: Path
    name: str
    form: str
    packing: str

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Open the file; yields the plain bytes, and the stored bytes, whose position tells the progress."""
        try:
            with self.path.open("rb") as stored:
                if self.packing == ".gz":
                    with gzip.GzipFile(fileobj=stored) as plain:
                        yield plain, stored  # type: ignore[misc]
                elif self.packing == ".zst":
                    yield io.BufferedReader(parquet_packages()[0].CompressedInputStream(stored, "zstd")), stored
                else:
                    yield stored, stored
        except FileNotFoundError:
            raise no_such(self.path) from None
        except (OSError, EOFError, zlib.error) as error:
            raise self.unread(error) from None

    def unread(self, error: Exception) -> GlassformerError:
        """Return the error for a file that cannot be read."""
        said = getattr(error, "strerror", None) or shown(str(error), limit=100) or type(error).__name__
        return GlassformerError(f"{path_text(self.path)} cannot be read: {said.rstrip('.')}.")

    def state(self) -> tuple[int, int]:
        """Return the size and the time of the last change."""
        try:
            about = self.path.stat()
        except OSError as error:
            raise self.unread(error) from None
        return about.st_size, about.st_mtime_ns

    def about(self) -> dict[str, Any]:
        """Return what the manifest says of the file: name, size and sha256."""
        digest = hashlib.sha256()
        try:
            with self.path.open("rb") as file:
                while piece := file.read(PIECE):
                    digest.update(piece)
                size = file.tell()
        except OSError as error:
            raise self.unread(error) from None
        return {"file": self.name, "bytes": size, "sha256": digest.hexdigest()}


def find_inputs(given: Sequence[str | Path], out: Path) -> list[Input]:
    """Return the files that are named: a file, all files with a known ending below a folder, or a glob; sorted by name.

    Files below `out` are left out: they are results of this job.
    """
    results = out.resolve()
    found: list[Input] = []
    for one in given:
        path = Path(one)
        if path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.is_file() and _form(file) and not _hidden(file, path)]
            what = f"{path_text(path)} contains no file that ends in {', '.join(ENDINGS)}, or these with .gz or .zst."
        elif any(letter in str(one) for letter in "*?[") and not path.exists():
            parts = path.parts[1:] if path.is_absolute() else path.parts
            start = Path(path.anchor) if path.is_absolute() else Path()
            files = [file for file in sorted(start.glob(str(Path(*parts)))) if file.is_file()]
            what = f"no file matches {path_text(path)}."
        else:
            files, what = [path], ""
            if not path.is_file():
                raise no_such(path, "file or folder", wanted="Give text, CSV, JSONL or Parquet files, a folder or a glob.")
        if path not in files:
            files = [file for file in files if not file.resolve().is_relative_to(results)]
        if not files:
            raise GlassformerError(what)
        found += [_input(file) for file in files]
    places = [os.path.abspath(one.path) for one in found]  # noqa: PTH100 - `resolve` would follow links
    if len(set(places)) < len(places):
        twice = next(one.name for one, place in zip(found, places, strict=True) if places.count(place) > 1)
        raise GlassformerError(f"{shown(twice, limit=100)} is given twice: give each file once.")
    if not found:
        raise GlassformerError("no input: give text, CSV, JSONL or Parquet files, a folder or a glob.")
    return found


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _form(path: Path) -> str | None:
    inner = path.with_suffix("") if path.suffix in PACKED else path
    return ENDINGS.get(inner.suffix.lower())


def _input(path: Path) -> Input:
    form, packing = _form(path), path.suffix if path.suffix in PACKED else ""
    if form is None:
        raise GlassformerError(
            f"{path_text(path)}: unknown file type. Known: {', '.join(ENDINGS)}; all but .parquet with .gz or .zst, too."
        )
    if form == "parquet" and packing:
        raise GlassformerError(f"{path_text(path)}: Parquet files are compressed internally. Decompress it first.")
    if packing == ".zst" or form == "parquet":
        parquet_packages()
    return Input(path, path.as_posix(), form, packing)
