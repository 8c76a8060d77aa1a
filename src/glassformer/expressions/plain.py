"""Writes a tree in one plain notation: × for products, √ for roots, brackets where needed."""

from __future__ import annotations

from glassformer.expressions.tree import (
    Call,
    Converted,
    Grid,
    Grouped,
    List,
    Measured,
    Name,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Relation,
    Root,
    Sized,
    Space,
    Sum,
    Transposed,
)

CLOSING = {"(": ")", "[": "]", "⟨": "⟩", "": ""}


def plain(node: Node) -> str:
    """Return an expression as text."""
    match node:
        case Number(numeral):
            return numeral.text.replace("{,}", ",")
        case Name(text):
            return text
        case Sum(terms):
            first, *rest = terms
            return plain(first[1]) + "".join(f" {sign} {_within(term, Sum, Negative)}" for sign, term in rest)
        case Product(factors):
            return _product(factors)
        case Power(base, exponent):
            return f"{_within(base, Sum, Product, Negative, Power)}^{_within(exponent, Sum, Product, Power)}"
        case Call("item", (whole, *places)):
            return f"{plain(whole)}[{', '.join(map(plain, places))}]"
        case Call(function, arguments, base):
            return f"{function}{base or ''}({', '.join(map(plain, arguments))})"
        case List(items, bracket):
            return f"{bracket}{', '.join(map(plain, items))}{CLOSING[bracket]}"
        case Grid(rows):
            return "[" + ", ".join("[" + ", ".join(map(plain, row)) + "]" for row in rows) + "]"
        case _:
            return _marked(node)


def _marked(node: Node) -> str:
    match node:
        case Negative(inner):
            return f"-{_within(inner, Sum, Negative)}"
        case Root(inner, degree):
            return f"{'√' if degree == 2 else f'{degree}√'}{_within(inner, Sum, Product, Power, Negative, List, Grid)}"
        case Grouped(inner):
            return f"({plain(inner)})"
        case Percent(inner):
            return f"{plain(inner)}%"
        case Measured(inner, unit):
            return f"{plain(inner)} {unit}"
        case Transposed(inner):
            return f"{_within(inner, Sum, Product, Negative)}ᵀ"
        case Sized(_, size):
            return plain(size)
        case Space(sizes):
            return f"ℝ^({plain(sizes)})"
        case _:
            return _related(node)


def _related(node: Node) -> str:
    match node:
        case Quantity(name, arguments, options, model):
            inside = ", ".join((*map(plain, arguments), *(f"{key}={plain(value)}" for key, value in options)))
            return name + (f"({inside})" if inside else "") + (f" @ {model}" if model else "")
        case Converted(inner, unit):
            return f"{plain(inner)} in {unit}"
        case Relation(sides, signs):
            return plain(sides[0]) + "".join(f" {sign} {plain(side)}" for sign, side in zip(signs, sides[1:], strict=True))
        case _:
            return "…"


def _product(factors: tuple[tuple[str, Node], ...]) -> str:
    text = _within(factors[0][1], Sum)
    for sign, factor in factors[1:]:
        text += f" {sign or '·'} {_within(factor, Sum, Negative, Product)}"
    return text


def _within(node: Node, *loose: type) -> str:
    """Return a node as text, in brackets if it would otherwise be parsed differently."""
    return f"({plain(node)})" if isinstance(node, loose) else plain(node)
