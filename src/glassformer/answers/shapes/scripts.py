"""What hangs on a name: indexes, exponents and transposes, with braces or without."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from glassformer.answers.shapes.signs import FONTS, SIGNS, TRANSPOSES
from glassformer.spec import GlassformerError, shown

LONGEST_GROUP = 200
EXPONENT = re.compile(r"-?[0-9]+(?:\.[0-9]+|/[0-9]+)?")


@dataclass(frozen=True)
class Token:
    """A piece of the formula. A name has indexes; `loose` says that the index was written without braces."""

    kind: str
    text: str
    position: int
    indexes: tuple[str, ...] = ()
    loose: bool = False
    value: Fraction | None = None


def place(position: int) -> str:
    return f"at character {position + 1}"


class Scripts:
    """A place in the text, and the reading of what stands after `_` and `^`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[Token] = []
        self.open: list[int] = []

    def fail(self, what: str, at: int) -> NoReturn:
        raise GlassformerError(f"{what} ({place(at)}: '{shown(self.text[at : at + 20])}').")

    def give(self, kind: str, text: str, at: int, **more: object) -> None:
        if kind == "break" and self.open:
            return  # inside brackets a new line is a space
        self.found.append(Token(kind, text, at, **more))  # type: ignore[arg-type]

    def move(self, kind: str, length: int) -> None:
        self.give(kind, self.text[self.at : self.at + length], self.at)
        self.at += length

    def index(self, start: int) -> tuple[list[str], bool]:
        """What stands after `_`: a group in braces, a command, or a run of letters and digits."""
        if self.text[self.at : self.at + 1] in ("{", "\\"):
            return self.split_index(self.group(), start), False
        first = self.at
        while self.at < len(self.text) and self.text[self.at].isalnum() and self.text[self.at] not in SIGNS:
            self.at += 1
        if first == self.at:
            self.fail("an index is missing after '_'", first - 1)
        return [self.text[first : self.at]], True

    def script(self, base: str | None) -> list[str]:
        """What stands after `^`: a transpose, an exponent, or, on a name, one more index."""
        start = self.at
        self.at += 1
        first = self.text[self.at : self.at + 1]
        if first and first in "-0123456789":
            self.exponent(start)
            return []
        if first in ("{", "\\", "("):
            raw = self.group()
        else:
            raw = first
            self.at += 1
        word = plain_words(raw)
        if word in TRANSPOSES:
            self.give("transpose", "^T", start)
            return []
        if EXPONENT.fullmatch(word) and not (base and "(" in raw and word.isdecimal()):  # W^{(1)} is the first of several W
            self.power(word, start)
            return []
        if base is None or not word:
            self.fail("an exponent that is neither a transpose nor a number", start)
        return self.split_index(raw, start)

    def exponent(self, start: int) -> None:
        found = EXPONENT.match(self.text, self.at) or re.compile(r"\((-?[0-9./]+)\)").match(self.text, self.at)
        if not found:
            self.fail("an exponent that is not a number", start)
        self.at = found.end()
        self.power(found[0].strip("()"), start)

    def power(self, word: str, start: int) -> None:
        if not EXPONENT.fullmatch(word) or len(word) > 8 or re.search("/0+$", word):
            self.fail("an exponent that is not a number", start)
        self.give("power", f"^{word}", start, value=Fraction(word))

    def group(self) -> str:
        """The raw text of `{…}`, `(…)`, `\\top` or `\\text{…}`; bounded, with its braces matched."""
        start = self.at
        command = re.compile(r"\\[A-Za-z]+\s?").match(self.text, self.at)
        if command:
            self.at = command.end()
            if self.text[self.at : self.at + 1] != "{":
                return command[0].strip()
        pairs = {"{": "}", "(": ")"}
        inside = self.at
        closing = pairs.get(self.text[self.at : self.at + 1])
        if closing is None:
            self.fail("a group in braces is missing", start)
        depth = 0
        while depth or self.at == inside:
            if self.at >= min(len(self.text), start + LONGEST_GROUP):
                self.fail("an index or exponent that is never closed", start)
            depth += {self.text[inside]: 1, closing: -1}.get(self.text[self.at], 0)
            self.at += 1
        return self.text[start : self.at]

    def split_index(self, raw: str, start: int) -> list[str]:
        words = [word for word in plain_words(raw).split(",") if word]
        if not words or not all(word.isalnum() for word in words):
            self.fail("an index is made of letters and digits", start)
        return words


def plain_words(raw: str) -> str:
    """An index or exponent without fonts, braces, brackets and spaces; `\\frac{1}{2}` as `1/2`."""
    raw = re.sub(r"\\[td]?frac\s*\{?([0-9]+)\}?\s*\{?([0-9]+)\}?", r"\1/\2", raw)
    raw = re.sub(r"\\(?:" + "|".join(sorted(FONTS)) + r")(?![A-Za-z])", "", raw)
    return re.sub(r"[\\{}()\s]", "", raw)
