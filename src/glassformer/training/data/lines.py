"""Lines of a text file from a stranger: plain or gzipped, UTF-8 or refused with the byte, none longer than memory allows."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from glassformer.spec import GlassformerError, shown
from glassformer.spec.weight_files import path_text

LONGEST_LINE = 4_000_000  # bytes of one line that are held in memory; a longer one is cut or refused
MOST_BYTES = 8_000_000_000  # of one file, unpacked: its rows are kept in memory


class Line(NamedTuple):
    """A line with its number, without its line end; `cut` where it was longer than LONGEST_LINE."""

    number: int
    text: str
    cut: bool = False


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file, one at a time; a file that is empty or is not text is one error."""
    name = path_text(path)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            empty = True
            for line in _decoded(cast(BinaryIO, file), name):
                empty = False
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise GlassformerError(f"{name} is a damaged gzip file: {shown(str(error), limit=100)}.") from None
    except OSError as error:
        raise GlassformerError(f"{name} cannot be read: {error.strerror or error}.") from None
    if empty:
        raise GlassformerError(f"{name} is empty: there is nothing to learn from.")


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
