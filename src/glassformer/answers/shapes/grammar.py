"""From tokens to statements: a recursive descent, with a limit to how deep it goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from glassformer.answers.shapes.names import SHOWN, Known, function_called, resolved
from glassformer.answers.shapes.nodes import (
    Call,
    Elementwise,
    Joined,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Statement,
    Sum,
    Transposed,
    name,
)
from glassformer.answers.shapes.scripts import Token, place
from glassformer.spec import GlassformerError, shown

DEEPEST = 40
AXIS_WORDS = frozenset("rows row columns column cols col keys queries tokens features vertical horizontal".split())
AXIS_OPTIONS = frozenset({"axis", "dim", "over"})
STARTS = frozenset({"name", "number", "function", "(", "[", "{", "frac", "sqrt"})
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Line:
    """One statement's tokens before they are parsed: what stands left of `=`, each body, and the claimed shape."""

    target: Name | None
    parameters: tuple[Name, ...] | None
    bodies: tuple[list[Token], ...]
    claim: str | None


def parse(lines: Sequence[Line], known: Known) -> list[Statement]:
    """The statements of a formula; `a = b = c` is two of them."""
    statements = []
    for line in lines:
        for number, body in enumerate(line.bodies):
            last = number == len(line.bodies) - 1
            node = Parser(resolved(body, known), known).whole()
            first = number == 0
            statements.append(
                Statement(node, line.target if first else None, line.parameters if first else None, line.claim if last else None)
            )
    return statements


def unexpected(token: Token, wanted: str) -> GlassformerError:
    """The line that says what should stand where, and what stands there."""
    found = (
        f"'{shown(token.text, limit=20)}'" if token.text.strip() else "the end" if token.kind in ("end", "break") else "a space"
    )
    return GlassformerError(f"{wanted} was expected {place(token.position)}, found {found}.")


