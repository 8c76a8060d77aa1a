"""Answers about the shape of a mask: which tokens are real, or which keys a query may see, as people write it."""

from __future__ import annotations

import math
import re

from glassformer.answers.asked.answer import Answer, Line, Other, made
from glassformer.answers.questions import Question
from glassformer.program import Program
from glassformer.spec.reading import Request

Shapes = dict[str, tuple[int, ...]]


def mask_shape(question: Question, asked: Request, program: Program) -> Answer:
    """One flag a token, or one a pair of query and key; both are broadcast over the scores, batch × head × t × s."""
    batch, t, heads = program.sizes.batch, program.sizes.t, asked.spec.heads
    pairs: Shapes = {
        "one flag a pair": (t, t), "broadcast over batch and heads": (1, 1, t, t), "for each input": (batch, t, t),
        "for each input, broadcast over heads": (batch, 1, t, t), "broadcast over the batch": (1, t, t),
        "one for each head": (batch, heads, t, t),
    }  # fmt: skip
    tokens: Shapes = {
        "one flag a token, the batch first": (batch, t), "broadcast over heads and queries": (batch, 1, 1, t),
        "broadcast over queries": (batch, 1, t), "without the batch": (t,),
    }  # fmt: skip
    shapes = pairs if question.target == "causal mask" else tokens | pairs
    spread = re.search(r"broadcast", question.text, flags=re.I) is not None
    first = "broadcast over heads and queries" if spread and question.target != "causal mask" else next(iter(shapes))
    value = shapes[first]
    line = Line(question.target or "mask", "", " × ".join(str(size) for size in value), value)
    if question.kind == "elements":
        return made(question, asked, math.prod(value), "elements", first, [line], [])
    return made(question, asked, value, "shape", first, [line], [Other(said, shape) for said, shape in shapes.items()])
