"""Texts from the command line, a file or standard input: one a line, any number of them; a bad line is named by its number."""

from __future__ import annotations

import codecs
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from glassformer.spec import GlassformerError
from glassformer.spec.paths import no_such, path_text
from glassformer.spec.texts import MOST_CHARACTERS

LONGEST_LINE = 4 * MOST_CHARACTERS + 2  # bytes: no character takes more than four


class TextLines:
    """The lines of a stream as texts; `position` says how many bytes were read, out of `size` where that is known."""

    def __init__(self, stream: BinaryIO, source: str, size: int | None = None) -> None:
        self.stream, self.source, self.size = stream, source, size
        self.position = 0

    def name(self, number: int) -> str:
        """What the text of a number, counted from 0, is called in a message."""
        return f"{self.source} line {number + 1:,}"

    def __iter__(self) -> Iterator[str]:
        number = 0
        while line := self._line(number):
            self.position += len(line)
            if len(line) > LONGEST_LINE:
                raise GlassformerError(
                    f"{self.name(number)} has more than {MOST_CHARACTERS:,} characters, the most that are read."
                )
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
    """Texts that were written on the command line."""

    size: int | None = None
    position = 0

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    def name(self, number: int) -> str:
        """What the text of a number, counted from 0, is called in a message."""
        return f"--text {number + 1}" if len(self.texts) > 1 else "--text"

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)


@contextmanager
def texts_from(texts: tuple[str, ...], file: str | None, stdin: str | None) -> Iterator[TextLines | GivenTexts]:
    """The texts that a command was given in one of three ways."""
    if sum([bool(texts), file is not None, stdin is not None]) != 1:
        raise GlassformerError("which texts? Give --text (once or more), --file FILE, or - for standard input; one of the three.")
    if texts:
        yield GivenTexts(texts)
    elif file is None or file == "-":
        yield TextLines(sys.stdin.buffer, "standard input")
    else:
        with _opened(Path(file)) as stream:
            told = os.fstat(stream.fileno())
            yield TextLines(stream, path_text(Path(file)), told.st_size if stat.S_ISREG(told.st_mode) else None)


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise GlassformerError(f"{path_text(path)} is a folder: a file with one text a line is wanted.")
        return path.open("rb")
    except FileNotFoundError:
        raise no_such(path, wanted="A file with one text a line is wanted.") from None
    except OSError as error:
        raise GlassformerError(f"{path_text(path)} cannot be read: {error.strerror or type(error).__name__}.") from None
