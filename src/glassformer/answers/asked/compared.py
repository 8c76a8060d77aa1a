"""Answers that compare encoders: one with another, or one with itself after a size was changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.asked.ratios import NAMED
from glassformer.answers.questions import Question
from glassformer.program import Program
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request, request

Asking = Callable[[Question, Request], Answer]
LEFT_OUT = (("biases",), ("norms",), ("biases", "norms"), ("embeddings",), ("pooler",), ("embeddings", "pooler"))


def versus(question: Question, asked: Request, ask: Asking) -> Answer:
    """The same quantity of two encoders, one held against the other."""
    inner, second = _inner(question), question.over or ""
    theirs = request(second)._replace(t=asked.t, batch=asked.batch)
    one, two = _values(inner, asked, theirs, ask)
    unit = "" if "times" in question.compared or "percent" in question.compared else _unit(inner)
    named = (asked.label, second)
    symbols, value = _held(question.compared, one, two, named)
    others = [
        Other(f"without {', '.join(words)}", _held(question.compared, first, other, named)[1])
        for words, first, other in _without(inner, asked, theirs, ask)
    ]
    if "percent" in question.compared:
        others.append(Other("as a factor", two / one))
    elif "times" in question.compared and re.search(r"\bratio\b", question.text.lower()):  # which way round it does not say
        others.append(Other(f"{named[1]} among {named[0]}", two / one))
    line = Line(question.compared, symbols, f"{one:,} and {two:,}", value)
    convention = f"{_what(inner)} of {named[0]} ({one:,}) and of {named[1]} ({two:,})"
    return replace(made(question, asked, value, unit, convention, [line], others), family=question.family)


def change(question: Question, asked: Request, ask: Asking) -> Answer:
    """By how much a quantity is multiplied where one size is."""
    inner, (field, over, under) = _inner(question), question.change or ("t", 1, 1)
    after = _after(question, asked, field, Fraction(over, under))
    one, two = _values(inner, asked, after, ask)
    if question.compared == "difference":
        line = Line("difference", "after − before", f"{two:,} − {one:,}", abs(two - one))
        convention = f"{_what(inner)}, {field} multiplied by {Fraction(over, under)}, everything else the same"
        return made(question, asked, abs(two - one), _unit(inner), convention, [line], [])
    if not one:
        raise GlassformerError(f"'{shown(question.text)}': there is none of that before the change.")
    value = _whole(Fraction(two) / Fraction(one))
    others = [
        Other(f"without {', '.join(words)}", _whole(Fraction(other) / Fraction(first)))
        for words, first, other in _without(inner, asked, after, ask)
        if first
    ]
    if inner.kind in ("flops", "macs") and inner.target == "attention":
        alone = _values(replace(inner, target="core"), asked, after, ask)
        others.append(Other("the scores and the weighted sum alone", _whole(Fraction(alone[1]) / Fraction(alone[0]))))
    wrongs = []
    if field == "t" and value != Fraction(over, under):
        wrongs.append(mistaken("linear_instead_of_quadratic", "as much as the length", over / under))
    line = Line("factor", "after / before", f"{two:,} / {one:,}", value)
    convention = f"{_what(inner)}, {field} multiplied by {Fraction(over, under)}, everything else the same"
    return made(question, asked, value, "times as much", convention, [line], others, wrongs)


def _inner(question: Question) -> Question:
    assert question.inner is not None
    return question.inner


def _after(question: Question, asked: Request, field: str, factor: Fraction) -> Request:
    """The encoder with one size multiplied."""
    before = {"t": asked.t, "batch": asked.batch, "d_k": asked.spec.head_k}.get(field) or getattr(asked.spec, field, None)
    if before is None:
        raise GlassformerError(f"'{shown(question.text)}': how large is {field} before the change? Write {field}=…")
    new = factor * before
    if new.denominator != 1:
        raise GlassformerError(f"'{shown(question.text)}': {factor} times {field}={before} is no whole number.")
    if field == "t":
        return asked._replace(t=int(new))
    if field == "batch":
        return asked._replace(batch=int(new))
    spec = asked.spec.replace(**{field: int(new)})
    return asked._replace(spec=spec, t=None if field in ("patch", "image") else asked.t)  # the length follows from these


def _values(inner: Question, one: Request, two: Request, ask: Asking) -> tuple[int | float, int | float]:
    found = (
        ask(replace(inner, stated=(), layers=None, model=""), one).value,
        ask(replace(inner, stated=(), layers=None, model=""), two).value,
    )
    if isinstance(found[0], tuple) or isinstance(found[1], tuple):
        raise GlassformerError(f"'{shown(inner.text)}' is not understood: shapes are not compared. Ask for elements.")
    return found[0], found[1]


def _without(
    inner: Question, one: Request, two: Request, ask: Asking
) -> Iterator[tuple[tuple[str, ...], int | float, int | float]]:
    """The two numbers under other conventions of counting."""
    if inner.kind != "params":
        return
    for words in LEFT_OUT:
        try:
            yield words, *_values(replace(inner, without=(*inner.without, *words)), one, two, ask)
        except GlassformerError:  # nothing is left
            continue


def _held(how: str, one: int | float, two: int | float, named: tuple[str, str]) -> tuple[str, int | float]:
    a, b = named
    if how == "times more":
        return f"{a} / {b}", one / two
    if how == "times less":
        return f"{b} / {a}", two / one
    if how == "percent more":
        return f"({a} − {b}) / {b}", (one - two) / two
    if how == "percent less":
        return f"({b} − {a}) / {b}", (two - one) / two
    return (f"{b} − {a}", two - one) if how == "less" else (f"{a} − {b}", abs(one - two))


def _whole(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _what(inner: Question) -> str:
    named = NAMED.get(inner.kind, inner.kind)
    return f"{named} of {inner.target}" if inner.target and inner.kind != "width" else str(inner.target or named)


def _unit(inner: Question) -> str:
    return NAMED.get(inner.kind, inner.kind) if inner.kind != "width" else str(inner.target)


def of_two(how: Callable[[Question, Request, Asking], Answer], ask: Asking) -> Callable[[Question, Request, Program], Answer]:
    """As the other kinds are answered: with the program beside the request."""
    return lambda question, asked, program: how(question, asked._replace(t=asked.t or program.sizes.t), ask)
