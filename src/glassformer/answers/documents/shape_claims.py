"""Equalities between sizes of matrices: products that fit, products that do not, sums taken cell by cell."""

from __future__ import annotations

from glassformer.answers.documents.memory import Memory
from glassformer.answers.documents.outcome import Outcome
from glassformer.answers.documents.sides import Side
from glassformer.answers.expressions import NotUnderstoodError
from glassformer.answers.expressions.shapes import (
    DoesNotFitError,
    Shape,
    cell_by_cell,
    multiplied,
    shape_of,
    shapes_in,
    shown_shape,
)
from glassformer.answers.expressions.tree import Grouped, List, Node, Product, Sized, Space, Sum, Transposed, ungrouped, walk


def compare_shapes(left: Side, right: Side, sign: str, memory: Memory) -> Outcome | None:
    """The two sides as sizes of matrices; None where they are none."""
    one, two = left.usual, right.usual
    if one is None or two is None:
        return None
    if (same := _cell_by_cell(one.tree, two.tree, memory)) is not None:
        return same
    try:
        factors, claimed = shapes_in(one.tree, memory.values()), shapes_in(two.tree, memory.values())
        due = multiplied(factors)
        claim = multiplied(claimed)
    except DoesNotFitError as misfit:
        return _misfit(one.tree, two.tree, sign, str(misfit)) if left.run.safe_before and right.run.safe_after else None
    except NotUnderstoodError:
        return None
    if due == claim:
        return Outcome("right", "shape", due=shown_shape(due))
    if len(factors) < 2:  # the product may stand to the right of the shape that it is said to have
        factors, due, claim = claimed, claim, due
    if len(factors) < 2 or not _is_about_shapes(one.tree, two.tree, sign, due, claim):
        return None
    if not (left.run.safe_before and right.run.safe_after):
        return Outcome("unclear", "shape", note="words or signs around it may belong to it")
    return Outcome("wrong", "shape", due=shown_shape(due))


def _cell_by_cell(one: Node, two: Node, memory: Memory) -> Outcome | None:
    """`[5, 64] + [64] = [5, 64]`: sizes of a sum, or of a product taken cell by cell; None where they are not."""
    one = ungrouped(one)
    parts = (
        [part for _, part in one.terms]
        if isinstance(one, Sum)
        else [part for _, part in one.factors]
        if isinstance(one, Product)
        else []
    )
    if not (parts and _explicit(two) and all(isinstance(ungrouped(part), List | Sized | Space) for part in parts)):
        return None
    try:
        due = cell_by_cell([shape_of(part, memory.values()) for part in parts])
        claim = multiplied(shapes_in(two, memory.values()))
    except NotUnderstoodError:
        return None
    return Outcome("right", "shape", due=shown_shape(due), note="cell by cell") if due == claim else None


def _misfit(one: Node, two: Node, sign: str, message: str) -> Outcome | None:
    return Outcome("wrong", "shape", note=message) if sign == "→" and _explicit(one) and _explicit(two) else None


def _is_about_shapes(one: Node, two: Node, sign: str, due: Shape, claim: Shape) -> bool:
    """Whether sizes are meant beyond doubt: an arrow between lists, spaces, or sizes at the foot of matrices."""
    if any(isinstance(node, Space | Sized) for tree in (one, two) for node in walk(tree)):
        return True
    if not (_explicit(one) and _explicit(two)):
        return False
    return sign == "→" or (len(due) == len(claim) and sum(a != b for a, b in zip(due, claim, strict=True)) == 1)


def _explicit(node: Node) -> bool:
    """Lists of sizes, alone or multiplied."""
    if isinstance(node, Product):
        return all(_explicit(factor) for _, factor in node.factors)
    if isinstance(node, Transposed | Grouped):
        return _explicit(node.inner)
    return isinstance(node, List | Sized | Space) and (not isinstance(node, List) or len(node.items) >= 2)
