"""The language of quantities: parses `params(ffn) / params @ bert-base` into a tree, and writes trees back.

Every word is a name, every bracket after a name contains arguments, and anything else is an error with its position.
`read(write(tree)) == tree` for every tree that `read` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from glassformer.errors import shown
from glassformer.expressions.fold import fold
from glassformer.expressions.grammar import Parser
from glassformer.expressions.limits import MOST_CHARACTERS, NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.readings import Reading
from glassformer.expressions.scanner import Token
from glassformer.expressions.settle import settle
from glassformer.expressions.tokens import tokens
from glassformer.expressions.tree import (
    Call,
    Converted,
    Factor,
    Grid,
    Grouped,
    List,
    Name,
    Negative,
    Node,
    Number,
    Product,
    Quantity,
    Relation,
    Sum,
    rebuilt,
)
from glassformer.expressions.vocabulary import BYTES

MODEL = re.compile(r"\s*([A-Za-z~.][\w./~-]*(?:\s+[A-Za-z_]+=[\w.]+(?:,[\w.]+)*)*)")
SIGNS = {"=": "=", "≈": "≈", "<": "<", ">": ">", "<=": "≤", ">=": "≥", "≤": "≤", "≥": "≥", "≠": "≠", "!=": "≠"}
SCALED_UNITS = ("K", "M", "B", "G", "T")  # thousands, millions, billions
UNITS = (*BYTES, *SCALED_UNITS, "%", "bytes")
EXAMPLE = "write an expression such as 'params(ffn, layer=0)', 'params(ffn) / params' or 'sqrt(d_k)'"


def read(text: str) -> Node:
    """Parse an expression or a relation into a tree."""
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstoodError(f"the expression has {len(text):,} characters; at most {MOST_CHARACTERS:,} are allowed.")
    try:
        found = settle(fold(_with_operators(tokens(text, names=True)), remarks=False), Reading())
        if not found:
            raise NotUnderstoodError(f"the expression is empty: {EXAMPLE}.")
        return simplified(_Reader(text, found).relation())
    except NotUnderstoodError as error:
        raise error.about(text, "cannot be read") from error


def _with_operators(found: list[Token]) -> list[Token]:
    """Mark `in`, the only word of the language that is not a name."""
    return [token._replace(kind="wall") if (token.kind, token.text) == ("name", "in") else token for token in found]


def write(node: Node) -> str:
    """Return the canonical form of a tree from `read`."""
    return plain(_bare(node))


def _bare(node: Node) -> Node:
    """Return a tree with numbers without separators (which would split arguments), and `~` before rounded ones."""
    if not isinstance(node, Number):
        return rebuilt(node, _bare)
    digits = node.numeral.text.replace(",", "").replace(" ", "" if node.numeral.text[-1:].isdigit() else " ")
    said = f"~{digits}" if node.numeral.rounded and digits[-1:].isdigit() and "e" not in digits.lower() else digits
    return Number(replace(node.numeral, text=said))


def simplified(node: Node) -> Node:
    """Return the canonical tree: without redundant brackets, with left-nested products and sums flattened."""
    node = rebuilt(node, simplified)
    match node:
        case Grouped(inner):
            return inner
        case Product(factors):
            return Product(tuple(_flat(factors)))
        case Sum(((_, Sum(inside)), *others)):
            return Sum((*inside, *others))
        case Negative(Product(((sign, first), *rest))):  # -a * b is parsed as (-a) * b
            return simplified(Product(((sign, Negative(first)), *rest)))
        case Quantity(name, (), (), ""):
            return Name(name)
        case _:
            return node


def _flat(factors: Sequence[tuple[Factor, Node]]) -> Iterator[tuple[Factor, Node]]:
    """Flatten a product at the start of a product; elsewhere brackets stay, since `A (B C)` has another cost."""
    for place, (sign, factor) in enumerate(factors):
        if place == 0 and isinstance(factor, Product):
            yield "", factor.factors[0][1]
            yield from factor.factors[1:]
        else:
            yield "" if place == 0 else sign or "·", factor


class _Reader(Parser):
    """The grammar of arithmetic, with quantities, models, units and relations added."""

    def __init__(self, text: str, found: list[Token]) -> None:
        super().__init__(found, Reading())
        self.text = text

    def relation(self) -> Node:
        found = self._sides()
        if self.token is not None:
            raise self._unexpected()
        return found

    def _sides(self) -> Node:
        sides, signs = [self._converted()], []
        while self.token is not None and self.token.kind in ("relation", "wall") and self.token.text in SIGNS:
            signs.append(SIGNS[self.take().text])
            sides.append(self._converted())
        return Relation(tuple(sides), tuple(signs)) if signs else sides[0]

    def _converted(self) -> Node:
        node = self.expression()
        if not self.sees("wall", "in"):
            return node
        self.take()
        unit = self.take().text
        if unit not in UNITS:
            raise NotUnderstoodError(f"'{shown(unit)}' is not a unit. Units: {', '.join(dict.fromkeys(UNITS))}.")
        return Converted(node, unit)

    def operand(self) -> Node:
        """Parse an operand; a name may be a quantity: `params`, `params(ffn)`, `positions[3, 5]`, `d_model @ bert-large`."""
        token = self.token
        if token is None:
            raise NotUnderstoodError(f"'{shown(self.text)}' ends too early: {EXAMPLE}.")
        if token.kind != "name":
            if token.kind in ("unknown", "word", "wall", "stop", "close", "operator", "relation", "comma"):
                raise self._unexpected()
            return self._at_model(self._indexed(super().operand()))
        self.take()
        node: Node = Name(token.text)
        if (self.sees("open", "(") or self.sees("open", "[")) and self.token is not None and not self.token.gap:
            node = self._called(token.text, ")" if self.take().text == "(" else "]")
        return self._at_model(self.postfix(node))

    def _indexed(self, node: Node) -> Node:
        """Parse an index, counted from 0: `softmax([2, 1])[0]`."""
        while isinstance(node, Call | List | Grid) and self.sees("open", "[") and self.token is not None and not self.token.gap:
            self.take()
            node = Call("item", (node, *self._rows("]")[0]))
        return node

    def _called(self, name: str, closing: str) -> Quantity:
        arguments: list[Node] = []
        options: list[tuple[str, Node]] = []
        while not self.sees("close", closing):
            key = self._key(name)
            value = self._sides() if not key else self.expression()
            if key:
                options.append((key, value))
            elif options:  # t=128, 256: one option with several values
                options[-1] = (options[-1][0], _listed(options[-1][1], value))
            else:
                arguments.append(value)
            if not self.sees("comma"):
                break
            self.take()
        self._close(closing)
        return Quantity(name, tuple(arguments), tuple(options))

    def _key(self, name: str) -> str:
        """Return the key of `layer=0`; in `solve(classes, params = 10)` the equals sign is a relation."""
        following = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        if name == "solve" or not self.sees("name") or following is None or (following.kind, following.text) != ("relation", "="):
            return ""
        key = self.take().text
        self.take()
        return key

    def _at_model(self, node: Node) -> Node:
        """Parse `@ bert-base d_ff=4096` after a name; the words of the model are kept as text."""
        if not self.sees("operator", "@") or not isinstance(node, Name | Quantity):
            return node
        sign = self.take()
        found = MODEL.match(self.text, sign.end)
        if found is None:
            raise NotUnderstoodError("expected a model after '@': a preset or a file, as in 'params @ bert-base'.")
        while self.token is not None and self.token.start < found.end():
            self.skip(1)
        model = " ".join(found[1].split())
        return replace(node, model=model) if isinstance(node, Quantity) else Quantity(node.text, model=model)

    def _unexpected(self) -> NotUnderstoodError:
        token = self.token
        if token is None:
            return NotUnderstoodError(f"'{shown(self.text)}' ends too early: {EXAMPLE}.")
        before = self.text[: token.start].rstrip()
        where = f" after '{shown(before[-30:])}'" if before else ""
        said = shown(token.text, limit=20)
        if said == ":" and (rest := self.text[token.end :].strip()):
            return NotUnderstoodError(f"unexpected ':'{where}: leave out the words before it and write '{shown(rest)}'.")
        return NotUnderstoodError(f"unexpected '{said}'{where} (character {token.start + 1}): {EXAMPLE}.")


def _listed(values: Node, value: Node) -> Node:
    return List((*values.items, value), "") if isinstance(values, List) and not values.bracket else List((values, value), "")


def names_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the names in a list such as `biases + norms` or `biases, norms`."""
    found: list[str] = []
    for node in nodes:
        match node:
            case Name(text):
                found.append(text)
            case Sum(terms) if all(sign == "+" for sign, _ in terms):
                found += names_of([term for _, term in terms])
            case List(items):
                found += names_of(items)
            case Quantity(name, model=model) if model:
                raise NotUnderstoodError(f"write '@ {shown(model)}' after the closing parenthesis, not after {shown(name)}.")
            case _:
                raise NotUnderstoodError(f"'{shown(plain(node))}' is not a name.")
    return tuple(found)