class Parser:
    """One body. Products, by whatever sign, lean to the left; so do sums."""

    def __init__(self, line: list[Token], known: Known) -> None:
        self.line = line
        self.at = 0
        self.known = known
        self.deep = 0

    @property
    def next(self) -> Token:
        return self.line[self.at]

    def take(self, *kinds: str) -> Token | None:
        if self.next.kind not in kinds:
            return None
        self.at += 1
        return self.line[self.at - 1]

    def want(self, kind: str) -> Token:
        found = self.take(kind)
        if found is None:
            raise unexpected(self.next, f"'{kind}'")
        return found

    def whole(self) -> Node:
        node = self.sum()
        if self.next.kind != "end":
            raise unexpected(self.next, "an operator or the end of the statement")
        return node

    def sum(self) -> Node:
        node = self.term()
        while sign := self.take("+", "-"):
            node = Sum(node, self.term(), "+" if sign.kind == "+" else "-")
        return node

    def term(self) -> Node:
        minus = False
        while self.take("-"):
            minus = not minus
        node = self.products()
        return Negative(node) if minus else node

    def products(self) -> Node:
        node = self.factor()
        while True:
            if self.take("*") or self.next.kind in STARTS:
                node = Product(node, self.factor())
            elif self.take("⊙"):
                node = Elementwise(node, self.factor())
            elif self.take("/"):
                node = Quotient(node, self.factor())
            else:
                return node

    def factor(self) -> Node:
        self.deep += 1
        if self.deep > DEEPEST:
            raise GlassformerError(f"the formula is nested more than {DEEPEST} deep {place(self.next.position)}.")
        node = self.atom()
        self.deep -= 1
        while mark := self.take("transpose", "prime", "power"):
            if mark.kind == "prime" and isinstance(node, Name) and self.known.has(node.base + "'", node.indexes):
                node = name(node.base + "'", *node.indexes)
            elif mark.kind == "power":
                node = Power(node, mark.value or Fraction(0))
            else:
                node = Transposed(node)
        return node

    def atom(self) -> Node:
        token = self.next
        if self.take("name"):
            return name(token.text, *token.indexes)
        if self.take("number"):
            return Number(token.value or Fraction(0))
        if self.take("function"):
            return self.call(token)
        if self.take("sqrt"):
            return Call("sqrt", (self.factor(),))
        if self.take("frac"):
            return Quotient(self.factor(), self.factor())
        if self.take("[") and self.next.kind != "]":
            return self.bracket()
        if self.take("(", "{"):
            node = self.sum()
            self.want(CLOSING[token.kind])
            return node
        raise unexpected(self.next, "a matrix, a number or a bracket")

    def bracket(self) -> Node:
        """`[A, B]` beside each other, `[A; B]` below each other, `[A, B; C, D]` in blocks."""
        rows: list[Node] = []
        while True:
            parts, until = self.parts({","})
            only = len(parts) == 1 and until is None
            rows.append(parts[0] if only else Joined(tuple(parts), "beside", until))
            if not self.take(";", "break"):
                break
            if self.take("dots"):
                self.want(";")
                last = self.sum()
                self.want("]")
                return Joined(tuple(rows), "below", last)
        self.want("]")
        return rows[0] if len(rows) == 1 else Joined(tuple(rows), "below")

    def parts(self, separators: Iterable[str]) -> tuple[list[Node], Node | None]:
        """Expressions between separators; after dots stands the last of them."""
        found = [self.sum()]
        while self.take(*separators):
            if self.take("dots"):
                if not self.take(*separators):
                    raise unexpected(self.next, "the last part, after the dots,")
                return found, self.sum()
            found.append(self.sum())
        return found, None

    def call(self, token: Token) -> Node:
        """A function with its arguments; the last of them may say over which axis."""
        opening = self.next.kind
        self.at += 1
        axis = "_".join(token.indexes) or None
        arguments: list[Node] = []
        until: Node | None = None
        while self.next.kind != CLOSING[opening]:
            if found := self.axis():
                axis = found
            elif self.take("dots"):
                if not (arguments and self.take(",", ";")):
                    raise unexpected(self.next, "a part on both sides of the dots")
                until = self.sum()
            else:
                arguments.append(self.sum())
            if not self.take(",", ";"):
                break
        self.want(CLOSING[opening])
        if token.text in self.known.own_functions:
            return Call(token.text, tuple(arguments))
        return self.function(token, arguments, until, axis)

    def function(self, token: Token, arguments: list[Node], until: Node | None, axis: str | None) -> Node:
        word = function_called(token.text) or token.text
        if not arguments:
            raise unexpected(self.line[self.at - 1], f"an argument of {token.text}")
        if word in ("concat", "hstack", "vstack"):
            inner = arguments[0]
            if len(arguments) == 1 and isinstance(inner, Joined) and inner.direction == "beside":
                arguments, until = list(inner.parts), inner.until  # cat([A, B], dim=-1), as in code
            axis = {"hstack": "axis=1", "vstack": "axis=0"}.get(word, axis)
            return Joined(tuple(arguments), None, until, axis)
        wanted = {"Attention": 3, "MultiHead": 3}.get(word, 1)
        if len(arguments) != wanted or until is not None:
            wants = "Q, K and V" if wanted == 3 else "one argument"
            raise GlassformerError(f"{token.text} {place(token.position)} takes {wants}, found {len(arguments)}.")
        if word == "transpose":
            return Transposed(arguments[0])
        return Call(SHOWN.get(word, word), tuple(arguments), axis)

    def axis(self) -> str | None:
        """`rows`, `axis=0`, `dim=-1`, `over keys`: where softmax runs, or a mean, or the parts are joined."""
        token = self.next
        if token.kind != "name" or self.known.has(token.text, token.indexes):
            return None
        after = self.line[self.at + 1]
        if token.text in AXIS_WORDS and after.kind in (",", ";", ")", "}"):
            self.at += 1
            return token.text
        if token.text not in AXIS_OPTIONS or after.kind not in ("=", "name"):
            return None
        self.at += 2 if after.kind == "=" else 1
        sign = "-" if self.take("-") else ""
        value = self.take("number", "name")
        if value is None:
            raise unexpected(self.next, f"an axis after {token.text}")
        return value.text if value.kind == "name" else f"axis={sign}{value.text}"
