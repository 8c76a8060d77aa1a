"""Tokens, and the state of a scanner that produces them from left to right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from glassformer.expressions import numerals

Kind = Literal[
    "number", "name", "word", "text", "function", "operator", "relation", "open", "close", "comma", "wall", "stop", "edge",
    "sub", "row", "cell", "begin", "end", "command", "percent", "prime", "dots", "about", "note", "scale", "unit",
    "unknown",
]  # fmt: skip
OPERAND_ENDS = frozenset(
    ("number", "name", "close", "end", "note", "word", "text", "percent", "sub", "prime", "dots", "scale", "unit")
)


class Token(NamedTuple):
    """A piece of text with its meaning, independent of its neighbours."""

    kind: Kind
    text: str  # the sign used by the grammar; for numbers, names and words the text as written
    start: int
    end: int
    math: bool = False  # between dollar signs, or in a LaTeX environment
    gap: bool = False  # white space before it
    numeral: numerals.Numeral | None = None  # set once its reading is chosen
    named: bool = False  # whether it is in the language of quantities, where a name before a bracket takes arguments


class Scanner:
    """The text, the position in it, and the tokens found so far."""

    def __init__(self, text: str, start: int = 0, *, math: bool = False, names: bool = False, formula: bool = False) -> None:
        self.text, self.place, self.math, self.gap = text, 0, math, False
        self.names = names  # every word is a name, as in the language of quantities
        self.formula = formula  # the same for a formula of matrices, where a name is one letter with its indices
        self.offset = start
        self.found: list[Token] = []
        self.outside: list[bool] = []  # whether it was math before each open LaTeX environment

    def add(self, kind: Kind, text: str, start: int) -> None:
        self.found.append(Token(kind, text, start + self.offset, self.place + self.offset, self.math, self.gap, None, self.names))

    @property
    def before(self) -> Token | None:
        return self.found[-1] if self.found else None

    def after_operand(self) -> bool:
        return self.before is not None and self.before.kind in OPERAND_ENDS

    def run(self) -> list[Token]:
        """Read to the end of the text; implemented by `Tokenizer`."""
        raise NotImplementedError

    def name(self, start: int, text: str) -> None:
        """Add a name with its subscript; implemented by `Tokenizer`."""
        raise NotImplementedError

    def symbol(self, start: int, text: str, accents: Iterable[str] = ()) -> None:
        """Add a name in a formula with its indices; implemented by `Tokenizer`."""
        raise NotImplementedError
