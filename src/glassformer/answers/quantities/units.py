"""Units: what a value counts, the factor of a unit, and errors for mixed kinds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from glassformer.errors import GlassformerError, shown
from glassformer.expressions.evaluate import unit_factor
from glassformer.expressions.plain import plain
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import Converted, Grouped, Measured, Name, Negative, Node, Quantity, Sum
from glassformer.expressions.vocabulary import COUNTED

WORDS = {"params": "parameters", "weights": "parameters", "flops": "FLOPs", "macs": "multiply-adds", "MACs": "multiply-adds"}
KINDS = {"parameters": "parameters", "bytes": "bytes", "FLOPs": "operations", "multiply-adds": "operations"}
SCALES = {"K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}

UnitOf = Callable[[Node], str]  # the unit of a quantity or a name


def unit(node: Node, of_leaf: UnitOf) -> str:
    """Return the unit of an expression: that of the terms for a sum, none for a product or a quotient."""
    match node:
        case Quantity() | Name():
            return of_leaf(node)
        case Measured(_, word):
            return kind_of_unit(word)
        case Negative(inner) | Grouped(inner) | Converted(inner, _):
            return unit(inner, of_leaf)
        case Sum(terms):
            units = dict.fromkeys(word for _, term in terms if (word := unit(term, of_leaf)) in KINDS)
            if len({KINDS[word] for word in units}) > 1:
                one, other = list(units)[:2]
                raise GlassformerError(f"'{shown(plain(node))}' adds {one} and {other}, which are different quantities.")
            return next(iter(units), "")
        case _:
            return ""


def kind_of_unit(word: str) -> str:
    """Return what a written unit counts: `MB` counts bytes, `GFLOPs` FLOPs."""
    if word in COUNTED:
        return WORDS.get(word, word)
    return "FLOPs" if "FLOP" in word else "multiply-adds" if "MAC" in word else "" if word in SCALES or word == "%" else "bytes"


def require_same_kind(left: tuple[Node, str], right: tuple[Node, str]) -> None:
    """Raise an error if the two sides count different things, such as bytes and parameters."""
    kinds = [KINDS.get(word, "") for _, word in (left, right)]
    if all(kinds) and kinds[0] != kinds[1]:
        texts = [f"{shown(plain(node))} ({word})" for node, word in (left, right)]
        raise GlassformerError(f"{texts[0]} and {texts[1]} count different things and cannot be compared.")


def worth(word: str, node: Node, has: str) -> Fraction:
    """Return the factor of a unit; an error if the value counts something else."""
    kind = kind_of_unit(word)
    if kind and has in KINDS and KINDS[kind] != KINDS[has]:
        raise GlassformerError(f"'{shown(plain(node))}' counts {has}, so it cannot be converted to {word}.")
    if word == "%":
        return Fraction(1, 100)
    if word == "bytes":
        return Fraction(1)
    return Fraction(SCALES[word]) if word in SCALES else unit_factor(word, Reading())
