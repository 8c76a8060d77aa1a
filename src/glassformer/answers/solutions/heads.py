"""Full-width projections multiplied by the heads: the product, the factor that is too many, and the totals without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from glassformer.answers.documents import CheckedDocument
from glassformer.answers.expressions import Evaluator, NotUnderstoodError, Reading, plain, shown_value
from glassformer.answers.expressions.tree import Factor, Grouped, Node, Number, Power, Product, Sign, Sum, ungrouped
from glassformer.answers.solutions.chain import Step, steps_of, totals_after, uses
from glassformer.answers.solutions.remarks import Remark
from glassformer.answers.solutions.said_numbers import heads_said, is_model_width, is_other_width, means_something_else
from glassformer.answers.solutions.sections import WARNS

NEAR = 25  # lines above a product in which its heads are stated
NARROWEST = 16
MATRICES = frozenset(map(Fraction, (1, 2, 3, 4)))  # W_Q, W_K, W_V, W_O together
_PARAMETERS = re.compile(r"param|weight|matri|projection|\bW[_^\\{]|quer|\bkeys?\b|\bvalues?\b|\bQKV\b|\bQ\b", re.I)
_NOT_PARAMETERS = re.compile(
    r"flop|\bops?\b|operation|multipl|\bMACs?\b|memory|activation|cost|complexit|elements|scores?\b"
    r"|attention (?:weights\b|map|matri|prob)",
    re.I,
)
_LAYERS = re.compile(r"\b(?:layers?|blocks?|encoders?|decoders?|stack\w*)\b", re.I)


@dataclass(frozen=True)
class _Found:
    step: Step
    width: int
    heads: int
    product: Product
    due: Node
    tree: Node  # the whole expression with the product put right


def heads_times_full_width(document: CheckedDocument) -> Iterator[Remark]:
    """A remark for every such product; the last of them says what the totals become."""
    steps = steps_of(document)
    lines = document.text.split("\n")
    found = [product for step in steps if (product := _found(step, lines)) is not None]
    found = [product for product in found if _is_certain(product, found, steps, document.text)]
    totals = totals_after(steps, {product.step.finding.start: product.tree for product in found}) if found else ()
    for place, product in enumerate(found):
        heads, width = product.heads, product.width
        sentence = (
            f"{plain(product.product)} gives each of the {heads} heads projections of the full width {width}. A head is "
            f"{width} / {heads} = {width // heads} wide, so all heads together are {width} × {width}: "
            f"the factor {heads} is too many."
        )
        corrected = f"{plain(product.tree)} = {_value(product.tree)}"
        last = place == len(found) - 1
        yield Remark(
            code="heads_times_full_width",
            line=product.step.line,
            sentence=sentence,
            corrected=corrected,
            totals=totals if last else (),
        )


def _value(tree: Node) -> str:
    try:
        return shown_value(Evaluator(Reading(), {}).value(tree))
    except NotUnderstoodError:
        return "?"


def _found(step: Step, lines: list[str]) -> _Found | None:
    """The product of a step that holds a width twice and the number of heads once, where its line is about parameters."""
    if step.tree is None:
        return None
    line = lines[step.line - 1] if step.line <= len(lines) else ""
    above = "\n".join(lines[max(0, step.line - 1 - NEAR) : step.line])
    heads = heads_said(line) or heads_said(above)
    if len(heads) != 1 or _NOT_PARAMETERS.search(line) or WARNS.search(line):
        return None
    if not _PARAMETERS.search(line) or (_LAYERS.search(line) and not heads_said(line)):
        return None
    (h,) = heads
    inner = ungrouped(step.tree)
    terms: tuple[tuple[Sign, Node], ...] = inner.terms if isinstance(inner, Sum) else (("+", inner),)
    for place, (sign, term) in enumerate(terms):
        parts = _parts(ungrouped(term), h)
        if parts is None:
            continue
        width, due = parts
        product = ungrouped(term)
        assert isinstance(product, Product)
        whole = Sum((*inner.terms[:place], (sign, due), *inner.terms[place + 1 :])) if isinstance(inner, Sum) else due
        return _Found(step, width, h, product, due, whole)
    return None


def _parts(term: Node, heads: int) -> tuple[int, Node] | None:
    """The width, and the product without its factor of the heads."""
    if not isinstance(term, Product) or any(sign in ("/", "//", "@", "⊙") for sign, _ in term.factors[1:]):
        return None
    flat = _flat(term)
    widths = {width for factor in flat if (width := _square(factor)) is not None}
    numbers = [factor.numeral.value for factor in flat if isinstance(factor, Number)]
    if widths:
        (width, *rest) = widths
        others = numbers
        if rest or len(flat) - len(numbers) != 1:
            return None
    else:
        twice = {number for number in numbers if numbers.count(number) == 2}
        if len(twice) != 1 or len(numbers) != len(flat):
            return None
        width = twice.pop()
        others = [number for number in numbers if number != width]
    if others.count(Fraction(heads)) != 1 or width < NARROWEST or width % heads or width == heads:
        return None
    if not all(number in MATRICES for number in others if number != heads):
        return None
    if heads in MATRICES and sorted(others) != sorted((Fraction(3), Fraction(heads))):
        return None  # with four heads, 4 × d × d may be the four matrices
    return int(width), _without(term, heads)


def _flat(term: Node) -> list[Node]:
    inner = ungrouped(term)
    if isinstance(inner, Product) and all(sign not in ("/", "//", "@", "⊙") for sign, _ in inner.factors[1:]):
        return [leaf for _, factor in inner.factors for leaf in _flat(factor)]
    return [inner]


def _square(factor: Node) -> Fraction | None:
    """`768²`, or a matrix with its bias: `(768 × 768 + 768)`."""
    if isinstance(factor, Power) and isinstance(factor.base, Number) and isinstance(factor.exponent, Number):
        return factor.base.numeral.value if factor.exponent.numeral.value == 2 else None
    if isinstance(factor, Sum) and len(factor.terms) == 2 and all(sign == "+" for sign, _ in factor.terms):
        (_, matrix), (_, bias) = factor.terms
        leaves = [leaf.numeral.value for leaf in _flat(matrix) if isinstance(leaf, Number)]
        if isinstance(bias, Number) and leaves == [bias.numeral.value] * 2:
            return bias.numeral.value
        if isinstance(bias, Number) and _square(ungrouped(matrix)) == bias.numeral.value:
            return bias.numeral.value
    return None


def _without(term: Product, heads: int) -> Node:
    """The product without the factor; brackets around what is left of a single factor stay away."""
    kept: list[tuple[Factor, Node]] = []
    dropped = False
    for sign, factor in term.factors:
        inner = ungrouped(factor)
        if not dropped and isinstance(inner, Number) and inner.numeral.value == heads:
            dropped = True
        elif not dropped and isinstance(inner, Product) and any(leaf_is(leaf, heads) for leaf in _flat(inner)):
            smaller = _without(inner, heads)
            kept.append((sign, Grouped(smaller) if isinstance(factor, Grouped) and isinstance(smaller, Product) else smaller))
            dropped = True
        else:
            kept.append((sign, factor))
    if len(kept) == 1:
        return ungrouped(kept[0][1])
    return replace(term, factors=tuple(kept))


def leaf_is(leaf: Node, value: int) -> bool:
    return isinstance(leaf, Number) and leaf.numeral.value == value


def _is_certain(product: _Found, found: list[_Found], steps: list[Step], text: str) -> bool:
    """The width is the model's, and the factor is the heads': where there are as many layers, they are multiplied in later."""
    width, heads = product.width, product.heads
    if is_other_width(text, width):
        return False
    if not is_model_width(text, width) and not _is_shared(width, product, steps):
        return False
    if not means_something_else(text, heads):
        return True
    replaced = {one.step.finding.start: one.tree for one in found if (one.width, one.heads) == (width, heads)}
    lines = text.split("\n")
    later = [step for step in uses(steps, replaced) if step.line > product.step.line and _LAYERS.search(lines[step.line - 1])]
    return any(step.tree is not None and any(leaf_is(leaf, heads) for leaf in _flat(step.tree)) for step in later)


def _is_shared(width: int, product: _Found, steps: list[Step]) -> bool:
    """Whether other products have the width once, beside a larger number: a table, or the feed-forward matrices."""
    count = 0
    for step in steps:
        if step.tree is None or step is product.step:
            continue
        numbers = [leaf.numeral.value for leaf in _flat(step.tree) if isinstance(leaf, Number)]
        count += numbers.count(Fraction(width)) == 1 and max(numbers) > width
    return count >= 2
