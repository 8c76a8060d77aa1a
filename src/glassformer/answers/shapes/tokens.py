"""A formula's text cut into tokens: plain text, code and LaTeX come out the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from glassformer.answers.shapes.scripts import Scripts, Token, place, plain_words
from glassformer.answers.shapes.signs import (
    ACCENTS,
    CLOSING,
    COMMANDS,
    FONTS,
    GREEK,
    LAYOUTS,
    OPENING,
    SIGNS,
    SILENT,
    SPACES,
    WORDS_BETWEEN,
)
from glassformer.spec import GlassformerError

LONGEST = 20_000
MOST_TOKENS = 2_000
MOST_INDEXES = 6
NO_LETTERS = frozenset({*GREEK, *SIGNS})  # signs that Python takes for letters: ᵀ, and Greek, each letter a name

CODE_PREFIX = re.compile(r"(?:torch\.nn\.functional|torch|numpy|np|jnp|math|nn|F)\.(?=[A-Za-z])")
CODE_TRANSPOSE = re.compile(r"\.(?:mT|T|t\(\)|transpose\([-0-9, ]{0,12}\))(?![A-Za-z0-9])")
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def tokens(text: str) -> list[Token]:
    """The tokens of a formula, or the line that says what cannot be read and where."""
    if len(text) > LONGEST:
        raise GlassformerError(f"the formula has more than {LONGEST:,} characters: check it in parts.")
    return Scanner(text).run()


class Scanner(Scripts):
    """Goes through the text once, from left to right."""

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            self.step()
            if len(self.found) > MOST_TOKENS:
                raise GlassformerError(f"the formula has more than {MOST_TOKENS:,} symbols: check it in parts.")
        if self.open:
            self.fail(f"the bracket '{self.text[self.open[-1]]}' is never closed", self.open[-1])
        self.give("end", "", len(self.text))
        return self.found

    def step(self) -> None:
        """One sign, or the word that begins with it."""
        start, sign = self.at, self.text[self.at]
        if sign.isspace() or sign in "$&~" or self.text.startswith(":=", start):
            self.at += 1
            if sign == "\n":
                self.give("break", "", start)
        elif sign in READERS:
            READERS[sign](self)
        elif self.text.startswith("**", start):
            self.at += 2
            self.exponent(start)
        elif sign in SIGNS:
            self.move(SIGNS[sign], 1)
        elif sign in OPENING or sign in CLOSING:
            self.bracket(sign)
        elif sign.isascii() and sign.isdigit():
            self.number()
        elif sign.isalpha():
            self.word()
        else:
            self.fail("a sign that no formula has", start)

    def word(self) -> None:
        prefix = CODE_PREFIX.match(self.text, self.at)
        if prefix:
            self.at = prefix.end()
        else:
            start = self.at
            self.name(self.letters(), start)

    def bracket(self, sign: str) -> None:
        if sign in OPENING:
            self.open.append(self.at)
        elif not self.open:
            self.fail(f"the bracket '{sign}' was never opened", self.at)
        elif OPENING.index(self.text[self.open[-1]]) != CLOSING.index(sign):
            opened = self.open[-1]
            self.fail(f"the bracket '{self.text[opened]}' {place(opened)} is closed by '{sign}'", self.at)
        else:
            self.open.pop()
        self.move(sign, 1)

    def dot(self) -> None:
        transpose = CODE_TRANSPOSE.match(self.text, self.at)
        if transpose:
            self.move("transpose", len(transpose[0]))
        elif self.text.startswith("...", self.at):
            self.move("dots", 3)
        elif self.text.startswith(".*", self.at):
            self.move("⊙", 2)
        elif not self.text[self.at + 1 : self.at + 2].strip():
            self.move("break", 1)  # a full stop
        else:
            self.fail("a dot that is neither .T nor .*", self.at)

    def number(self) -> None:
        found = NUMBER.match(self.text, self.at)
        assert found is not None
        if len(found[0]) > 20:
            self.fail("a number with more than 20 digits", self.at)
        self.give("number", found[0], self.at, value=Fraction(found[0]))
        self.at = found.end()

    def letters(self) -> str:
        """A run of letters; Greek ones are a name of their own each."""
        start = self.at
        if self.text[start] in GREEK:
            self.at += 1
            return GREEK[self.text[start]]
        while self.at < len(self.text) and self.text[self.at].isalpha() and self.text[self.at] not in NO_LETTERS:
            self.at += 1
        return self.text[start : self.at]

    def name(self, base: str, start: int, indexes: tuple[str, ...] = ()) -> None:
        """A name with all that hangs on it: digits, indexes, exponents; transposes come out after it."""
        if base in WORDS_BETWEEN:
            self.give("break", base, start)
            return
        if self.found and self.found[-1].kind == "in" and base in ("R", "ℝ") and self.text[self.at : self.at + 2] == "^{":
            self.at += 1
            self.give("shape", self.group()[1:-1], start)  # X ∈ R^{768 × 6}
            return
        found, loose = list(indexes), False
        digits = re.compile("[0-9]+").match(self.text, self.at)
        if digits:
            found.append(digits[0][:20])
            self.at = digits.end()
        place_of_name = len(self.found)
        while self.at < len(self.text):
            if self.text[self.at] == "_":
                self.at += 1
                word, loose = self.index(start)
                found += word
            elif self.text[self.at] == "^":
                found += self.script(base)
            else:
                break
        if len(found) > MOST_INDEXES:
            self.fail(f"a name with more than {MOST_INDEXES} indexes", start)
        self.found.insert(place_of_name, Token("name", base, start, tuple(found), loose))

    def command(self) -> None:
        start = self.at
        found = re.compile(r"\\([A-Za-z]+)").match(self.text, start)
        if not found:
            second = self.text[start + 1 : start + 2]
            if second == "\\":
                self.move("break", 2)
            elif second and second in SPACES:
                self.at += 2
            else:
                self.fail("a backslash that begins no command", start)
            return
        word = found[1]
        self.at = found.end()
        if word in SILENT:
            if self.text[self.at : self.at + 1] == ".":
                self.at += 1
        elif word in COMMANDS:
            self.give(COMMANDS[word], found[0], start)
        elif word in ("begin", "end"):
            if plain_words(self.group() if self.text[self.at : self.at + 1] == "{" else "") not in LAYOUTS:
                self.fail("an environment that is not read here", start)
            self.give("break", "", start)
        elif word in FONTS or word in ACCENTS:
            self.styled(word, start)
        else:
            self.name(word, start)

    def styled(self, word: str, start: int) -> None:
        """`\\mathbf{W}` is W, `\\text{softmax}` is softmax, `\\hat{Q}` is another name than Q."""
        while self.text[self.at : self.at + 1] == " ":
            self.at += 1
        braced = self.text[self.at : self.at + 1] == "{"
        raw = self.group() if braced else self.text[self.at : self.at + 1]
        self.at += 0 if braced else 1
        inner = re.fullmatch(r"([^\W\d_]+)(?:_?(\w+))?", plain_words(raw))
        if not inner:
            self.fail(f"\\{word} wants one name", start)
        indexes = [inner[2]] if inner[2] else []
        if word in ACCENTS:
            indexes.append(word.removeprefix("wide"))
        self.name(GREEK.get(inner[1], inner[1]), start, tuple(indexes))


READERS: dict[str, Callable[[Scanner], object]] = {
    "\\": Scanner.command,
    ".": Scanner.dot,
    "^": lambda scanner: scanner.script(None),
}
