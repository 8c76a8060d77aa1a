"""A tree written out again in one plain notation: × for products, √ for roots, brackets where they are needed."""

from __future__ import annotations

from glassformer.answers.expressions.tree import (
    Call,
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
    Root,
    Sized,
    Space,
    Sum,
    Transposed,
)

CLOSING = {"(": ")", "[": "]", "⟨": "⟩"}


def plain(node: Node) -> str:
    """The expression as text."""
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
            return f"{'√' if degree == 2 else f'{degree}√'}{_within(inner, Sum, Product, Power, Negative)}"
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
            return "…"


def _product(factors: tuple[tuple[str, Node], ...]) -> str:
    text = _within(factors[0][1], Sum)
    for sign, factor in factors[1:]:
        text += f" {sign or '·'} {_within(factor, Sum, Negative, *([Product] if sign in ('/', '//') else []))}"
    return text


def _within(node: Node, *loose: type) -> str:
    """In brackets where it would otherwise be read differently."""
    return f"({plain(node)})" if isinstance(node, loose) else plain(node)
