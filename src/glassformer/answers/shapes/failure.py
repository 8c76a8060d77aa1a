"""A product that does not fit: both shapes, which forms of it would fit, and what the sizes mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.answers.shapes.nodes import Node, Product, Transposed
from glassformer.answers.shapes.repair import Changes, right_attention
from glassformer.answers.shapes.sizes import Size, agreement
from glassformer.answers.shapes.trace import Attending, Trace, shape_text
from glassformer.answers.shapes.values import Value
from glassformer.answers.shapes.writing import written


@dataclass(frozen=True)
class Form:
    """Another way to write the product, and the shape that it would have."""

    node: Node
    shape: tuple[Size, ...]

    @property
    def text(self) -> str:
        return f"{written(self.node)} is {shape_text(self.shape)}"


@dataclass(frozen=True)
class Failure:
    """Where and why; `options` are replacements to try, the likeliest first."""

    node: Node
    shapes: tuple[tuple[Size, ...], ...]
    why: str
    explanation: str
    forms: tuple[Form, ...]
    options: tuple[Changes, ...]

    @property
    def sentence(self) -> str:
        shapes = " and ".join(shape_text(shape) for shape in self.shapes)
        words = "times" if isinstance(self.node, Product) else "and"
        return f"{written(self.node)} does not fit: {shapes.replace(' and ', f' {words} ')}, {self.why}."

    def to_dict(self) -> dict[str, Any]:
        return {
            "expression": written(self.node),
            "shapes": [[size.number or str(size) for size in shape] for shape in self.shapes],
            "why": self.why,
            "explanation": self.explanation or None,
            "fits": [
                {"expression": written(form.node), "shape": [x.number or str(x) for x in form.shape]} for form in self.forms
            ],
        }


def failure(trace: Trace) -> Failure:
    """What is known about the place where a formula stopped."""
    failed = trace.failed
    assert failed is not None
    shapes = tuple(trace.sizes(value.axes) for value in failed.values)
    if not isinstance(failed.node, Product):
        return Failure(failed.node, shapes, failed.why, "", (), ())
    left, right = failed.values
    forms = tuple(_forms(failed.node, *shapes))
    attention = _attention(failed.node, left, right, trace)
    in_attention = {left.role, right.role} == {"queries", "keys"} or left.weights or right.weights
    turned: list[Changes] = [{failed.node: form.node} for form in forms] if in_attention else []
    options = [attention] if attention else turned
    return Failure(failed.node, shapes, failed.why, _explained(left, right, trace), forms, tuple(options))


def _forms(node: Product, left: tuple[Size, ...], right: tuple[Size, ...]) -> Iterator[Form]:
    """The product with one factor turned, both, or the factors exchanged, where that fits."""
    for a, b in ((node.left, _turned(node.right)), (_turned(node.left), node.right), (node.right, node.left)):
        shape_a = left[::-1] if a is not node.left and a is not node.right else left if a is node.left else right
        shape_b = right[::-1] if b is not node.left and b is not node.right else right if b is node.right else left
        if agreement(shape_a[1], shape_b[0]) in ("same", "bound"):
            yield Form(Product(a, b), (shape_a[0], shape_b[1]))


def _turned(node: Node) -> Node:
    return node.of if isinstance(node, Transposed) else Transposed(node)


def _attention(node: Product, left: Value, right: Value, trace: Trace) -> Changes | None:
    """Weights that do not meet their values: the attention written as its tokens lie."""
    weights = left.weights or right.weights
    if weights is None or (left.weights and right.weights):
        return None
    values = right if left.weights else left
    attention = left if left.weights else right
    attending = Attending(node, attention, values, "right" if left.weights else "left", clash=False, from_queries=False)
    return right_attention(weights, attending, trace)


def _explained(left: Value, right: Value, trace: Trace) -> str:
    """What the sizes mean where an attention matrix does not meet its values."""
    weights = left.weights or right.weights
    if weights is None or None in weights.pair.roles:
        return ""
    values = right if left.weights else left
    sizes = trace.sizes((left if left.weights else right).axes)
    queries, keys = (sizes[weights.pair.roles.index(role)] for role in ("queries", "keys"))
    text = f"The attention matrix is {' × '.join(map(str, weights.pair.roles))}: {queries} queries attend to {keys} keys."
    tokens = values.tokens_axis(trace.book)
    if tokens is not None and agreement(trace.sizes(values.axes)[tokens], keys) == "different":
        count = trace.sizes(values.axes)[tokens]
        text += f" The values are those of {count} tokens; keys and values come from the same tokens, so there must be {keys}."
    return text
