"""Parses factors: a number, a name, brackets, a list, a matrix, a fraction, a root, or a function."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from glassformer.errors import shown
from glassformer.expressions.limits import DEEPEST, MOST_CELLS, MOST_MARKS, NotUnderstoodError
from glassformer.expressions.numerals import read
from glassformer.expressions.scanner import Kind, Token
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

SPACED = "a space between digits may separate two numbers"
MARKS = frozenset(("percent", "unit", "prime", "sub", "word", "note"))
CLOSED_BY = dict(zip(OPENING, CLOSING, strict=True))
_DIGITS = re.compile(r"[0-9]+")
_SIZE = re.compile(r"\s*[0-9]+(?:\s*(?:\\times|×|x|,)\s*[0-9]+)+\s*")


class Operands:
    """Parses one operand at a time; `grammar` combines them into sums and products."""

    if TYPE_CHECKING:

        def expression(self) -> Node: ...
        def power(self) -> Node: ...

    def __init__(self, found: list[Token]) -> None:
        self.tokens, self.place, self.depth = found, 0, 0
        self.token: Token | None = found[0] if found else None  # the next token
        self.notes: list[str] = []
        self.doubts: list[str] = []

    def take(self) -> Token:
        token = self.token
        if token is None:
            raise self.unexpected()
        self.skip(1)
        return token

    def skip(self, number: int) -> None:
        self.place += number
        self.token = self.tokens[self.place] if self.place < len(self.tokens) else None

    def sees(self, kind: Kind, *texts: str) -> bool:
        token = self.token
        return token is not None and token.kind == kind and (not texts or token.text in texts)

    def deeper(self, read: Callable[[], Node]) -> Node:
        """Return the result of `read`, one level deeper; an error beyond the limit."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotUnderstoodError(f"brackets and signs are nested more than {DEEPEST} deep")
        node = read()
        self.depth -= 1
        return node

    def unexpected(self, wanted: str = "") -> NotUnderstoodError:
        """Return the error for an unexpected token, or for a missing one."""
        if wanted:
            return NotUnderstoodError(f"{wanted} is missing")
        found = "it ends too early" if self.token is None else f"unexpected '{shown(self.token.text, limit=20)}'"
        return NotUnderstoodError(found)

    def operand(self) -> Node:
        """Parse one operand with its postfixes."""
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
                self.skip(-1)
                raise self.unexpected()
        return self.postfix(node)

    def postfix(self, node: Node) -> Node:
        """Parse percent signs, units, primes, size subscripts, and words that name what a number counts."""
        marks = 0
        while self.token is not None and self.token.kind in MARKS:
            marks += 1
            if marks > MOST_MARKS:
                raise NotUnderstoodError(f"more than {MOST_MARKS} marks follow one operand")
            if self.sees("percent"):
                self.take()
                if self.token is not None and self.token.kind in ("number", "open", "name"):
                    raise NotUnderstoodError("there is a percent sign before a number")
                node = Percent(node)
            elif self.sees("unit"):
                node = Measured(node, self.take().text)
                self.notes.append(node.unit)
            elif self.sees("prime"):
                self.take()
                node = Transposed(node)
            elif self.sees("sub"):
                node = self._with_foot(node, self.take().text)
            else:
                self._pass_remark()
        return node

    def _number(self, token: Token) -> Node:
        if token.numeral is None:
            raise NotUnderstoodError(f"'{shown(token.text, limit=20)}' is not a number")
        if token.numeral.rounded and token.math and token.numeral.text[-1:] in "kKMBGT":
            self.doubts.append("a letter after a number may be a scale or a name")
        if " " in token.text:
            self.doubts.append(SPACED)
        return Number(token.numeral)

    def _pass_remark(self) -> None:
        """Consume a word, a note, or `/head` after a word."""
        note = self.take()
        words = [note.text]
        while note.kind == "word" and self.sees("word"):
            words.append(self.take().text)
        self.notes.append(" ".join(words) if note.kind == "word" else f"({note.text.strip('()')})")
        if note.kind == "note" and note.text.startswith("("):
            self.doubts.append("brackets after a number may be a remark or a factor")
        following = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        if self.sees("operator", "-") and self.token is not None and self.token.gap and not self.token.math:
            self.doubts.append("a dash after a word may be a minus sign or not")
        if self.sees("operator", "/") and following is not None and following.kind == "word":
            self.take()
            self.notes.append(self.take().text)

    def _words(self, token: Token) -> Node:
        """Parse words as an operand: a quantity in prose."""
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
            raise NotUnderstoodError("braces enclose one expression, without commas")
        return List(tuple(items), "(")

    def _rows(self, closing: str) -> list[list[Node]]:
        """Parse items up to the closing bracket, separated by commas (or spaces between numbers), rows by semicolons."""
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
            raise NotUnderstoodError("the brackets are empty" if not rows[0] else f"more than {MOST_CELLS:,} items")
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
                raise NotUnderstoodError("a matrix has a sign in the wrong place")
            else:
                rows[-1].append(self.expression())
        self.take()
        rows = [row for row in rows if row]
        if not rows or sum(map(len, rows)) > MOST_CELLS:
            raise NotUnderstoodError("the matrix is empty" if not rows else f"more than {MOST_CELLS:,} cells")
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
        """Parse a LaTeX argument: braces, or one token."""
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
        """Parse the arguments of a function, and its axis: `(A, axis=0)`, `(A, B; dim=-1)`."""
        found: list[Node] = []
        axis = ""
        while not self.sees("close", closing):
            if self._names_axis():
                self.skip(2)
                axis = ("-" if self.sees("operator", "-") and self.take() else "") + self.take().text
            else:
                found.append(self.expression())
            if not (self.sees("comma") or self.sees("wall", ";")):
                break
            if self.take().text == ";" and not self._names_axis() and not self.sees("name", *AXES):
                raise NotUnderstoodError("the arguments of a function are separated by commas")
        self._close(closing)
        if not found or len(found) > MOST_CELLS:
            raise NotUnderstoodError("the brackets are empty" if not found else f"more than {MOST_CELLS:,} items")
        return tuple(found), axis

    def _names_axis(self) -> bool:
        following = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        return self.sees("name", *AXIS_KEYS) and following is not None and (following.kind, following.text) == ("relation", "=")

    def _bare_argument(self) -> Node:
        if self.sees("operator", "-"):
            raise NotUnderstoodError("a function of a negative number needs brackets")
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
        """Return a node with its subscript: a size for a matrix, part of a name; otherwise it is ignored."""
        if isinstance(node, List | Grid | Grouped) and _SIZE.fullmatch(label):
            return Sized(node, List(tuple(Number(read(size)) for size in _DIGITS.findall(label))))
        if isinstance(node, Name):
            return Name(f"{node.text}_{label}")
        return node
