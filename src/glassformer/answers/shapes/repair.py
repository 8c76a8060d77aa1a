"""How a formula would have to be written: places to replace, in terms of who attends to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from glassformer.answers.shapes.nodes import Call, Name, Node, Number, Product, Quotient, Transposed, name, swapped
from glassformer.answers.shapes.sizes import Size
from glassformer.answers.shapes.trace import Attending, Trace
from glassformer.answers.shapes.values import Pair, Value, Weights

Changes: TypeAlias = Mapping[Node, Node]


@dataclass(frozen=True)
class Plain:
    """A factor without its transposes, and which of its axes counts the tokens."""

    node: Node
    tokens: int

    def lying(self, axis: int) -> Node:
        """The factor turned so that its tokens are rows (0) or columns (1)."""
        return self.node if self.tokens == axis else Transposed(self.node)


def plain(node: Node, value: Value, trace: Trace) -> Plain | None:
    tokens = value.tokens_axis(trace.book)
    if tokens is None:
        return None
    while isinstance(node, Transposed):
        node, tokens = node.of, 1 - tokens
    return Plain(node, tokens)


def right_scores(pair: Pair, trace: Trace, *, columns: bool | None = None) -> Product | None:
    """`Q K^T` where tokens are rows, `K^T Q` where they are columns; the sides keep their places where nobody has a name."""
    sides = [pair.of("queries"), pair.of("keys")]
    queries, keys = (
        plain(*(side or ((pair.node.left, pair.left), (pair.node.right, pair.right))[i]), trace) for i, side in enumerate(sides)
    )
    if queries is None or keys is None:
        return None
    if queries.tokens == 1 if columns is None else columns:
        return Product(keys.lying(0), queries.lying(1))
    return Product(queries.lying(0), keys.lying(1))


def right_attention(weights: Weights, attending: Attending | None, trace: Trace) -> Changes | None:
    """The whole attention with its tokens where they are: `softmax(Q K^T) V` for rows, `V softmax(K^T Q)` for columns."""
    values = None
    if attending is not None:
        node = attending.node.right if attending.side == "right" else attending.node.left
        values = plain(node, attending.values, trace)
        if values is None:
            return None
    columns = None if values is None else values.tokens == 1
    scores = right_scores(weights.pair, trace, columns=columns)
    if scores is None:
        return None
    changes: dict[Node, Node] = {weights.pair.node: scores}
    if weights.node.axis is not None:
        queries_first = not (columns if columns is not None else isinstance(scores.left, Transposed))
        changes[weights.node] = with_axis(swapped_inside(weights.node, changes), "rows" if queries_first else "columns")
    if attending is None or values is None:
        return changes
    kept = attending.node.left if attending.side == "right" else attending.node.right
    while isinstance(kept, Transposed):
        kept = kept.of
    attention = swapped(kept, changes)
    changes[attending.node] = Product(values.lying(1), attention) if columns else Product(attention, values.lying(0))
    return changes


def swapped_inside(node: Call, changes: Changes) -> Call:
    return replace(node, arguments=tuple(swapped(argument, changes) for argument in node.arguments))


def with_axis(node: Call, axis: str) -> Call:
    return replace(node, axis=axis)


def other_side(node: Product) -> Product:
    """`W_O Z` for `Z W_O`."""
    return Product(node.right, node.left)


def size_node(size: Size) -> Node:
    """A size as it is written in a formula: `d / S`."""
    ((monomial, factor),) = size.terms
    above: list[Node] = [_named(symbol) for symbol, power in monomial for _ in range(max(0, power))]
    below: list[Node] = [_named(symbol) for symbol, power in monomial for _ in range(max(0, -power))]
    if factor.numerator != 1 or not above:
        above.insert(0, Number(Fraction(factor.numerator)))
    if factor.denominator != 1:
        below.insert(0, Number(Fraction(factor.denominator)))
    top = _multiplied(above)
    return Quotient(top, _multiplied(below)) if below else top


def _named(symbol: str) -> Name:
    base, *indexes = symbol.split("_")
    return name(base, *indexes)


def _multiplied(nodes: list[Node]) -> Node:
    product = nodes[0]
    for node in nodes[1:]:
        product = Product(product, node)
    return product
