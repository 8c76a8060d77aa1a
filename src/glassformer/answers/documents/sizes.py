"""Equations between shapes of matrices: products that fit, products that do not, and element-wise sums."""

from __future__ import annotations

from glassformer.answers.documents.memory import Memory
from glassformer.answers.documents.outcome import Outcome, of_sizes, unclear
from glassformer.answers.documents.sides import Side
from glassformer.expressions import NotUnderstoodError
from glassformer.expressions.shapes import DoesNotFitError, cell_by_cell, multiplied, shape_of, shapes_in, shown_shape
from glassformer.expressions.tree import Grouped, List, Node, Product, Sized, Space, Sum, Transposed, ungrouped, walk

Shape = tuple[int, ...]


def compare_sizes(left: Side, right: Side, sign: str, memory: Memory) -> Outcome | None:
    """Compare the two sides as shapes of matrices; None if they are not shapes."""
    one, two = left.tree, right.tree
    if one is None or two is None:
        return None
    safe = left.run.safe_before and right.run.safe_after
    try:
        if (same := _cell_by_cell(one, two, memory)) is not None:
            return same
        factors, claimed = shapes_in(one, memory.values()), shapes_in(two, memory.values())
        due, claim = multiplied(factors), multiplied(claimed)
    except DoesNotFitError as misfit:
        surely = sign == "→" and safe and _explicit(one) and _explicit(two)
        return of_sizes("wrong", "", f"{misfit}.") if surely else None
    except NotUnderstoodError:
        return None
    if due == claim:
        return of_sizes("right", shown_shape(due), f"The shapes fit: {shown_shape(due)}.")
    if len(factors) < 2:  # the product may be on the right side
        factors, due, claim = claimed, claim, due
    if len(factors) < 2 or not _is_about_sizes(one, two, sign, due, claim):
        return None
    if not safe:
        return unclear("words or signs around it may belong to it", kind="shape")
    return of_sizes("wrong", shown_shape(due), f"The shape should be {shown_shape(due)}.")


def _cell_by_cell(one: Node, two: Node, memory: Memory) -> Outcome | None:
    """Compare the shapes of a sum or of an element-wise product: `[5, 64] + [64] = [5, 64]`; None if they are not shapes."""
    one = ungrouped(one)
    items = one.terms if isinstance(one, Sum) else one.factors if isinstance(one, Product) else ()
    parts = [part for _, part in items]
    if not (parts and _explicit(two) and all(isinstance(ungrouped(part), List | Sized | Space) for part in parts)):
        return None
    try:
        due = cell_by_cell([shape_of(part, memory.values()) for part in parts])
        claim = multiplied(shapes_in(two, memory.values()))
    except NotUnderstoodError:
        return None
    return of_sizes("right", shown_shape(due), f"The shapes fit element-wise: {shown_shape(due)}.") if due == claim else None


def _is_about_sizes(one: Node, two: Node, sign: str, due: Shape, claim: Shape) -> bool:
    """Return whether shapes are meant without doubt: an arrow between lists, spaces ℝ, or sizes below matrices."""
    if any(isinstance(node, Space | Sized) for tree in (one, two) for node in walk(tree)):
        return True
    if not (_explicit(one) and _explicit(two)):
        return False
    return sign == "→" or (len(due) == len(claim) and sum(a != b for a, b in zip(due, claim, strict=True)) == 1)


def _explicit(node: Node) -> bool:
    """Return whether a node is a list of sizes, or a product of such lists."""
    match node:
        case Product(factors):
            return all(_explicit(factor) for _, factor in factors)
        case Transposed(inner) | Grouped(inner):
            return _explicit(inner)
        case List(items):
            return len(items) >= 2
        case _:
            return isinstance(node, Sized | Space)
