"""The normal form of a formula's tree: binary products and sums, no parentheses, nodes identified by position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Generic, TypeVar

from glassformer.algebra.formulas.names import JOINS, Known, function_called, key_of
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.evaluate import Evaluator
from glassformer.expressions.exact import Real
from glassformer.expressions.limits import DEEPEST_TREE
from glassformer.expressions.numerals import Numeral
from glassformer.expressions.plain import plain
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import (
    Call,
    Factor,
    Grid,
    Grouped,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Root,
    Sum,
    Transposed,
    children,
    names_in,
    rebuilt,
)
from glassformer.expressions.vocabulary import AXES

SIGNS: dict[Factor, Factor] = {"/": "/", "//": "/", "⊙": "⊙"}  # any other sign is a matrix product
DOTS = Name("…")
ONE_HEAD = "one head"  # a function: the part of an all-heads matrix that belongs to one head

T = TypeVar("T")
S = TypeVar("S")


class Places(Generic[T]):
    """A mapping from nodes to values, by identity: equal nodes can occur at several positions of a formula."""

    def __init__(self, pairs: Iterable[tuple[Node, T]] = ()) -> None:
        self._found = {id(node): (node, value) for node, value in pairs}

    def __setitem__(self, node: Node, value: T) -> None:
        self._found[id(node)] = (node, value)

    def __contains__(self, node: Node) -> bool:
        return id(node) in self._found

    def __len__(self) -> int:
        return len(self._found)

    def get(self, node: Node) -> T | None:
        return self._found[id(node)][1] if node in self else None

    def pop(self, node: Node, default: T) -> T:
        return self._found.pop(id(node), (node, default))[1]


Changes = Places[Node]


def swapped(node: Node, changes: Changes) -> Node:
    """Return the tree with some of its nodes replaced."""
    found = changes.get(node)
    return found if found is not None else rebuilt(node, lambda inner: swapped(inner, changes))


def renamed(node: Node, put_in: dict[str, Node]) -> Node:
    """Return a function's body with its parameters replaced by arguments."""
    if isinstance(node, Name):
        return put_in.get(key_of(node.text), node)
    return rebuilt(node, lambda inner: renamed(inner, put_in))


def times(left: Node, right: Node, sign: Factor = "") -> Product:
    return Product((("", left), (sign, right)))


def sides(node: Product | Sum) -> tuple[Node, Node]:
    """Return the two factors of a product, or the two terms of a sum."""
    (_, left), (_, right) = node.factors if isinstance(node, Product) else node.terms
    return left, right


def multiplies(node: Node) -> bool:
    """Return whether a node is a matrix product or a scaling, not a quotient or an element-wise product."""
    return isinstance(node, Product) and not node.factors[1][0]


def turned(node: Node) -> Node:
    """Return the transpose of a node; transposes cancel."""
    return node.inner if isinstance(node, Transposed) else Transposed(node)


def stripped(node: Node) -> Node:
    """Return a node without its transposes."""
    while isinstance(node, Transposed):
        node = node.inner
    return node


def joined_parts(node: Node) -> tuple[Node, ...]:
    """Return the parts of a concatenation, including dots: `[A, B]`, `[A; B]` or `concat(A, B)`."""
    match node:
        case List(parts) | Call(_, parts):
            return parts
        case Grid(rows):
            return tuple(row[0] if len(row) == 1 else List(row) for row in rows)
        case _:
            return ()


def formed(node: Node, known: Known, level: int = 1) -> Node:
    """Return a tree in normal form; `known` tells which names are matrices, since `rows` or `keys` could be one."""
    if level > DEEPEST_TREE:
        raise GlassformerError(f"the formula is nested too deeply: at most {DEEPEST_TREE} levels are allowed.")
    match node:
        case Grouped(inner) | List((inner,), "[") | Negative(Negative(inner)):
            return formed(inner, known, level)
        case Product(factors):
            (_, first), *others = _leaning(factors, known, level)
            return reduce(lambda left, part: times(left, part[1], SIGNS.get(part[0], "")), others, first)
        case Sum(terms):
            (_, first), *rest = _leaning(terms, known, level)
            return reduce(lambda left, part: Sum((("+", left), part)), rest, first)
        case Power(base, exponent):
            return _power(formed(base, known, level + 1), exponent, known)
        case Quantity(word, arguments, options):
            axis = "".join(part.text for _, part in options if isinstance(part, Name))
            return formed(Call(function_called(word) or word, arguments, axis=axis), known, level)
        case Call():
            return _called(replace(node, arguments=tuple(formed(part, known, level + 1) for part in node.arguments)), known)
        case _:
            return rebuilt(node, lambda inner: formed(inner, known, level + 1))


def _leaning(parts: Sequence[tuple[S, Node]], known: Known, level: int) -> list[tuple[S, Node]]:
    """Return the parts of a left-associative product or sum in normal form; the first is nested deepest."""
    return [(sign, formed(part, known, level + len(parts) - place)) for place, (sign, part) in enumerate(parts)]


def _power(base: Node, exponent: Node, known: Known) -> Node:
    if isinstance(base, Name) and isinstance(exponent, Name) and known.has(f"{base.text}_{exponent.text}"):
        return Name(f"{base.text}_{exponent.text}")  # W^Q
    found = Evaluator(Reading(), {}).value(exponent) if not names_in(exponent) else None
    if not isinstance(found, Real) or not found.exact:
        raise GlassformerError(f"'{shown(plain(exponent))}' is not a valid exponent: use T for a transpose, or a number.")
    return Power(base, Number(Numeral(str(found.low), found.low, Fraction(1))))


def _called(call: Call, known: Known) -> Node:
    """Return a call with its axis taken from the last argument and its number of arguments checked."""
    word, arguments, axis = call.function, call.arguments, call.axis
    last = arguments[-1]
    if multiplies(last) and isinstance(last, Product) and sides(last)[0] == Name("over"):
        last = sides(last)[1]  # softmax(A, over keys)
    if len(arguments) > 1 and isinstance(last, Name) and last.text in AXES and not known.has(last.text):
        axis, arguments = last.text, arguments[:-1]
    if word in JOINS and word not in known.own_functions:
        inner = arguments[0]
        if len(arguments) == 1 and isinstance(inner, List) and inner.bracket in ("[", "("):
            arguments = inner.items  # cat([A, B], dim=-1), as in code
        return Call("concat", arguments, axis=JOINS[word] or axis)
    wanted = {"Attention": 3, "MultiHead": 3}.get(word, 1)
    own = word in known.own_functions
    if function_called(word) and not own and (len(arguments) != wanted or DOTS in arguments):
        wants = "Q, K and V" if wanted == 3 else "one argument"
        raise GlassformerError(f"{shown(word)} takes {wants}, found {len(arguments)}.")
    if word == "transpose" and not own:
        return Transposed(arguments[0])
    return Root(arguments[0]) if word == "sqrt" and not own else replace(call, arguments=arguments, axis=axis)


def indexed(node: Node) -> Iterable[str]:
    """Yield the names in an expression, from last to first."""
    for inner in reversed(children(node)):
        yield from indexed(inner)
    if isinstance(node, Name):
        yield node.text
