"""Slips in arithmetic: an expression evaluated with one operation done wrongly, compared with the written number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from glassformer.answers.mistakes.slips import Slip, list_slips, pen_slips
from glassformer.expressions.arrays import Array, Value
from glassformer.expressions.evaluate import Evaluator
from glassformer.expressions.exact import Real, exactly, fixed
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.numerals import read
from glassformer.expressions.plain import plain
from glassformer.expressions.precision import Figure, Figures, Written, agrees, shown_value
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import (
    Call,
    Grid,
    Grouped,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Root,
    Sum,
    children,
    rebuilt,
    ungrouped,
    walk,
)

MOST_REWRITES = 80
MOST_STEPS = 4_000  # for all rewrites together: a long expression gets fewer
TELLING = 100  # three digits
Rewrite = tuple[str, str, Node]
VARIANCE, HALF = "layernorm_variance", "layernorm_half_done"
OF_NORMS = {
    "layernorm": (
        (VARIANCE, "The sum of squares was divided by n − 1; LayerNorm divides by n.", "layernorm over n - 1"),
        (VARIANCE, "Divided by the variance; LayerNorm divides by its square root.", "layernorm by variance"),
        (HALF, "The mean was subtracted, but the result was not divided by the standard deviation.", "centred"),
        (HALF, "Divided by the standard deviation, but the mean was not subtracted.", "uncentred"),
        ("rmsnorm_for_layernorm", "Divided by the root of the mean square, as RMSNorm does.", "rmsnorm"),
    ),
    "rmsnorm": (
        ("layernorm_for_rmsnorm", "The mean was subtracted, as LayerNorm does.", "layernorm"),
        (
            "mean_of_squares_forgotten",
            "Divided by the root of the sum of squares: it was not divided by n.",
            "unit length",
        ),
    ),
}
# Functions that are taken for each other.
ALIKE = (
    ("ln", "log2", "log10"), ("sin", "cos", "tan"), ("gelu", "silu", "relu", "tanh", "sigmoid", "abs"), ("floor", "ceil"),
    ("min", "max"), ("mean", "sum"), ("var", "std"),
)  # fmt: skip


def slips(
    tree: Node, value: Value, claim: Written, names: Mapping[str, Value], reading: Reading | None = None
) -> tuple[Slip, ...]:
    """Return the slips that lead from this expression to the written number, simplest first."""
    if isinstance(value, Real) and isinstance(claim, Figure):
        found = pen_slips(value, claim)
    else:
        found = _in_list(value, claim)
    if found and found[0].code != "digit_wrong":
        return tuple(found)
    # One wrong digit is the weakest explanation: an arithmetic slip that gives exactly this number comes first.
    return (*_method_slips(tree, value, claim, names, reading or Reading()), *found)


def _in_list(value: Value, claim: Written) -> list[Slip]:
    """Return the slip in a list: in its only wrong number, or the same slip in all wrong numbers."""
    if not (isinstance(value, Array) and isinstance(claim, Figures) and len(value.cells) == len(claim.cells)):
        return []
    pairs = enumerate(zip(value.cells, claim.cells, strict=True))
    wrong = [place for place, (cell, figure) in pairs if agrees(cell, figure, loosely=True) is None]
    columns = claim.columns

    def place(number: int) -> str:
        return f"row {number // columns + 1}, number {number % columns + 1}" if columns else f"number {number + 1}"

    return list_slips(value.cells, claim.cells, wrong, place)


def _method_slips(tree: Node, value: Value, claim: Written, names: Mapping[str, Value], reading: Reading) -> Iterator[Slip]:
    """Yield slips at the top of the expression; also inside it, if a chance match is ruled out.

    It is by three digits, or if the slip turns an irrational number into exactly the written decimal.
    """
    figures = claim.cells if isinstance(claim, Figures) else (claim,)
    telling = all(abs(figure.value / figure.unit) >= TELLING for figure in figures)
    irrational = isinstance(value, Real) and not value.exact and figures[0].unit < 1
    most = min(MOST_REWRITES, MOST_STEPS // sum(1 for _ in walk(tree)))
    at_the_top = list(islice(_here(tree), most))
    decimal = isinstance(claim, Figure) and claim.unit < 1
    inside = islice(_everywhere(tree), len(at_the_top), most) if telling or irrational or decimal else ()
    seen: dict[str, list[Slip]] = {}
    for place, (code, sentence, changed) in enumerate((*at_the_top, *inside)):
        result = _worked(Evaluator(reading, names), changed)
        if result is None or result == value or not _is(result, claim):
            continue
        exact = agrees(result, claim, loosely=False) == "exact"
        unlikely = irrational or code == "root_forgotten"  # by chance: a score divided by d_k is the most usual slip
        if telling or place < len(at_the_top) or (exact and unlikely):
            seen.setdefault(code, []).append(Slip(code, sentence, shown_value(result, claim), exact))
    for alike in seen.values():
        ways = list(dict.fromkeys(slip.what for slip in alike if slip.predicted == alike[0].predicted))
        yield replace(alike[0], sentence=f"{alike[0].sentence.rstrip('.')}{''.join(f', or {way}' for way in ways[1:3])}.")
    if not seen:
        yield from _rounded_early(tree, claim, names, reading)


def _rounded_early(tree: Node, claim: Written, names: Mapping[str, Value], reading: Reading) -> Iterator[Slip]:
    for places, word in ((3, "3 decimals"), (2, "2 decimals"), (1, "1 decimal"), (4, "4 decimals"), (0, "whole numbers")):

        def one(number: Real, places: int = places) -> Real:
            return exactly(Fraction(fixed(number.middle, places).replace(",", "")))

        def rounded(value: Value, one: Callable[[Real], Real] = one) -> Value:
            return value.each(one) if isinstance(value, Array) else one(value)

        result = _worked(Evaluator(reading, names, between=rounded), tree)
        if result is not None and _is(result, claim):
            yield Slip(
                "rounded_early",
                f"Intermediate results were rounded to {word}; round only at the end.",
                shown_value(result, claim),
            )
            return


def _is(result: Value, claim: Written) -> bool:
    return agrees(result, claim, loosely=False) in ("exact", "rounded")


def _worked(evaluator: Evaluator, tree: Node) -> Value | None:
    try:
        return evaluator.value(tree)
    except NotUnderstoodError:
        return None


def _everywhere(node: Node) -> Iterator[Rewrite]:
    """Yield one change at the top, or in one of the parts."""
    yield from _here(node)
    yield from _throughout(node)
    for part in children(node) if not isinstance(node, Grid) else ():
        for code, sentence, changed in _everywhere(part):
            yield code, sentence, rebuilt(node, lambda one, old=part, new=changed: new if one is old else one)  # type: ignore[misc]


def _throughout(node: Node) -> Iterator[Rewrite]:
    """Yield one function replaced in all places, if there are several."""
    called = [part.function for part in walk(node) if isinstance(part, Call)]
    for function in dict.fromkeys(called):
        for other in next((names for names in ALIKE if function in names), ()):
            if other != function and called.count(function) > 1:
                yield "function_replaced", f"{other} was used instead of {function}.", _replaced(node, function, other)


def _replaced(node: Node, function: str, other: str) -> Node:
    node = rebuilt(node, lambda part: _replaced(part, function, other))
    return replace(node, function=other) if isinstance(node, Call) and node.function == function else node


def _here(node: Node) -> Iterator[Rewrite]:
    match node:
        case Negative(inner) | Grouped(inner):
            for code, sentence, changed in _here(inner):
                yield code, sentence, rebuilt(node, lambda _, new=changed: new)  # type: ignore[misc]
        case Product(factors):
            yield from _product(factors)
        case Sum(terms):
            yield from _sum(terms)
        case Power(base, exponent):
            yield "power_as_product", "The base was multiplied by the exponent.", Product((("", base), ("×", exponent)))
            yield "power_forgotten", "The exponent was left out.", base
        case Root(inner):
            yield "root_forgotten", "The root was left out.", inner
        case Call():
            yield from _call(node)


def _call(call: Call) -> Iterator[Rewrite]:
    match call:
        case Call("exp", (inner,)):
            yield "exp_forgotten", "The exponential was left out.", inner
            for base in (2, 10):
                power = Power(Number(read(str(base))), inner)
                yield "function_replaced", f"{base} was used as the base instead of e.", power
        case Call("softmax", arguments):
            yield "softmax_not_normalised", "The exponentials were not divided by their sum.", Call("exp", arguments)
            yield (
                "exp_forgotten",
                "The exponential was left out: the scores were divided by their sum.",
                Call("shares", arguments),
            )
            yield "function_replaced", "The sigmoid of each score was taken instead of the softmax.", Call("sigmoid", arguments)
            yield "hard_or_uniform_attention", "All weight was put on the largest score.", Call("largest alone", arguments)
            yield "hard_or_uniform_attention", "Equal weights were given to all scores.", Call("equal shares", arguments)
            match arguments:
                case (Product((*above, ("/", divisor))),) if above:
                    after = Product((("", Call("softmax", (_product_of(above),))), ("/", divisor)))
                    yield "scaled_after_softmax", f"Divided by {plain(divisor)} after the softmax.", after
        case Call("layernorm" | "rmsnorm" as norm, arguments):
            for code, what, function in OF_NORMS[norm]:
                yield code, what, Call(function, arguments)
        case Call("sin" | "cos" | "tan" as function, (inner,)):
            turn = Product((("", inner), ("×", Name("π")), ("/", Number(read("180")))))
            yield "degrees_for_radians", "The angle was taken in degrees.", Call(function, (turn,))
            yield from _similar(call)
        case Call():
            yield from _similar(call)


def _similar(call: Call) -> Iterator[Rewrite]:
    match call:
        case Call(function, arguments, base):
            called = "ln" if function == "log" and base is None else function
            for other in next((names for names in ALIKE if called in names), ()):
                if other != called:
                    yield "function_replaced", f"{other} was used instead of {called}.", Call(other, arguments)


def _harmonic(factors: Sequence[tuple[str, Node]]) -> Iterator[Rewrite]:
    """Yield the arithmetic mean for 2 P R / (P + R), the harmonic mean of precision and recall."""
    match ungrouped(factors[-1][1]):
        case Sum((("+", one), ("+", two))) if factors[-1][0] == "/" and {one, two} < {factor for _, factor in factors[:-1]}:
            mean = Product((("", Sum((("+", one), ("+", two)))), ("/", Number(read("2")))))
            yield "function_replaced", "The arithmetic mean was taken, not the harmonic mean.", mean


def _product(factors: Sequence[tuple[str, Node]]) -> Iterator[Rewrite]:
    yield from _harmonic(factors)
    for place, (sign, factor) in enumerate(factors):
        rest = [*factors[:place], *factors[place + 1 :]]
        if sign in ("/", "//"):
            match ungrouped(factor), ungrouped(factors[0][1]):
                case Number(numeral), Sum() if numeral.value.denominator == 1 and numeral.value > 2:
                    fewer = Number(read(str(numeral.value - 1)))
                    what = f"Divided by {plain(fewer)}, one less than {plain(factor)}."
                    yield "divided_by_one_less", what, _product_of([*factors[:place], (sign, fewer), *factors[place + 1 :]])
            yield "division_forgotten", f"The division by {plain(factor)} was left out.", _product_of(rest)
            turned = [*factors[:place], ("×", factor), *factors[place + 1 :]]
            yield "multiplied_for_divided", f"Multiplied by {plain(factor)} instead of divided.", _product_of(turned)
        elif len(factors) > 1 and (place or factors[1][0] not in ("/", "//")):
            yield "factor_forgotten", f"The factor {plain(factor)} was left out.", _product_of(rest)
            yield "factor_twice", f"The factor {plain(factor)} was used twice.", _product_of([*factors, ("×", factor)])
    if all(sign not in ("/", "//") for sign, _ in factors):
        yield "sum_for_product", "Added instead of multiplied.", Sum(tuple(("+", factor) for _, factor in factors))


def _sum(terms: Sequence[tuple[str, Node]]) -> Iterator[Rewrite]:
    for place, (sign, term) in enumerate(terms):
        yield "term_forgotten", f"The term {plain(term)} was left out.", _sum_of([*terms[:place], *terms[place + 1 :]])
        if place:
            other = "-" if sign == "+" else "+"
            turned = _sum_of([*terms[:place], (other, term), *terms[place + 1 :]])
            yield "sign_of_term", f"The sign before {plain(term)} is wrong.", turned
    if all(sign == "+" for sign, _ in terms):
        yield "product_for_sum", "Multiplied instead of added.", _product_of([("×", term) for _, term in terms])
    if flat := _left_to_right(terms):
        yield "left_to_right", "Evaluated from left to right; products come before sums.", flat


def _left_to_right(terms: Sequence[tuple[str, Node]]) -> Node | None:
    """Return `3 + 4 × 5` as (3 + 4) × 5."""
    last = terms[-1][1]
    if not isinstance(last, Product) or len(last.factors) < 2:
        return None
    head = _sum_of([*terms[:-1], (terms[-1][0], last.factors[0][1])])
    return Product((("", head), *last.factors[1:]))


def _product_of(factors: Sequence[tuple[str, Node]]) -> Node:
    if len(factors) == 1:
        return factors[0][1]
    return Product((("", factors[0][1]), *factors[1:]))  # type: ignore[arg-type]


def _sum_of(terms: Sequence[tuple[str, Node]]) -> Node:
    first = Negative(terms[0][1]) if terms[0][0] == "-" else terms[0][1]
    return first if len(terms) == 1 else Sum((("+", first), *terms[1:]))  # type: ignore[arg-type]
