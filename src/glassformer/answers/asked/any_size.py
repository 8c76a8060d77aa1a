"""Answers for more than one encoder: a family of them, one of any width, one as the paper writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from glassformer.answers.asked.answer import Answer, Other
from glassformer.answers.questions import Question

Sized = Callable[..., Answer]  # the answer for an encoder with these sizes
IN_SYMBOLS = re.compile(
    r"\b(?:in terms|as a function) of\b|\bfor (?:an? )?(?:model |hidden |embedding )?(?:width|size|dimension) d\b(?! ?[=_])", re.I
)
ANY_WIDTH = "matrices alone, the same at any width"
BASE = re.compile(r"-base$|-b(?:16)?$")
ATTENTION_WITHOUT = ("ffn", "norm", "patch", "embedding", "pooler", "head", "decoder")  # places of the other biases


def of_the_best_known(found: list[Answer]) -> Answer:
    """`the vocabulary size of BERT`: that of the base model, with those of the others beside it."""
    first = next((answer for answer in found if BASE.search(answer.asked.label)), found[0])
    named = [Other(answer.asked.label, answer.value) for answer in found if answer.value != first.value]
    others = {other.value: other for other in (*reversed(first.others), *reversed(named))}
    convention = f"{first.asked.label}, as no other is named; {first.convention}"
    family = tuple(answer.asked.label for answer in found)
    return replace(first, convention=convention, others=tuple(reversed(others.values())), family=family)


def in_symbols(sized: Sized) -> Answer:
    """`parameters of a block in terms of d_model`: a d² + b d, read off the counts at three widths."""
    one, two, three = (_whole(sized(d_model=width, heads=1)) for width in (16, 32, 48))
    square = Fraction(three - 2 * two + one, 2 * 16**2)
    linear = Fraction(two - one, 16) - square * 48
    rest = one - square * 16**2 - linear * 16
    terms = [
        f"{factor} · {sign}" if sign else str(factor) for factor, sign in ((square, "d²"), (linear, "d"), (rest, "")) if factor
    ]
    found = sized(d_model=512, heads=1)
    return replace(
        found,
        asked=found.asked._replace(label="layer of width d, shown for d = 512"),
        convention=f"{' + '.join(terms)}, for d_model = d and d_ff = 4 · d; {found.convention}",
        family=("the encoders of other widths",),
    )


def _whole(answer: Answer) -> int:
    assert isinstance(answer.value, int)
    return answer.value


def as_the_paper_writes(question: Question, sized: Sized) -> tuple[Other, ...]:
    """The 2017 paper's formulas have biases in the feed-forward block, and none in the attention."""
    if question.kind != "params" or question.target not in (None, "layers") or question.without:
        return ()
    paper = sized(biases=ATTENTION_WITHOUT)
    own = "no biases in the attention, as in the paper's formulas"
    norms = [other for other in paper.others if re.fullmatch(r"without norms(?:, one layer)?", other.convention)]
    return (Other(own, paper.value), *(Other(f"{own}, without norms", other.value) for other in norms[:1]))
