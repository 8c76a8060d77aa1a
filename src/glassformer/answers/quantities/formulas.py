"""Quantities of a formula with given shapes: `shape(Q K^T, Q=5 x 64, K=7 x 64)`; no model is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

from glassformer.answers.quantities.answer import Found, Line, Other, Shape, found, mistaken
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.tree import List, Name, Node, Product, Quantity, Transposed

OF_FORMULAS = ("shape", "elements", "flops", "macs")


def is_of_formula(quantity: Quantity) -> bool:
    """Return whether a quantity is that of a formula with given shapes: it needs no model."""
    return quantity.name in OF_FORMULAS and any(symbolic_shape(node) is not None for _, node in quantity.options)


def formula_quantity(quantity: Quantity) -> Found | None:
    """Return the value of a quantity of a formula; None if it is a quantity of a model."""
    if quantity.name not in OF_FORMULAS or len(quantity.arguments) != 1 or quantity.model:
        return None
    formula = quantity.arguments[0]
    given = {name: sizes for name, node in quantity.options if (sizes := symbolic_shape(node)) is not None}
    named = formula.inner if isinstance(formula, Transposed) else formula
    if isinstance(named, Name) and named.text not in given:  # a tensor of a model
        return None
    if len(given) < len(quantity.options):
        raise GlassformerError(f"{shown(plain(quantity))}: give the shape of each matrix, as in Q=5 x 64.")
    from glassformer.algebra.formulas import products_of, shapes_of

    if quantity.name in ("flops", "macs"):
        macs = products_of(formula, given)
        return _operations(quantity.name, macs, plain(formula))
    sizes = shapes_of(formula, given)
    line = Line(plain(formula), "", " × ".join(map(str, sizes)), sizes)
    if quantity.name == "shape":
        wrongs = partial(_mistaken_shapes, sizes, given)
        return found(sizes, "shape", "from the given shapes", [line], [], wrongs)
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) < len(sizes):
        raise GlassformerError(f"{shown(plain(quantity))}: give every size as a number.")
    return found(math.prod(numbers), "elements", "from the given shapes", [line])


def _mistaken_shapes(sizes: Shape, given: Mapping[str, Shape]) -> Iterator[Other]:
    """Yield the transpose of the result, and the sizes that the products sum over."""
    if len(sizes) != 2:
        return
    if sizes[0] != sizes[1]:
        yield mistaken("rows_columns_swapped", "rows and columns of the result swapped", sizes[::-1])
    for size in dict.fromkeys(size for shape in given.values() for size in shape if size not in sizes):
        yield mistaken("rows_columns_swapped", "the inner sizes given instead of the outer ones", (size, size))


def _operations(name: str, macs: int, text: str) -> Found:
    flops = name == "flops"
    value = 2 * macs if flops else macs
    other = Other(
        "multiply-adds" if flops else "FLOPs, a multiply-add counted as two", macs if flops else 2 * macs, code="macs_vs_flops"
    )
    line = Line(text, "", "", value)
    unit = "FLOPs" if flops else "multiply-adds"
    said = "matrix products, a multiply-add counted as two" if flops else "matrix products"
    wrong = mistaken("macs_vs_flops", other.convention, other.value)
    return found(value, unit, said, [line], [other], lambda: [wrong])


def symbolic_shape(node: Node) -> Shape | None:
    """Return the sizes of `5 x 64`, `[5, 64]`, `d/S x n`, in numbers or symbols; None if the node is not a shape."""
    from glassformer.algebra.formulas.given import sizes_of

    if not isinstance(node, Product | List):
        return None
    try:
        return tuple(str(size) if size.number is None else size.number for size in sizes_of(node, plain(node)))
    except NotUnderstoodError:
        return None
