"""Corrections of formulas: nodes to replace, and forms of a product that would fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from glassformer.algebra.formulas.form import Changes, multiplies, sides, stripped, swapped, times, turned
from glassformer.algebra.formulas.sizes import Size, agreement
from glassformer.algebra.formulas.trace import Attending, Trace, shape_text
from glassformer.algebra.formulas.values import Pair, Value, Weights
from glassformer.algebra.formulas.writing import written
from glassformer.expressions.numerals import read
from glassformer.expressions.tree import Name, Node, Number, Product, Transposed


@dataclass(frozen=True)
class Plain:
    """A factor without its transposes, and its token axis."""

    node: Node
    tokens: int

    def lying(self, axis: int) -> Node:
        """Return the factor with its tokens as rows (0) or columns (1)."""
        return self.node if self.tokens == axis else Transposed(self.node)


def plain(node: Node, value: Value, trace: Trace) -> Plain | None:
    tokens = value.tokens_axis(trace.book)
    if tokens is None:
        return None
    while isinstance(node, Transposed):
        node, tokens = node.inner, 1 - tokens
    return Plain(node, tokens)


def right_scores(pair: Pair, trace: Trace, *, columns: bool | None = None) -> Product | None:
    """Return `Q K^T` for tokens as rows, `K^T Q` for columns; without known roles, the factors keep their order."""
    written_sides = list(zip(sides(pair.node), (pair.left, pair.right), strict=True))
    queries = plain(*(pair.of("queries") or written_sides[0]), trace)
    keys = plain(*(pair.of("keys") or written_sides[1]), trace)
    if queries is None or keys is None:
        return None
    if queries.tokens == 1 if columns is None else columns:
        return times(keys.lying(0), queries.lying(1))
    return times(queries.lying(0), keys.lying(1))


def right_attention(weights: Weights, attending: Attending | None, trace: Trace) -> Changes | None:
    """Return the corrected attention: `softmax(Q K^T) V` for tokens as rows, `V softmax(K^T Q)` for columns."""
    values = plain(attending.values_node, attending.values, trace) if attending is not None else None
    columns = None if values is None else values.tokens == 1
    scores = right_scores(weights.pair, trace, columns=columns)
    if scores is None or (attending is not None and values is None):
        return None
    changes: Changes = Changes([(weights.pair.node, scores)])
    if weights.node.axis:
        rows = not (columns if columns is not None else isinstance(sides(scores)[0], Transposed))
        inside = tuple(swapped(argument, changes) for argument in weights.node.arguments)
        changes[weights.node] = replace(weights.node, arguments=inside, axis="rows" if rows else "columns")
    if attending is not None and values is not None:
        kept = stripped(sides(attending.node)[attending.side == "left"])
        attention = swapped(kept, changes)
        changes[attending.node] = times(values.lying(1), attention) if columns else times(attention, values.lying(0))
    return changes


def other_side(node: Product) -> Product:
    """Return a product with its factors swapped: `W_O Z` for `Z W_O`."""
    left, right = sides(node)
    return times(right, left)


def size_node(size: Size) -> Node:
    """Return a size as a node of a formula: `d / S`."""
    ((monomial, factor),) = size.terms
    above: list[Node] = [Name(symbol) for symbol, power in monomial for _ in range(max(0, power))]
    below: list[Node] = [Name(symbol) for symbol, power in monomial for _ in range(max(0, -power))]
    if factor.numerator != 1 or not above:
        above.insert(0, Number(read(str(factor.numerator))))
    if factor.denominator != 1:
        below.insert(0, Number(read(str(factor.denominator))))
    return times(_multiplied(above), _multiplied(below), "/") if below else _multiplied(above)


def _multiplied(nodes: list[Node]) -> Node:
    product = nodes[0]
    for node in nodes[1:]:
        product = times(product, node)
    return product


@dataclass(frozen=True)
class Form:
    """Another form of a product, and its shape."""

    node: Node
    shape: tuple[Size, ...]

    @property
    def text(self) -> str:
        return f"{written(self.node)} is {shape_text(self.shape)}"


@dataclass(frozen=True)
class Failure:
    """A mismatch: where and why; `options` are replacements to try, most likely first."""

    node: Node
    shapes: tuple[tuple[Size, ...], ...]
    why: str
    explanation: str = ""
    forms: tuple[Form, ...] = ()
    options: tuple[Changes, ...] = ()

    @property
    def sentence(self) -> str:
        words = " times " if multiplies(self.node) else " and "
        return f"{written(self.node)} does not fit: {words.join(map(shape_text, self.shapes))}, {self.why}."

    def to_dict(self) -> dict[str, Any]:
        return {
            "expression": written(self.node),
            "shapes": [plain_sizes(shape) for shape in self.shapes],
            "why": self.why,
            "explanation": self.explanation or None,
            "fits": [{"expression": written(form.node), "shape": plain_sizes(form.shape)} for form in self.forms],
        }


def plain_sizes(shape: tuple[Size, ...]) -> list[int | str]:
    return [size.number or str(size) for size in shape]


def failure(trace: Trace) -> Failure:
    """Describe the mismatch that stopped the evaluation of a formula."""
    failed = trace.failed
    assert failed is not None
    shapes = tuple(trace.sizes(value.axes) for value in failed.values)
    node = failed.node
    if not isinstance(node, Product) or not multiplies(node):
        return Failure(node, shapes, failed.why)
    left, right = failed.values
    forms = tuple(_forms(node, *shapes))
    options: tuple[Changes, ...] = ()
    if {left.role, right.role} == {"queries", "keys"} or left.weights or right.weights:
        options = tuple(Changes([(node, form.node)]) for form in forms)
    weights, values = (left.weights, right) if left.weights else (right.weights, left)
    if weights is None:
        return Failure(node, shapes, failed.why, "", forms, options)
    if not (left.weights and right.weights):
        attending = Attending(node, weights, values, "right" if left.weights else "left")
        attention = right_attention(weights, attending, trace)
        options = (attention,) if attention else options
    return Failure(node, shapes, failed.why, _explained(weights, values, trace), forms, options)


def _forms(node: Product, one: tuple[Size, ...], two: tuple[Size, ...]) -> Iterator[Form]:
    """Yield the product with one factor transposed, or with swapped factors, if that fits."""
    left, right = sides(node)
    options = (
        (left, one, turned(right), two[::-1]),
        (turned(left), one[::-1], right, two),
        (right, two, left, one),
    )
    for a, shape_a, b, shape_b in options:
        if agreement(shape_a[1], shape_b[0]) in ("same", "bound"):
            yield Form(times(a, b), (shape_a[0], shape_b[1]))


def _explained(weights: Weights, values: Value, trace: Trace) -> str:
    """Explain the sizes of an attention matrix that does not fit its values."""
    if None in weights.pair.roles:
        return ""
    sizes = trace.sizes(weights.axes)
    queries, keys = (sizes[weights.pair.roles.index(role)] for role in ("queries", "keys"))
    text = f"The attention matrix is {' × '.join(map(str, weights.pair.roles))}: {queries} queries attend to {keys} keys."
    tokens = values.tokens_axis(trace.book)
    if tokens is not None and agreement(trace.sizes(values.axes)[tokens], keys) == "different":
        count = trace.sizes(values.axes)[tokens]
        text += f" The values belong to {count} tokens; keys and values come from the same tokens, so there must be {keys}."
    return text
