"""Answers that compare: a part with the whole or another part, tied with untied, the length at which two costs are equal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from glassformer.algebra.ledger import count
from glassformer.answers.asked.answer import Answer, Line, Other, Value, made, mistaken
from glassformer.answers.asked.flops import operations
from glassformer.answers.asked.stored import saved_bytes
from glassformer.answers.questions import Question
from glassformer.program import build
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

Values = Callable[[Question], Answer]
NAMED = {"params": "parameters", "flops": "FLOPs", "macs": "multiply-adds", "bytes": "bytes", "width": "features"}


def _number(value: Value) -> int | float:
    assert not isinstance(value, tuple)
    return value


def share(question: Question, asked: Request, answered: Values) -> Answer:
    """A part among all, or among one layer where one is spoken of."""
    if question.target is None:
        raise GlassformerError(f"'{shown(question.text)}': a share of what? Ask for the 'share of params in the embeddings'.")
    own = replace(question, kind=question.measure)
    part, whole = answered(own), answered(replace(own, target=None))
    whole_value, part_value = _number(whole.value), _number(part.value)
    value = part_value / whole_value
    unit = NAMED[question.measure]
    among = f"the {unit} of one layer" if question.one_layer else f"all {unit}"
    others = [
        Other(other.convention, part_value / _number(other.value))
        for other in whole.others
        if other.convention in ("without pooler", "without head", "the layers alone") and _number(other.value) >= part_value
    ]
    others += [
        Other(f"without {', '.join(words)}", one / other)
        for words, one, other in _without(own, replace(own, target=None), answered)
    ]
    if question.one_layer:
        model = answered(replace(own, target=None, one_layer=False))
        others.append(Other("one layer's among the whole model's", part_value / _number(model.value)))
    line = Line("share", "part / whole", f"{part_value:,} / {whole_value:,}", value)
    named = f"{question.target} among {among}; {100 * value:.2f} %"
    return made(question, asked, value, f"of the {unit}", named, [line], others)


def ratio(question: Question, asked: Request, answered: Values) -> Answer:
    """One part's number divided by another's."""
    if question.target is None and question.over is None:
        raise GlassformerError(f"'{shown(question.text)}' is not understood: a ratio of what to what?")
    own = replace(question, kind=question.measure, over=None)
    upper, lower = answered(own), answered(replace(own, target=question.over))
    above, below = _number(upper.value), _number(lower.value)
    if not below:
        raise GlassformerError(f"'{shown(question.text)}': there is nothing to divide by, {question.over} is 0.")
    named = [name or "the whole" for name in (question.target, question.over)]
    line = Line("ratio", " / ".join(named), f"{above:,} / {below:,}", above / below)
    others = [
        Other(f"without {', '.join(words)}", one / two)
        for words, one, two in _without(own, replace(own, target=question.over), answered)
        if two
    ]
    reversed_ratios = [1 / value for value in (above / below, *(_number(other.value) for other in others)) if value]
    wrongs = [mistaken("ratio_reversed", f"{named[1]} divided by {named[0]}", value) for value in reversed_ratios]
    convention = f"{NAMED[question.measure]} of {named[0]} divided by those of {named[1]}"
    return made(question, asked, above / below, "", convention, [line], others, wrongs)


def difference(question: Question, asked: Request, answered: Values) -> Answer:
    """How much more the one part has than the other."""
    own = replace(question, kind=question.measure, over=None)
    upper, lower = answered(own), answered(replace(own, target=question.over))
    one, two = _number(upper.value), _number(lower.value)
    if re.search(r"\b(?:fewer|less)\b", question.text.lower()):
        one, two = two, one
    others = [
        Other(f"without {', '.join(words)}", abs(first - second))
        for words, first, second in _without(own, replace(own, target=question.over), answered)
    ]
    named = [name or "the whole" for name in (question.target, question.over)]
    if question.text.lower().startswith("which") and one < two:  # `which has more, A or B?`
        one, two, named = two, one, named[::-1]
    line = Line("difference", " − ".join(named), f"{one:,} − {two:,}", one - two)
    convention = f"{NAMED[question.measure]} of {named[0]} and of {named[1]}, one taken from the other"
    return made(question, asked, one - two, NAMED[question.measure], convention, [line], others)


def _without(one: Question, two: Question, answered: Values) -> Iterator[tuple[tuple[str, ...], int | float, int | float]]:
    """Both parts under each usual convention of leaving something out."""
    if one.kind != "params":
        return
    for words in (("biases",), ("norms",), ("biases", "norms"), ("biases", "output"), ("biases", "norms", "output")):
        more = (*one.without, *(word for word in words if word not in one.without))
        try:
            first, second = (answered(replace(question, without=more)).value for question in (one, two))
        except GlassformerError:  # nothing is left of one of the two
            continue
        yield words, _number(first), _number(second)


def tying(question: Question, asked: Request) -> Answer:
    """What an output matrix of its own would add to an encoder whose output matrix is the token table."""
    spec = asked.spec
    if spec.head not in ("mlm", "pretrain"):
        raise GlassformerError(
            f"'{shown(question.text)}': head={spec.head} has no output matrix over the vocabulary, so nothing is tied. "
            "Write head=mlm."
        )
    tied, untied = (count(replace(spec, tie=tie)).total for tie in (True, False))
    line = Line("saved", "parameters untied − parameters tied", f"{untied:,} − {tied:,}", untied - tied)
    convention = "an output matrix of its own against the token table used twice, tables counted once"
    if question.measure == "bytes":
        return saved_bytes(question, asked, line, convention)
    return made(question, asked, untied - tied, "parameters", convention, [line], [])


def crossing(question: Question, asked: Request) -> Answer:
    """The length from which a cost with a square in it is the larger one: a n + b n² = c n + d n²."""
    if asked.spec.window is not None or asked.spec.one_length:
        raise GlassformerError(f"'{shown(question.text)}': asked only where the length is free and every token sees all others.")
    found = _meeting(question, asked)
    if found is None:
        raise GlassformerError(f"'{shown(question.text)}': the two never cost the same.")
    value, text = found
    others = []
    if question.target == "attention":
        for name, said in (("core", "the scores and the weighted sum alone"), ("scores", "the scores alone")):
            other = _meeting(replace(question, target=name), asked)
            others += [Other(said, other[0])] if other else []
    lines = [Line("length", "from a n + b n² = c n + d n²: (c − a) / (b − d)", text, value)]
    convention = f"tokens at which the matrix products of {question.target} and {question.over} cost the same, one layer"
    return made(question, asked, value, "tokens", convention, lines, others)


def _meeting(question: Question, asked: Request) -> tuple[int | float, str] | None:
    linear, square = [], []
    for target in (question.target, question.over):
        costs = [_macs(replace(question, kind="macs", target=target), asked, length) for length in (1, 2)]
        square.append((costs[1] - 2 * costs[0]) // 2)
        linear.append(costs[0] - square[-1])
    if square[0] == square[1]:
        return None
    where = Fraction(linear[1] - linear[0], square[0] - square[1])
    if where <= 0:
        return None
    text = f"({linear[1]:,} − {linear[0]:,}) / ({square[0]:,} − {square[1]:,})"
    return (int(where) if where.denominator == 1 else float(where)), text


def _macs(question: Question, asked: Request, length: int) -> int:
    at = asked._replace(t=length, batch=1)
    value = operations(question, at, build(at.spec, batch=1, t=length)).value
    assert isinstance(value, int)
    return value
