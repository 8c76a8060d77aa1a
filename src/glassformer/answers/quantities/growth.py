"""`growth` and `solve`: how an expression grows with a size, and the size at which a relation holds, by exact polynomials."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Protocol

from glassformer.answers.quantities.answer import Found, Line, Other, found, mistaken, simple
from glassformer.answers.quantities.context import FIELDS, LENGTHS
from glassformer.answers.quantities.polynomials import HIGHEST, Polynomial, fitted, value_at, whole_root, written
from glassformer.answers.quantities.sizes import SHORT
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.expressions.arrays import Array
from glassformer.expressions.exact import Real
from glassformer.expressions.language import write
from glassformer.expressions.plain import plain
from glassformer.expressions.precision import Figure
from glassformer.expressions.precision import written as written_figure
from glassformer.expressions.tree import Name, Node, Quantity, Relation, walk

POINTS = HIGHEST + 3  # two more than the fit needs; they verify it
TRIES = 400
TWICE = 2


class Evaluates(Protocol):
    """Evaluates expressions for one spec, and for the same spec with one size changed."""

    request: Request | None

    def leaf(self, node: Node) -> Found: ...
    def number(self, node: Node) -> Real | Array: ...
    def varied(self, name: str, value: int) -> Evaluates: ...


def growth(quantity: Quantity, evaluation: Evaluates) -> Found:
    """Evaluate `growth(flops(attention), t)`: the exponent of the growth, and the dominant term."""
    if len(quantity.arguments) != TWICE:
        raise GlassformerError(f"{shown(write(quantity))}: write an expression and a size, as in growth(flops(attention), t).")
    expression, size = quantity.arguments
    name = _size(quantity, size)
    polynomial = _polynomial(quantity, name, lambda x: _number(expression, name, x, evaluation))
    degree = len(polynomial) - 1
    text = written(polynomial, name)
    line = Line("exponent", f"highest power of {name} in {text}", "", degree)
    dominant = written((Fraction(0),) * degree + polynomial[-1:], name) if degree else text
    convention = f"the exponent of {name}, everything else as given; dominant term {dominant}"

    def mistakes() -> Iterator[Other]:
        if name == "t" and degree == TWICE:
            yield mistaken("linear_instead_of_quadratic", "the length not squared", 1)
        counted = evaluation.leaf(expression).unit if isinstance(expression, Name | Quantity) else ""
        if name in LENGTHS and degree == 0 and counted == "parameters":
            yield mistaken("parameters_grow_with_length", f"as many weights as {name}", 1)

    return found(degree, "", convention, [line], _doubling(polynomial, name, evaluation), mistakes)


def _doubling(polynomial: Polynomial, name: str, evaluation: Evaluates) -> list[Other]:
    """Return the factor by which doubling the given size multiplies the value."""
    now = evaluation.leaf(Name(name)).value if evaluation.request is not None else None
    if not isinstance(now, int) or not value_at(polynomial, now):
        return []
    factor = value_at(polynomial, TWICE * now) / value_at(polynomial, now)
    return [Other(f"the factor from {name}={now} to {name}={TWICE * now}", simple(factor), excuses=False)]


def solve(quantity: Quantity, evaluation: Evaluates) -> Found:
    """Evaluate `solve(classes, params = 86,041,344)`: the whole number for which the relation holds exactly."""
    match quantity.arguments:
        case (size, Relation((left, right), (("=" | "≈") as sign,))):
            name = _size(quantity, size)
        case _:
            raise GlassformerError(
                f"{shown(write(quantity))}: write a size and an equation, as in solve(layers, params = 109,482,240)."
            )

    def gap(x: int) -> Fraction:
        return _number(left, name, x, evaluation) - _number(right, name, x, evaluation)

    polynomial = _polynomial(quantity, name, gap)
    text = f"{written(polynomial, name)} = 0"
    root, before = whole_root(polynomial)
    if len(polynomial) == 1:
        verdict = "holds for every" if not polynomial[0] else "holds for no"
        raise GlassformerError(f"{shown(write(quantity))}: the equation {verdict} {name}, since neither side depends on it.")
    if root is None and before and (sign == "≈" or _rounded(right)):
        nearest_one = min((before, before + 1), key=lambda x: abs(value_at(polynomial, x)))
        left_value = value_at(polynomial, nearest_one) + _number(right, name, 1, evaluation) if not _names(right) else None
        gives = f", which gives {simple(left_value):,}" if left_value is not None else ""
        said = f"the nearest whole {name}{gives}, everything else as given"
        return found(nearest_one, "", said, [Line(name, f"near the root of {text}", "", nearest_one)])
    if root is None:
        near = f" The two sides cross between {name}={before} and {name}={before + 1}." if before else ""
        raise GlassformerError(f"{shown(write(quantity))}: no whole value of {name} makes both sides equal.{near}")
    return found(
        root,
        "",
        f"the {name} for which both sides are equal, everything else as given",
        [Line(name, f"root of {text}", "", root)],
    )


def _rounded(node: Node) -> bool:
    """Return whether a side is a rounded number, such as 85M."""
    figure = written_figure(node)
    return isinstance(figure, Figure) and (figure.rounded or figure.unit < 1)


def _names(node: Node) -> bool:
    return any(isinstance(leaf, Name | Quantity) for leaf in walk(node))


def _size(quantity: Quantity, node: Node) -> str:
    name = SHORT.get(node.text, node.text) if isinstance(node, Name) else plain(node)
    known = [*LENGTHS, *FIELDS]
    if name not in known:
        raise GlassformerError(f"{shown(write(quantity))}: '{shown(name)}' is not a size that can vary.{nearest(name, known)}")
    return name


def _polynomial(quantity: Quantity, name: str, value: Callable[[int], Fraction]) -> Polynomial:
    """Return the polynomial in the size; values that the spec does not allow are skipped."""
    points: list[tuple[int, Fraction]] = []
    refused = ""
    for x in range(1, TRIES):
        try:
            points.append((x, value(x)))
        except GlassformerError as error:
            refused = str(error)
        if len(points) == POINTS:
            break
    else:
        raise GlassformerError(f"{shown(write(quantity))}: too few values of {name} are valid here. {refused}")
    polynomial = fitted(points)
    if polynomial is None:
        raise GlassformerError(f"{shown(write(quantity))}: this is not a polynomial in {name}, so it cannot be computed.")
    return polynomial


def _number(node: Node, name: str, x: int, evaluation: Evaluates) -> Fraction:
    value = evaluation.varied(name, x).number(node)
    if not isinstance(value, Real) or not value.exact:
        raise GlassformerError(f"'{shown(plain(node))}' is not an exact number.")
    return value.low
