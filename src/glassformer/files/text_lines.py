"""Texts from a file or a stream of any length, one per line; errors name the line."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from glassformer.errors import GlassformerError
from glassformer.files.paths import no_such, path_text
from glassformer.files.texts import MOST_CHARACTERS

LONGEST_LINE = 4 * MOST_CHARACTERS + 2  # bytes: a character takes at most four


class TextLines:
    """The lines of a stream as texts; `position` is the number of bytes read, out of `size`, if known."""

    def __init__(self, stream: BinaryIO, source: str, size: int | None = None) -> None:
        self.stream, self.source, self.size = stream, source, size
        self.position = 0

    def name(self, number: int) -> str:
        """Return the name of a text in messages, by its number from 0."""
        return f"{self.source} line {number + 1:,}"

    def __iter__(self) -> Iterator[str]:
        number = 0
        while line := self._line(number):
            self.position += len(line)
            if len(line) > LONGEST_LINE:
                raise GlassformerError(f"{self.name(number)} has more than {MOST_CHARACTERS:,} characters, which is the limit.")
            yield self._decoded(line, number)
            number += 1

    def _line(self, number: int) -> bytes:
        try:
            return self.stream.readline(LONGEST_LINE + 1)
        except OSError as error:
            raise GlassformerError(f"{self.name(number)} cannot be read: {error.strerror or type(error).__name__}.") from None

    def _decoded(self, line: bytes, number: int) -> str:
        if number == 0:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            return line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            wide = number == 0 and line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            hint = "It looks like UTF-16: save it as UTF-8." if wide else "Save it as UTF-8."
            raise GlassformerError(f"{self.name(number)} is not text: its byte {error.start + 1} is not UTF-8. {hint}") from None


class GivenTexts:
    """Texts given in memory; `called` names them in messages."""

    size: int | None = None
    position = 0

    def __init__(self, texts: Iterable[str], called: str) -> None:
        self.texts, self.called = texts, called

    def name(self, number: int) -> str:
        """Return the name of a text in messages, by its number from 0."""
        return f"{self.called} {number + 1}" if not isinstance(self.texts, Sequence) or len(self.texts) > 1 else self.called

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)


@contextmanager
def lines_of(path: Path) -> Iterator[TextLines]:
    """Open a file with one text per line."""
    with _opened(path) as stream:
        told = os.fstat(stream.fileno())
        yield TextLines(stream, path_text(path), told.st_size if stat.S_ISREG(told.st_mode) else None)


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise GlassformerError(f"{path_text(path)} is a folder. Give a file with one text per line.")
        return path.open("rb")
    except FileNotFoundError:
        raise no_such(path, wanted="Give a file with one text per line.") from None
    except OSError as error:
        raise GlassformerError(f"{path_text(path)} cannot be read: {error.strerror or type(error).__name__}.") from None
