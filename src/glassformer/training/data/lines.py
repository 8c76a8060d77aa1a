"""Safe reading of text files: plain or gzipped, strict UTF-8, with bounded line length."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text

LONGEST_LINE = 4_000_000  # bytes of one line kept in memory; a longer line is truncated or refused
MOST_BYTES = 8_000_000_000  # of one file, unpacked: its rows are kept in memory
MOST_AT_ONCE = 1_000_000_000  # of a file that must be read at once
LOOKED_AT = 4096  # bytes used to identify the file type
# First bytes of files that are not text, whatever their name.
FOREIGN = {
    b"PK\x03\x04": "a zip archive or a spreadsheet. Unpack it, or save it as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document. Save it as CSV UTF-8",
    b"\x1f\x8b": "compressed with gzip. Rename it to end in .gz",
    b"PAR1": "a Parquet file. Rename it to end in .parquet",
    b"%PDF": "a PDF. Save its text instead",
}


class Line(NamedTuple):
    """A line without its line ending, and its number; `cut` if it was longer than LONGEST_LINE."""

    number: int
    text: str
    cut: bool = False


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file; raise an error if it is empty or not text."""
    name, empty = path_text(path), True
    with _opened(path) as file:
        for line in _decoded(file, name):
            empty = False
            yield line
    if empty:
        raise GlassformerError(f"{name} is empty: there is no data.")


def whole_text(path: Path) -> str:
    """Read a whole file."""
    name = path_text(path)
    with _opened(path) as file:
        data = file.read(MOST_AT_ONCE + 1)
    if len(data) > MOST_AT_ONCE:
        raise GlassformerError(f"{name} has more than {MOST_AT_ONCE:,} bytes, which is too much to read at once: use JSON Lines.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GlassformerError(f"{name}: byte {error.start:,} is not UTF-8. Save it as UTF-8.") from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed; refuse one that is not text, naming its type."""
    name = path_text(path)
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            beginning = file.peek(LOOKED_AT)[:LOOKED_AT]
            _refuse_foreign(beginning, name)
            # Old Mac spreadsheets end lines with a carriage return.
            old = b"\r" in beginning[:-1] and b"\n" not in beginning
            yield io.BytesIO(file.read(MOST_AT_ONCE).replace(b"\r", b"\n")) if old else cast(BinaryIO, file)
    except gzip.BadGzipFile as error:
        raise GlassformerError(
            f"{name} is a damaged gzip file: {shown(str(error), limit=100)}. If it is not compressed, remove .gz from its name."
        ) from None
    except (EOFError, zlib.error) as error:
        raise GlassformerError(f"{name} is a damaged gzip file: {shown(str(error), limit=100)}.") from None
    except OSError as error:
        raise GlassformerError(f"{name} cannot be read: {error.strerror or error}.") from None


def _refuse_foreign(beginning: bytes, name: str) -> None:
    for sign, what in FOREIGN.items():
        if beginning.startswith(sign):
            raise GlassformerError(f"{name} is not a text file: it is {what}.")
    wide = beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # reported later, with its position
    if not wide and b"\0" in beginning.split(b"\n", 1)[0]:
        raise GlassformerError(f"{name} line 1 contains zero bytes, as in UTF-16: save it as UTF-8.")


def _decoded(file: BinaryIO, name: str) -> Iterator[Line]:
    position = number = 0
    while piece := file.readline(LONGEST_LINE):
        start, number, cut = position, number + 1, False
        position += len(piece)
        if len(piece) == LONGEST_LINE and not piece.endswith(b"\n"):  # the rest of this line is read and dropped
            while rest := file.readline(LONGEST_LINE):
                cut, position = cut or rest not in (b"\n", b"\r\n"), position + len(rest)
                _check_size(position, name)
                if rest.endswith(b"\n"):
                    break
        _check_size(position, name)
        if number == 1 and piece.startswith(codecs.BOM_UTF8):
            start, piece = start + len(codecs.BOM_UTF8), piece.removeprefix(codecs.BOM_UTF8)
        # The cut may split a character: the incremental decoder then drops its first bytes.
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            text = decoder.decode(piece, final=not cut)
        except UnicodeDecodeError as error:
            wide = piece[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            hint = " It looks like UTF-16: save it as UTF-8." if wide else " Save it as UTF-8."
            raise GlassformerError(f"{name} line {number}: byte {start + error.start:,} is not UTF-8.{hint}") from None
        yield Line(number, text.rstrip("\r\n"), cut)


def _check_size(position: int, name: str) -> None:
    if position > MOST_BYTES:
        raise GlassformerError(f"{name} has more than {MOST_BYTES:,} bytes, but rows are kept in memory: use a part of it.")
