"""Answers about padding: how much of a batch is filled up, and how many scores are worked out for nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

from glassformer.answers.asked.answer import Answer, Line, Other, made
from glassformer.answers.questions import Question
from glassformer.spec.reading import Request


def padded(question: Question, asked: Request) -> Answer:
    """The number that follows from the lengths of the sentences, and the length that all of them are given."""
    return _ANSWERS[question.target or ""](question, asked)


def _sizes(question: Question) -> tuple[list[int], int]:
    given = dict(question.given)
    return [length for name, length in question.given if name.startswith("sentence")], given["to"]


def _sum(lengths: list[int]) -> str:
    return " + ".join(map(str, lengths))


def _tokens(question: Question, asked: Request) -> Answer:
    """Positions that hold no token."""
    lengths, to = _sizes(question)
    value = len(lengths) * to - sum(lengths)
    line = Line("padding", "sentences · length − tokens", f"{len(lengths)} · {to} − ({_sum(lengths)})", value)
    others = [Other("the real tokens", sum(lengths), excuses=False), Other("all positions", len(lengths) * to, excuses=False)]
    return made(question, asked, value, "tokens", _filled(lengths, to), [line], others)


def _real(question: Question, asked: Request) -> Answer:
    lengths, _ = _sizes(question)
    return made(
        question, asked, sum(lengths), "tokens", "padding not counted", [Line("tokens", "", _sum(lengths), sum(lengths))], []
    )


def _positions(question: Question, asked: Request) -> Answer:
    lengths, to = _sizes(question)
    value = len(lengths) * to
    line = Line("positions", "sentences · length", f"{len(lengths)} · {to}", value)
    others = [Other("the real tokens", sum(lengths), excuses=False)]
    return made(question, asked, value, "tokens", f"padding counted, {_filled(lengths, to)}", [line], others)


def _filled(lengths: list[int], to: int) -> str:
    return f"each of {len(lengths)} sentences made {to} tokens long"


def _share(question: Question, asked: Request) -> Answer:
    """Of the positions; of the scores, where others count what attention does."""
    lengths, to = _sizes(question)
    positions = len(lengths) * to
    padding = positions - sum(lengths)
    line = Line("share", "padding / (sentences · length)", f"{padding} / {positions}", padding / positions)
    said = f"of the {positions} positions; {100 * padding / positions:.2f} %; {_filled(lengths, to)}"
    pairs, wasted = _pairs(lengths, to)
    work = re.search(r"comput|\bwork\b|flops|\beffort\b|\btime\b", question.text, flags=re.I) is not None  # not said of what
    others = [
        Other(f"of the {pairs} scores of a head", wasted / pairs, excuses=work),
        Other("the real tokens", sum(lengths) / positions, excuses=False),
    ]
    return made(question, asked, padding / positions, "of the positions", said, [line], others)


def _real_share(question: Question, asked: Request) -> Answer:
    lengths, to = _sizes(question)
    positions = len(lengths) * to
    line = Line("share", "tokens / (sentences · length)", f"{sum(lengths)} / {positions}", sum(lengths) / positions)
    said = f"of the {positions} positions; {100 * sum(lengths) / positions:.2f} %; {_filled(lengths, to)}"
    others = [Other("the padding", 1 - sum(lengths) / positions, excuses=False)]
    return made(question, asked, sum(lengths) / positions, "of the positions", said, [line], others)


def _pairs(lengths: list[int], to: int) -> tuple[int, int]:
    """The scores of one head, and those of them in which a padding position asks or is asked."""
    every = len(lengths) * to**2
    return every, every - sum(length**2 for length in lengths)


def _scores(question: Question, asked: Request) -> Answer:
    lengths, to = _sizes(question)
    heads = dict(question.given).get("heads", 1)
    every, wasted = _pairs(lengths, to)
    masked = sum(to * (to - length) for length in lengths)
    squares = " + ".join(f"{length}²" for length in lengths)
    front = f"{heads} · " if heads > 1 else ""
    line = Line("scores", "sentences · length² − Σ tokens²", f"{front}({len(lengths)} · {to}² − ({squares}))", heads * wasted)
    said = f"a query or a key of padding, {heads} head{'s' * (heads > 1)} of one layer; {_filled(lengths, to)}"
    others = [Other("those of padding keys alone, which a mask takes out", heads * masked)]
    others += [Other("every score of the batch", heads * every, excuses=False)]
    return made(question, asked, heads * wasted, "scores", said, [line], others)


def _score_share(question: Question, asked: Request) -> Answer:
    lengths, to = _sizes(question)
    every, wasted = _pairs(lengths, to)
    line = Line("share", "1 − Σ tokens² / (sentences · length²)", f"{wasted} / {every}", wasted / every)
    said = f"a query or a key of padding; {100 * wasted / every:.2f} %; {_filled(lengths, to)}"
    masked = sum(to * (to - length) for length in lengths)
    others = [Other("those of padding keys alone, which a mask takes out", masked / every)]
    return made(question, asked, wasted / every, "of the scores", said, [line], others)


def _shape(question: Question, asked: Request) -> Answer:
    lengths, to = _sizes(question)
    value = (len(lengths), to)
    return made(question, asked, value, "shape", "the batch first", [Line("batch", "sentences × length", "", value)], [])


_ANSWERS: dict[str, Callable[[Question, Request], Answer]] = {
    "padding tokens": _tokens,
    "real tokens": _real,
    "all positions": _positions,
    "share of padding": _share,
    "share of real tokens": _real_share,
    "scores for nothing": _scores,
    "share of scores for nothing": _score_share,
    "shape of the batch": _shape,
}
PADDING = tuple(_ANSWERS)
