"""Question banks for learning platforms: numbers with a tolerance, short texts and choices, with feedback for wrong answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from glassformer.answers.mistakes.catalogue import Mistake
from glassformer.answers.quiz.numbers import NumbersKey, written
from glassformer.answers.quiz.quantity import Counted, Shaped
from glassformer.answers.quiz.template import Option, QuizSet
from glassformer.answers.quiz.variant import Item, Variant
from glassformer.show.markup import Html, join, tags
from glassformer.show.quiz.html_page import html_blocks, inline
from glassformer.show.quiz.page import Choices, Lines, Text, likely, question_blocks, solution_blocks

MOST_WRONG = 8


@dataclass(frozen=True)
class Accepted:
    """An answer that the platform recognises: its text, its share of the marks, and its feedback."""

    text: str
    share: Fraction
    feedback: Html
    tolerance: float = 0.0


@dataclass(frozen=True)
class Entry:
    """One question on a platform. Each number of a vector is asked separately, since platforms compare single numbers."""

    name: str
    kind: Literal["number", "text", "choice"]
    question: Html
    solution: Html
    marks: Fraction
    accepted: tuple[Accepted, ...] = ()
    options: tuple[Option, ...] = ()
    hints: tuple[Html, ...] = ()

    @property
    def ident(self) -> str:
        """An identifier that depends only on the content."""
        content = "\x1f".join(
            [self.name, self.question, *(answer.text for answer in self.accepted), *(o.text for o in self.options)]
        )
        return "q" + hashlib.sha256(content.encode()).hexdigest()[:24]


def bank(quiz: QuizSet, variants: Sequence[Variant]) -> list[tuple[str, list[Entry]]]:
    """Return the entries of each question of the set (each number of a vector), one per distinct variant."""
    pools: dict[str, dict[str, Entry]] = {}
    for place, template in enumerate(quiz.questions):
        for variant in variants:
            for part, entry in enumerate(entries(variant.items[place]), start=1):
                pool = pools.setdefault(f"{place + 1:02d} {template.id}" + (f" part {part}" if part > 1 else ""), {})
                pool.setdefault(entry.ident, entry)
    return [(name, list(pool.values())) for name, pool in pools.items()]


def entries(item: Item) -> Iterator[Entry]:
    """Yield a question as one entry, or as one entry per number that it asks for."""
    question = html_blocks(block for block in question_blocks(item, heading=False, blank=False) if not isinstance(block, Choices))
    solution = html_blocks(solution_blocks(item))
    hints = tuple(inline(hint) for hint in item.hints)
    key = item.key
    if item.options:
        yield Entry(item.id, "choice", question, solution, item.marks, options=item.options, hints=hints)
    elif isinstance(key, NumbersKey):
        for place, name, accepted in _numbers(item, key):
            requested = join(question, html_blocks([Text(f"Give {name}, to {key.digits} decimals.")]))
            yield Entry(f"{item.id}{place}", "number", requested, solution, item.marks / key.value.size, accepted, hints=hints)
            solution = html_blocks([Lines("Answer", (key.text,))])  # the derivation is shown with the first number
    else:
        requested = join(question, html_blocks([Text(f"({key.wanted})")]))
        kind: Literal["number", "text"] = "number" if isinstance(key, Counted) else "text"
        yield Entry(item.id, kind, requested, solution, item.marks, tuple(_accepted(item)), hints=hints)


def feedback(mistake: Mistake | None) -> Html:
    """Return the feedback for a mistake."""
    if mistake is None:
        return join()
    named = tags.p(tags.b(inline(mistake.name)), " [", inline(mistake.code), "]")
    return join(named, tags.p(inline(mistake.sentence)))


def _numbers(item: Item, key: NumbersKey) -> Iterator[tuple[str, str, tuple[Accepted, ...]]]:
    for where in np.ndindex(*key.value.shape):
        requested = getattr(key, "ask", "the answer")
        name = f"{requested}[{', '.join(str(place + 1) for place in where)}]" if where else requested
        right = Accepted(written(key.value[where], key.digits), Fraction(1), join(), key.tolerance)
        wrongs: dict[str, Accepted] = {}
        for wrong in likely(item, MOST_WRONG):
            if abs(wrong.value[where] - key.value[where]) > 2 * key.tolerance:
                text = written(wrong.value[where], key.digits)
                wrongs.setdefault(text, Accepted(text, Fraction(0), feedback(wrong.mistake), key.tolerance))
        yield "-" + "-".join(str(place + 1) for place in where) if where else "", name, (right, *wrongs.values())


def _accepted(item: Item) -> Iterator[Accepted]:
    """Yield the right answer in every notation, then the wrong answers of known mistakes."""
    key = item.key
    tolerance = float(key.room) if isinstance(key, Counted) else 0.0
    seen: set[str] = set()
    rows = [(text, Fraction(1), join()) for text in _notations(item)]
    for wrong in likely(item, MOST_WRONG):
        texts = shape_notations(wrong.value)[:3] if isinstance(key, Shaped) else [_number(wrong.value, wrong.text)]
        rows += [(text, Fraction(0), feedback(wrong.mistake)) for text in texts]
    for text, share, said in rows:
        if text.lower() not in seen:
            seen.add(text.lower())
            yield Accepted(text, share, said, tolerance)


def _notations(item: Item) -> list[str]:
    key = item.inner
    if isinstance(key, Shaped):
        return shape_notations(key.value)
    if isinstance(key, Counted):
        return [key.text.replace(",", "")]
    return list(dict.fromkeys(getattr(key, "answers", (key.text,))))


def shape_notations(sizes: tuple[int, ...]) -> list[str]:
    """Return a shape in all usual notations: `64 x 32`, `[64, 32]`, `(64,32)`, …"""
    words = [str(size) for size in sizes]
    joined = [sign.join(words) for sign in (" x ", ", ", "x", ",", " × ", "×", " * ", "*", " by ")]
    wrapped = [f"{left}{sign.join(words)}{right}" for left, right in ("[]", "()") for sign in (", ", ",")]
    return list(dict.fromkeys([joined[0], wrapped[0], *joined[1:], *wrapped[1:]]))


def _number(value: object, text: str) -> str:
    return str(value) if isinstance(value, int) else text.replace(",", "")
