"""The score gap that a wrong attention weight implies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from glassformer.expressions.arrays import Array, Value
from glassformer.expressions.evaluate import Evaluator
from glassformer.expressions.exact import Real, exactly, fixed
from glassformer.expressions.functions import logarithm
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.precision import Figure, Written
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import Call, List, Name, Node, Power, Product, Sum, ungrouped

NEARLY_ONE = Fraction(1, 20)  # weights that do not sum to one are not those of other scores


def implied_gap(one: Fraction | float, two: Fraction | float | None = None) -> Fraction:
    """Return the score gap that two softmax weights imply; the second weight defaults to 1 minus the first."""
    first = Fraction(one)
    second = 1 - first if two is None else Fraction(two)
    if not (first > 0 and second > 0):
        raise NotUnderstoodError(f"weights {float(first):g} and {float(second):g} are not both positive, so no scores give them")
    return logarithm(exactly(first / second)).middle


def gap_behind(tree: Node, claim: Written, names: Mapping[str, Value]) -> str:
    """Return the score gap that wrong softmax weights of two scores imply, and the right one; empty for anything else."""
    weights = (claim, Figure(1 - claim.value, claim.unit)) if isinstance(claim, Figure) else claim.cells
    evaluator = Evaluator(Reading(), names)
    try:
        scores = [evaluator.value(node) for node in _score_nodes(ungrouped(tree))]
        if len(scores) == 1 and isinstance(scores[0], Array) and scores[0].columns is None:
            scores = list(scores[0].cells)
        if abs(sum((weight.value for weight in weights), start=Fraction(-1))) > NEARLY_ONE:
            return ""
        if len(weights) != 2 or len(scores) != 2 or not all(isinstance(score, Real) for score in scores):
            return ""
        implied, due = implied_gap(weights[0].value, weights[1].value), (scores[0] - scores[1]).middle  # type: ignore[operator]
    except NotUnderstoodError:
        return ""
    shown = "/".join(fixed(weight.value, min(weight.decimals, 6)) for weight in weights)
    return f"weights {shown} imply a score gap of {_short(implied)} instead of {_short(due)}"


def _score_nodes(tree: Node) -> Sequence[Node]:
    """Return the scores in `softmax([a, b])` or in `exp(a) / (exp(a) + exp(b))`, that of the numerator first."""
    match tree:
        case Call("softmax", (List(items),)):
            return items
        case Call("softmax", arguments):
            return arguments
        case Product(((_, above), ("/", below))):
            one, whole = _exponent(above), ungrouped(below)
            terms = [_exponent(term) for sign, term in whole.terms if sign == "+"] if isinstance(whole, Sum) else []
            others = [term for term in terms if term is not None and term != one]
            return [one, *others] if one is not None and len(terms) == 2 and len(others) == 1 else []
        case _:
            return []


def _exponent(node: Node) -> Node | None:
    match ungrouped(node):
        case Call("exp", (inner,)) | Power(Name("e"), inner):
            return inner
        case _:
            return None


def _short(value: Fraction) -> str:
    text = fixed(value, 3)
    return text.rstrip("0").rstrip(".") if "." in text else text
