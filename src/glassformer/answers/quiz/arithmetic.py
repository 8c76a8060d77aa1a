"""Expressions with the drawn parameters of a question: `params(ffn) - d`, `{d / h}`, `mod(d, h) = 0`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer.answers.quantities import Answer, ask
from glassformer.answers.quantities.answer import divided
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError, shown
from glassformer.expressions import Array, Real
from glassformer.expressions.language import read
from glassformer.expressions.tree import Call, Name, Node, Product, Quantity, Relation, Sum, names_in, rebuilt

LARGEST = 10**40
OF_PARTS = ("params", "flops", "macs", "bytes", "shape", "elements", "count")  # a name in their parentheses is a part or a tensor
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "≠": operator.ne, "<": operator.lt, ">": operator.gt, "≤": operator.le, "≥": operator.ge,
}  # fmt: skip


def worked_out(text: str, drawn: Mapping[str, Any], model: Request | None, field: str) -> Answer:
    """Evaluate an expression with drawn parameters, whose names stand for their values."""
    try:
        found = ask(put_in(_tree(text), drawn), model)
    except GlassformerError as error:
        raise GlassformerError(f"{field} = '{shown(text)}': {error}") from None
    if not isinstance(found, Answer) or not isinstance(found.exact, int | Fraction | Real | Array | tuple):
        raise GlassformerError(f"{field} = '{shown(text)}' is not a single number, shape or vector: ask for one value.")
    return found


def put_in(node: Node, drawn: Mapping[str, Any]) -> Node:
    """Return the tree with drawn values substituted for names; in `shape(q)`, `q` is always a tensor."""
    match node:
        case Name(text):
            return read(as_text(drawn[text])) if isinstance(drawn.get(text), int | float | Fraction | list) else node
        case Quantity("mod", (number, divisor), ()):  # the remainder, as in spreadsheets
            whole = Call("floor", (Product((("", number), ("/", divisor))),))
            return put_in(Sum((("+", number), ("-", Product((("", divisor), ("*", whole)))))), drawn)
        case Quantity(name, arguments, options, model) if name in OF_PARTS:
            own = tuple(one if isinstance(one, Name) else put_in(one, drawn) for one in arguments)
            return Quantity(name, own, tuple((key, put_in(value, drawn)) for key, value in options), model)
        case _:
            return rebuilt(node, lambda inner: put_in(inner, drawn))


def plain(value: Any, scale: tuple[str, Fraction] | None = None) -> Any:
    """Return a value in the requested unit: a whole or rational number, sizes, or floats."""
    value = divided(value, scale[1]) if scale else value
    if isinstance(value, Array):
        return np.array([float(cell.middle) for cell in value.cells]).reshape(value.shape)
    return value.middle if isinstance(value, Real) else value


def number_of(text: str, drawn: Mapping[str, Any]) -> Fraction:
    """Return the exact value of an expression: 16 for `d / h` with d = 64 and h = 4."""
    found = plain(worked_out(text, drawn, None, "expression").exact)
    if not isinstance(found, int | Fraction) or abs(Fraction(found)) > LARGEST:
        raise GlassformerError(f"'{shown(text)}' is not a number that can be inserted: write an expression such as d / h.")
    return Fraction(found)


def comparisons(condition: str) -> list[Relation]:
    """Return the parts of a condition such as `mod(d, h) = 0 and d > h`."""
    found = [_tree(part) for part in condition.split(" and ")]
    relations = [tree for tree in found if isinstance(tree, Relation) and all(sign in COMPARED for sign in tree.signs)]
    if len(relations) != len(found):
        raise GlassformerError(f"where = '{shown(condition)}' is not a comparison: write one such as mod(d, h) = 0 or d > h.")
    return relations


def holds(condition: str, drawn: Mapping[str, Any]) -> bool:
    """Return whether every comparison of a condition holds."""
    for tree in comparisons(condition):
        sides = [plain(ask(put_in(side, drawn)).exact) for side in tree.sides]  # type: ignore[union-attr]
        if not all(COMPARED[sign](one, two) for sign, one, two in zip(tree.signs, sides, sides[1:], strict=False)):
            return False
    return True


def names_used(text: str) -> set[str]:
    """Return the parameters that an expression names."""
    return set(names_in(_tree(text)))


def as_text(value: Any) -> str:
    """Return a drawn value as text."""
    return f"[{', '.join(as_text(item) for item in value)}]" if isinstance(value, list) else str(value)


@lru_cache(maxsize=512)
def _tree(text: str) -> Node:
    try:
        return read(text)
    except GlassformerError as error:
        remainder = " The remainder is written mod(d, h), as in spreadsheets." if "%" in text else ""
        raise GlassformerError(f"'{shown(text)}' is not understood: {error}{remainder}") from None
