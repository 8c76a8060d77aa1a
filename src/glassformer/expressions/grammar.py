"""The grammar: parses tokens into a tree, by recursive descent with limited depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from glassformer.expressions.limits import MOST_CHARACTERS, NotUnderstoodError
from glassformer.expressions.operands import Operands
from glassformer.expressions.readings import Reading
from glassformer.expressions.scanner import Token
from glassformer.expressions.settle import settle
from glassformer.expressions.tree import (
    Factor,
    Name,
    Negative,
    Node,
    Number,
    Parsed,
    Power,
    Product,
    Sign,
    Sum,
    Transposed,
)

PRODUCT_SIGNS = frozenset(("×", "·", "*", "@", "⊙", "/", "//"))
JUXTAPOSED = frozenset(("name", "function", "open", "begin", "command", "text"))


def parse(tokens: Sequence[Token], reading: Reading | None = None) -> Parsed:
    """Parse all tokens into one expression."""
    if tokens and tokens[-1].end - tokens[0].start > MOST_CHARACTERS:
        raise NotUnderstoodError(f"an expression of more than {MOST_CHARACTERS:,} characters is too long")
    parser = Parser(settle(tokens, reading or Reading()), reading or Reading())
    tree = parser.expression()
    if parser.token is not None:
        raise parser.unexpected()
    return Parsed(tree, tuple(parser.notes), tuple(parser.doubts))


class Parser(Operands):
    """Parses sums of products of factors; `operands` parses factors."""

    def __init__(self, tokens: list[Token], reading: Reading) -> None:
        super().__init__(tokens)
        self.reading = reading

    def expression(self) -> Node:
        terms: list[tuple[Sign, Node]] = [("+", self._term())]
        while self.sees("operator", "+", "-"):
            sign = cast(Sign, self.take().text)
            terms.append((sign, self._term()))
        return terms[0][1] if len(terms) == 1 else Sum(tuple(terms))

    def _term(self) -> Node:
        factors: list[tuple[Factor, Node]] = []
        sign: Factor = ""
        while True:
            factors.extend(self._side_by_side(sign))
            if not (self.token is not None and self.token.kind == "operator" and self.token.text in PRODUCT_SIGNS):
                break
            sign = cast(Factor, self.take().text)
        return factors[0][1] if len(factors) == 1 else Product(tuple(factors))

    def _side_by_side(self, sign: Factor) -> list[tuple[Factor, Node]]:
        """Parse factors without a sign between them: `2 \\sqrt{2}`, `(3)(4)`, `W X`."""
        found: list[tuple[Factor, Node]] = [(sign, self._factor())]
        if self.reading.mixed == "sum" and isinstance(found[0][1], Number) and self.sees("command", "frac"):
            return [(sign, Sum((("+", found[0][1]), ("+", self._factor()))))]
        while self.token is not None and self.token.kind in JUXTAPOSED:
            if self.token.gap and not self.token.math and self.token.kind == "open":
                self.doubts.append("brackets after a space may be a remark or a factor")
            if isinstance(found[-1][1], Name) and self.sees("open", "("):
                self.doubts.append("a name before brackets may be a function")
            found.append(("", self._factor()))
        if len(found) == 1 or self.reading.juxtaposition == "even":
            return found
        return [(sign, Product((("", found[0][1]), *found[1:])))]

    def _factor(self) -> Node:
        return self.deeper(self._signed if self.sees("operator", "-", "+") else self.power)

    def _signed(self) -> Node:
        return self._negative(self._factor()) if self.take().text == "-" else self._factor()

    def _negative(self, inner: Node) -> Node:
        if self.reading.minus == "inside" and isinstance(inner, Power) and isinstance(inner.base, Number):
            return Power(Negative(inner.base), inner.exponent)
        return Negative(inner)

    def power(self) -> Node:
        noted = len(self.notes)
        base = self.operand()
        if not self.sees("operator", "^"):
            return base
        self.take()
        of_unit = len(self.notes) > noted and self.reading.hats == "unit"
        if self._transposes():
            return self._powered(Transposed(base))
        negative = self.sees("operator", "-")
        if negative:
            self.take()
        exponent = self.deeper(self.power)
        if of_unit:
            return base
        return Power(base, Negative(exponent) if negative else exponent)

    def _powered(self, node: Node) -> Node:
        """Parse what follows a transpose: remarks, another transpose, or nothing."""
        node = self.postfix(node)
        if not self.sees("operator", "^"):
            return node
        self.take()
        if not self._transposes():
            raise NotUnderstoodError("a transpose has no power")
        return self.deeper(lambda: self._powered(Transposed(node)))

    def _transposes(self) -> bool:
        """Consume `T`, `{T}` or `\\top` after `^`, and return whether it was there."""
        if self.token is not None and self.token.kind == "name" and self.token.text == "T":
            self.take()
            return True
        inside = self.tokens[self.place : self.place + 3]
        if [token.text for token in inside] == ["{", "T", "}"]:
            self.skip(3)
            return True
        return False
