"""Lines of a text file from a stranger: plain or gzipped, UTF-8 or refused with the byte, none longer than memory allows."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from glassformer.spec import GlassformerError, shown
from glassformer.spec.paths import path_text

LONGEST_LINE = 4_000_000  # bytes of one line that are held in memory; a longer one is cut or refused
MOST_BYTES = 8_000_000_000  # of one file, unpacked: its rows are kept in memory
MOST_AT_ONCE = 1_000_000_000  # of a file that has to be read in one piece
LOOKED_AT = 4096  # bytes that tell what a file is
# How files begin that are no text, whatever their names say.
FOREIGN = {
    b"PK\x03\x04": "a zip archive or a spreadsheet. Unpack it, or save it as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document. Save it as CSV UTF-8",
    b"\x1f\x8b": "packed with gzip. Let its name end in .gz",
    b"PAR1": "a Parquet file. Let its name end in .parquet",
    b"%PDF": "a PDF. Save its text",
}


class Line(NamedTuple):
    """A line with its number, without its line end; `cut` where it was longer than LONGEST_LINE."""

    number: int
    text: str
    cut: bool = False


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file, one at a time; a file that is empty or is not text is one error."""
    name, empty = path_text(path), True
    with _opened(path) as file:
        for line in _decoded(file, name):
            empty = False
            yield line
    if empty:
        raise GlassformerError(f"{name} is empty: there is nothing to learn from.")


def whole_text(path: Path) -> str:
    """All of a file at once."""
    name = path_text(path)
    with _opened(path) as file:
        data = file.read(MOST_AT_ONCE + 1)
    if len(data) > MOST_AT_ONCE:
        raise GlassformerError(
            f"{name} has more than {MOST_AT_ONCE:,} bytes, which is too much in one piece: write an object a line."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GlassformerError(f"{name}: byte {error.start:,} is not UTF-8. Save it as UTF-8.") from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked; one that is something else than text is refused by what it is."""
    name = path_text(path)
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            beginning = file.peek(LOOKED_AT)[:LOOKED_AT]
            _refuse_foreign(beginning, name)
            # Spreadsheets on old Macs end lines with a carriage return alone.
            old = b"\r" in beginning[:-1] and b"\n" not in beginning
            yield io.BytesIO(file.read(MOST_AT_ONCE).replace(b"\r", b"\n")) if old else cast(BinaryIO, file)
    except gzip.BadGzipFile as error:
        raise GlassformerError(
            f"{name} is a damaged gzip file: {shown(str(error), limit=100)}. If it is not packed, take .gz off its name."
        ) from None
    except (EOFError, zlib.error) as error:
        raise GlassformerError(f"{name} is a damaged gzip file: {shown(str(error), limit=100)}.") from None
    except OSError as error:
        raise GlassformerError(f"{name} cannot be read: {error.strerror or error}.") from None


def _refuse_foreign(beginning: bytes, name: str) -> None:
    for sign, what in FOREIGN.items():
        if beginning.startswith(sign):
            raise GlassformerError(f"{name} is no text: it is {what}.")
    wide = beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # which is said with its byte
    if not wide and b"\0" in beginning.split(b"\n", 1)[0]:
        raise GlassformerError(f"{name} line 1 has zero bytes, as text in UTF-16 has: save it as UTF-8.")


def _decoded(file: BinaryIO, name: str) -> Iterator[Line]:
    position = number = 0
    while piece := file.readline(LONGEST_LINE):
        start, number, cut = position, number + 1, False
        position += len(piece)
        if len(piece) == LONGEST_LINE and not piece.endswith(b"\n"):  # what follows in this line is read and dropped
            while rest := file.readline(LONGEST_LINE):
                cut, position = cut or rest not in (b"\n", b"\r\n"), position + len(rest)
                _check_size(position, name)
                if rest.endswith(b"\n"):
                    break
        _check_size(position, name)
        if number == 1 and piece.startswith(codecs.BOM_UTF8):
            start, piece = start + len(codecs.BOM_UTF8), piece.removeprefix(codecs.BOM_UTF8)
        # A cut may fall inside a character: the decoder then leaves its first bytes out.
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
        raise GlassformerError(f"{name} has more than {MOST_BYTES:,} bytes, and rows are kept in memory: use a part of it.")
