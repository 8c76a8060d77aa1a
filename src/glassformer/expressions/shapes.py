"""Shapes of products and sums: `[768, 768] × [768, 6]` is `[768, 6]`; mismatches are errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from glassformer.expressions.arrays import Array, Value
from glassformer.expressions.evaluate import Evaluator
from glassformer.expressions.limits import LARGEST_SIZE, MOST_SIZES, NotUnderstoodError
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import Grouped, List, Name, Node, Power, Product, Sized, Space, Transposed, ungrouped

Shape = tuple[int, ...]


class DoesNotFitError(NotUnderstoodError):
    """A product of matrices whose inner sizes differ."""


def shapes_in(node: Node, names: Mapping[str, Value]) -> list[Shape]:
    """Return the shapes in a product, in order; one for a single shape."""
    node = node if isinstance(node, Grouped) else ungrouped(node)
    if isinstance(node, Grouped) and isinstance(ungrouped(node), Product) and _only(ungrouped(node), {"×"}):
        return [shape_of(node, names)]
    if isinstance(node, Product):
        return _split(node, names)
    return [shape_of(node, names)]


def size_nodes(node: Node) -> tuple[Node, ...]:
    """Return the sizes of a shape: a list, sizes with × between them, ℝ with an exponent, or a matrix with a size subscript."""
    match node:
        case List(items):
            return items
        case Sized(_, inner) | Space(inner) | Grouped(inner) | Power(Name("R"), inner):
            return size_nodes(inner)
        case Transposed(inner):
            shape = size_nodes(inner)
            return (*shape[:-2], *reversed(shape[-2:]))
        case Product(factors):
            starts = [place for place, (sign, _) in enumerate(factors) if sign == "×" or place == 0]
            groups = [factors[start:end] for start, end in zip_longest(starts, starts[1:])]
            return tuple(group[0][1] if len(group) == 1 else Product(group) for group in groups)
        case _:
            return (node,)


def shape_of(node: Node, names: Mapping[str, Value]) -> Shape:
    """Return a shape with a number for each size."""
    inside = node
    while isinstance(inside, Grouped | Transposed):
        inside = inside.inner
    if not isinstance(inside, List | Sized | Space) and not (isinstance(inside, Product) and _only(inside, {"×"})):
        raise NotUnderstoodError("not a shape")
    return _sizes(size_nodes(node), names)


def multiplied(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a matrix product; leading sizes are batch sizes, which must agree."""
    found = shapes[0]
    for shape in shapes[1:]:
        found = _product(found, shape)
    return found


def cell_by_cell(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a sum or of an element-wise product; sizes of 1 and missing sizes are broadcast."""
    found = shapes[0]
    for shape in shapes[1:]:
        found = _batches(found, shape)
    return found


def shown_shape(shape: Shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def _product(one: Shape, two: Shape) -> Shape:
    if len(one) < 2 and len(two) < 2:
        raise NotUnderstoodError("a product of two vectors has no definite shape")
    inner = one[-1], two[-2] if len(two) > 1 else two[0]
    if inner[0] != inner[1]:
        raise DoesNotFitError(f"{shown_shape(one)} times {shown_shape(two)} does not exist: {inner[0]} is not {inner[1]}")
    if len(two) == 1:
        return one[:-1]
    batches = _batches(one[:-2], two[:-2])
    return (*batches, *one[-2:-1], two[-1])


def _batches(one: Shape, two: Shape) -> Shape:
    longer, shorter = (one, two) if len(one) >= len(two) else (two, one)
    padded = (1,) * (len(longer) - len(shorter)) + shorter
    for left, right in zip(longer, padded, strict=True):
        if left != right and 1 not in (left, right):
            raise DoesNotFitError(f"batches of {left} and {right} do not agree")
    return tuple(max(left, right) for left, right in zip(longer, padded, strict=True))


def _split(node: Product, names: Mapping[str, Value]) -> list[Shape]:
    """Split a product into shapes: × between sizes, ·, *, @ or nothing between matrices; sizes with only × go in pairs."""
    factors = _flat(node)
    explicit = [isinstance(factor, List | Sized | Space | Transposed | Grouped) for _, factor in factors]
    if any(sign in ("/", "//") for sign, _ in factors[1:]):
        raise NotUnderstoodError("a quotient is not a shape")
    if all(explicit):
        return [shape_of(factor, names) for _, factor in factors]
    if any(explicit):
        raise NotUnderstoodError("numbers and shapes are mixed")
    groups: list[list[Node]] = [[factors[0][1]]]
    for sign, factor in factors[1:]:
        if sign == "×":
            groups[-1].append(factor)
        else:
            groups.append([factor])
    if len(groups) == 1 and len(groups[0]) > 3 and len(groups[0]) % 2 == 0:
        groups = [groups[0][start : start + 2] for start in range(0, len(groups[0]), 2)]
    if any(len(group) < 2 for group in groups):
        raise NotUnderstoodError("a single number is not a shape")
    return [_sizes(tuple(group), names) for group in groups]


def _flat(node: Product) -> list[tuple[str, Node]]:
    found: list[tuple[str, Node]] = []
    for sign, factor in node.factors:
        if isinstance(factor, Product):
            inner = _flat(factor)
            found.extend([(sign, inner[0][1]), *inner[1:]])
        else:
            found.append((sign, factor))
    return found


def _only(node: Node, signs: set[str]) -> bool:
    return isinstance(node, Product) and {sign for sign, _ in node.factors[1:]} <= signs


def _sizes(items: Sequence[Node], names: Mapping[str, Value]) -> Shape:
    if not 1 <= len(items) <= MOST_SIZES:
        raise NotUnderstoodError(f"a shape has at most {MOST_SIZES} sizes")
    return tuple(_size(item, names) for item in items)


def _size(node: Node, names: Mapping[str, Value]) -> int:
    value = Evaluator(Reading(), names).value(node)
    if isinstance(value, Array) or not value.whole or not 1 <= value.low <= LARGEST_SIZE:
        raise NotUnderstoodError("a size is not a whole number")
    return int(value.low)
