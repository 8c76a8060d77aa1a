"""What a factor may be: a number, a name, brackets, a list, a matrix, a fraction, a root, a function of something."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from glassformer.expressions.limits import DEEPEST, MOST_CELLS, MOST_MARKS, NotUnderstoodError
from glassformer.expressions.numerals import read
from glassformer.expressions.tokens import Kind, Token
from glassformer.expressions.tree import (
    Call,
    Grid,
    Grouped,
    List,
    Measured,
    Name,
    Node,
    Number,
    Percent,
    Product,
    Root,
    Sized,
    Space,
    Transposed,
)
from glassformer.expressions.vocabulary import AXES, AXIS_KEYS, BARE_FUNCTIONS, CLOSING, OPENING
from glassformer.spec.errors import shown

SPACED = "a space between digits may part two numbers"
CLOSED_BY = dict(zip(OPENING, CLOSING, strict=True))
_DIGITS = re.compile(r"[0-9]+")
_SIZE = re.compile(r"\s*[0-9]+(?:\s*(?:\\times|×|x|,)\s*[0-9]+)+\s*")


class Operands:
    """Reads one operand at a time; sums and products are made of them in `grammar`."""

    if TYPE_CHECKING:

        def expression(self) -> Node: ...
        def power(self) -> Node: ...

    def __init__(self, found: list[Token]) -> None:
        self.tokens, self.end, self.place, self.depth = found, len(found), 0, 0
        self.notes: list[str] = []
        self.doubts: list[str] = []

    @property
    def token(self) -> Token | None:
        place = self.place
        return self.tokens[place] if place < self.end else None

    def take(self) -> Token:
        if self.place >= len(self.tokens):
            raise self.unexpected()
        self.place += 1
        return self.tokens[self.place - 1]

    def sees(self, kind: Kind, *texts: str) -> bool:
        token = self.token
        return token is not None and token.kind == kind and (not texts or token.text in texts)

    def deeper(self, read: Callable[[], Node]) -> Node:
        """What `read` reads, one level further inside; there is a deepest one."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotUnderstoodError(f"brackets and signs are nested more than {DEEPEST} deep")
        node = read()
        self.depth -= 1
        return node

    def unexpected(self, wanted: str = "") -> NotUnderstoodError:
        """What stands here where something else should."""
        if wanted:
            return NotUnderstoodError(f"a bracket that {wanted} should close")
        found = (
            "something is missing at the end"
            if self.token is None
            else f"'{shown(self.token.text, limit=20)}' was not expected there"
        )
        return NotUnderstoodError(found)

    def operand(self) -> Node:
        """One operand with what clings to it."""
        token = self.take()
        match token.kind:
            case "number":
                node = self._number(token)
            case "name":
                node = Name(token.text)
            case "word":
                node = self._words(token)
            case "text" | "dots":
                node = Name(token.text.strip())
            case "open":
                node = self._brackets(token)
            case "begin":
                node = self._grid(token)
            case "command":
                node = self._command(token)
            case "function":
                node = self._function(token)
            case _:
                self.place -= 1
                raise self.unexpected()
        return self.postfix(node)

    def postfix(self, node: Node) -> Node:
        """Percent signs, units, primes, sizes at the foot, and words that say what a number counts."""
        marks = 0
        while self.token is not None:
            marks += 1
            if marks > MOST_MARKS:
                raise NotUnderstoodError(f"more than {MOST_MARKS} marks behind one another")
            if self.sees("percent"):
                self.take()
                if self.token is not None and self.token.kind in ("number", "open", "name"):
                    raise NotUnderstoodError("a percent sign before a number")
                node = Percent(node)
            elif self.sees("unit"):
                node = Measured(node, self.take().text)
                self.notes.append(node.unit)
            elif self.sees("prime"):
                self.take()
                node = Transposed(node)
            elif self.sees("sub"):
                node = self._with_foot(node, self.take().text)
            elif not self._pass_remark():
                break
        return node

    def _number(self, token: Token) -> Node:
        if token.numeral is None:
            raise NotUnderstoodError(f"the number '{shown(token.text, limit=20)}'")
        if token.numeral.rounded and token.math and token.numeral.text[-1:] in "kKMBGT":
            self.doubts.append("a letter after a number may be a scale or a name")
        if " " in token.text:
            self.doubts.append(SPACED)
        return Number(token.numeral)

    def _pass_remark(self) -> bool:
        """A word, a note, or `/head` after a word."""
        if self.sees("word") or self.sees("note"):
            note = self.take()
            words = [note.text]
            while note.kind == "word" and self.sees("word"):
                words.append(self.take().text)
            self.notes.append(" ".join(words) if note.kind == "word" else f"({note.text.strip('()')})")
            if note.kind == "note" and note.text.startswith("("):
                self.doubts.append("brackets after a number may be a remark or a factor")
            following = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
            if self.sees("operator", "-") and self.token is not None and self.token.gap and not self.token.math:
                self.doubts.append("a dash after a word may be a minus or none")
            if self.sees("operator", "/") and following is not None and following.kind == "word":
                self.take()
                self.notes.append(self.take().text)
            return True
        return False

    def _words(self, token: Token) -> Node:
        """Words in the place of an operand: a quantity in prose."""
        words = [token.text]
        while self.sees("word"):
            words.append(self.take().text)
        return Name(" ".join(words))

    def _brackets(self, token: Token) -> Node:
        closing = CLOSED_BY[token.text]
        if token.text in "⌊⌈":
            inner = self.expression()
            self._close(closing)
            return Call("floor" if token.text == "⌊" else "ceil", (inner,))
        rows = self._rows(closing)
        if len(rows) > 1:
            return Grid(tuple(map(tuple, rows)))
        items = rows[0]
        if token.text in "[⟨":
            if len(items) == 1 and isinstance(items[0], Grid):
                return items[0]
            return List(tuple(items), token.text)
        if len(items) == 1:
            if token.text == "(" and isinstance(items[0], Grid):
                return items[0]
            return Grouped(items[0]) if token.text == "(" else items[0]
        if token.text == "{":
            raise NotUnderstoodError("a comma between braces")
        return List(tuple(items), "(")

    def _rows(self, closing: str) -> list[list[Node]]:
        """Items up to the closing bracket, separated by commas (or spaces between numbers), rows by semicolons."""
        rows: list[list[Node]] = [[]]
        while not self.sees("close", closing):
            rows[-1].append(self.expression())
            if self.sees("comma"):
                self.take()
            elif self.sees("wall", ";"):
                self.take()
                rows.append([])
            elif not (self.sees("number") and closing == "]"):
                break
        self._close(closing)
        if not rows[0] or sum(map(len, rows)) > MOST_CELLS:
            raise NotUnderstoodError("brackets with nothing in them" if not rows[0] else f"more than {MOST_CELLS:,} items")
        return [row for row in rows if row]

    def _close(self, closing: str) -> None:
        if not self.sees("close", closing):
            raise self.unexpected(f"'{closing}'")
        self.take()

    def _grid(self, token: Token) -> Node:
        rows: list[list[Node]] = [[]]
        while not self.sees("end", token.text):
            if self.sees("cell"):
                self.take()
            elif self.sees("row"):
                self.take()
                rows.append([])
            elif self.sees("comma") or self.sees("end"):
                raise NotUnderstoodError("a matrix with a sign out of place")
            else:
                rows[-1].append(self.expression())
        self.take()
        rows = [row for row in rows if row]
        if not rows or sum(map(len, rows)) > MOST_CELLS:
            raise NotUnderstoodError("a matrix with nothing in it" if not rows else f"more than {MOST_CELLS:,} cells")
        return Grid(tuple(map(tuple, rows)))

    def _command(self, token: Token) -> Node:
        if token.text == "frac":
            above = self._group()
            return Product((("", above), ("/", self._group())))
        if token.text == "reals":
            if not self.sees("operator", "^"):
                return Name("ℝ")
            self.take()
            return Space(self._group())
        return Name("Σ")

    def _group(self) -> Node:
        """A LaTeX argument: braces, or one token."""
        if self.sees("open", "{"):
            self.take()
            inner = self.expression()
            self._close("}")
            return inner
        return self.deeper(self.operand)

    def _function(self, token: Token) -> Node:
        label = self.take().text.strip() if self.sees("sub") else ""
        base = int(label) if label.isascii() and label.isdecimal() and len(label) <= 3 else None
        axis = label if label in AXES else ""
        if token.text == "sqrt":
            return self._root()
        if self.sees("open", "["):
            self.take()
            arguments: tuple[Node, ...] = (List(tuple(self._rows("]")[0])),)
        elif self.sees("open"):
            arguments, said = self._arguments(CLOSED_BY[self.take().text])
            axis = said or axis
        elif self.token is not None and token.text in BARE_FUNCTIONS:
            arguments = (self._bare_argument(),)
        else:
            return Name(token.text)
        return Call(token.text, arguments, base, axis)

    def _arguments(self, closing: str) -> tuple[tuple[Node, ...], str]:
        """What stands between the brackets of a function, and the axis that it names: `(A, axis=0)`, `(A, B; dim=-1)`."""
        found: list[Node] = []
        axis = ""
        while not self.sees("close", closing):
            if self._names_axis():
                self.place += 2
                axis = ("-" if self.sees("operator", "-") and self.take() else "") + self.take().text
            else:
                found.append(self.expression())
            if not (self.sees("comma") or self.sees("wall", ";")):
                break
            if self.take().text == ";" and not self._names_axis() and not self.sees("name", *AXES):
                raise NotUnderstoodError("a semicolon between the arguments of a function")
        self._close(closing)
        if not found or len(found) > MOST_CELLS:
            raise NotUnderstoodError("brackets with nothing in them" if not found else f"more than {MOST_CELLS:,} items")
        return tuple(found), axis

    def _names_axis(self) -> bool:
        following = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        return self.sees("name", *AXIS_KEYS) and following is not None and (following.kind, following.text) == ("relation", "=")

    def _bare_argument(self) -> Node:
        if self.sees("operator", "-"):
            raise NotUnderstoodError("a function of a negative number without brackets")
        return self.deeper(self.power)

    def _root(self) -> Node:
        degree = 2
        if self.sees("open", "["):
            self.take()
            inner = self.expression()
            self._close("]")
            if not (isinstance(inner, Number) and Fraction(2) <= inner.numeral.value <= 9 and inner.numeral.unit == 1):
                return Root(List((inner,)), 2)
            degree = int(inner.numeral.value)
        return Root(self._group(), degree)

    def _with_foot(self, node: Node, label: str) -> Node:
        """A subscript that is a size belongs to a matrix; any other says nothing about the value."""
        if isinstance(node, List | Grid | Grouped) and _SIZE.fullmatch(label):
            return Sized(node, List(tuple(Number(read(size)) for size in _DIGITS.findall(label))))
        if isinstance(node, Name):
            return Name(f"{node.text}_{label}")
        return node
