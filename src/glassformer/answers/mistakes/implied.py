"""What a wrong attention weight says about the scores behind it: the gap that would have given it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from glassformer.answers.expressions.arrays import Array, Value
from glassformer.answers.expressions.evaluate import Evaluator
from glassformer.answers.expressions.exact import Real, exactly, fixed
from glassformer.answers.expressions.functions import logarithm
from glassformer.answers.expressions.limits import NotUnderstoodError
from glassformer.answers.expressions.precision import Figure, Figures, Written
from glassformer.answers.expressions.readings import Reading
from glassformer.answers.expressions.tree import Call, List, Name, Node, Power, Product, Sum, ungrouped


@dataclass(frozen=True)
class ImpliedGap:
    """Two weights, the gap between their scores that they imply, and the gap that was due where it is known."""

    weights: tuple[str, str]
    implied: Fraction
    due: Fraction | None = None

    def said(self) -> str:
        due = "" if self.due is None else f" where {_short(self.due)} was due"
        return f"weights {self.weights[0]}/{self.weights[1]} imply a score gap of {_short(self.implied)}{due}"


def implied_gap(one: Fraction | float, two: Fraction | float | None = None) -> Fraction:
    """The score gap that two softmax weights imply; of one weight alone the other is the rest to 1."""
    first = Fraction(one)
    second = 1 - first if two is None else Fraction(two)
    if not (first > 0 and second > 0):
        raise NotUnderstoodError(f"weights {float(first):g} and {float(second):g} are not both positive: no scores give them")
    return logarithm(exactly(first / second)).middle


def gap_behind(tree: Node, claim: Written, names: Mapping[str, Value]) -> ImpliedGap | None:
    """For a wrong softmax of two scores: what the written weights imply, and what was due."""
    scores = _two_scores(tree, names)
    if scores is None:
        return None
    try:
        if isinstance(claim, Figure):
            rest = Figure(1 - claim.value, claim.unit)
            weights = (claim, rest)
        else:
            weights = _two_weights(claim)
        gap = implied_gap(weights[0].value, weights[1].value)
    except NotUnderstoodError:
        return None
    return ImpliedGap((_weight(weights[0]), _weight(weights[1])), gap, (scores[0] - scores[1]).middle)


def _two_weights(claim: Figures) -> tuple[Figure, Figure]:
    if len(claim.cells) != 2:
        raise NotUnderstoodError("not two weights")
    return claim.cells[0], claim.cells[1]


def _two_scores(tree: Node, names: Mapping[str, Value]) -> tuple[Real, Real] | None:
    """The scores of `softmax([a, b])` or of `exp(a) / (exp(a) + exp(b))`, the one asked about first."""
    evaluator = Evaluator(Reading(), names)
    try:
        found = [evaluator.value(node) for node in _score_nodes(ungrouped(tree))]
        if len(found) == 1 and isinstance(found[0], Array) and found[0].columns is None:
            found = list(found[0].cells)
    except NotUnderstoodError:
        return None
    return (found[0], found[1]) if len(found) == 2 and isinstance(found[0], Real) and isinstance(found[1], Real) else None


def _score_nodes(tree: Node) -> Sequence[Node]:
    match tree:
        case Call("softmax", (List(items),)):
            return items
        case Call("softmax", arguments):
            return arguments
        case Product(((_, above), ("/", below))):
            one = _exponent(above)
            whole = ungrouped(below)
            terms = [_exponent(term) for sign, term in whole.terms if sign == "+"] if isinstance(whole, Sum) else []
            others = [term for term in terms if term is not None and term != one]
            return [one, *others] if one is not None and len(terms) == 2 and len(others) == 1 else []
        case _:
            return []


def _exponent(node: Node) -> Node | None:
    match ungrouped(node):
        case Call("exp", (inner,)):
            return inner
        case Power(Name("e"), inner):
            return inner
        case _:
            return None


def _weight(figure: Figure) -> str:
    return fixed(figure.value, min(figure.decimals, 6))


def _short(value: Fraction) -> str:
    text = fixed(value, 3)
    return text.rstrip("0").rstrip(".") if "." in text else text
