"""Totals without an equals sign: `Total parameters: 18,725,992` after a list of items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

from glassformer.answers.documents.memory import PLAIN_DIGITS, Memory, Result
from glassformer.answers.documents.outcome import Outcome, explained, in_lines
from glassformer.answers.mistakes.slips import pen_slips
from glassformer.answers.verdicts import Finding, Judged, Verdict
from glassformer.expressions import Figure, NotUnderstoodError, Real, Token, agrees, exactly, parse, shown_number, written

TOTAL_WORDS = frozenset("total totals sum overall altogether product".split())
# A label with one of these words includes more than the items.
OTHER_PARTS = frozenset("with including plus bias biases extra without excluding minus except additional roughly about".split())
MOST_ITEMS = 12
MOST_LOOKED_AT = 60
NEAR = Fraction(1, 1000)
LONG_DIGITS = 5
SLIPS = ("digit_wrong", "digits_exchanged")
Items = tuple[Result, ...]


class Labelled(NamedTuple):
    """A number after a label and a colon, alone on its line."""

    label: tuple[str, ...]
    figure: Figure
    start: int
    end: int

    @property
    def total(self) -> bool:
        return any(word in TOTAL_WORDS for word in self.label)


def labelled(tokens: Sequence[Token]) -> Labelled | None:
    """Read `Total FFN parameters: 4,718,592`, with nothing after it but a remark."""
    colons = [place for place, token in enumerate(tokens) if token.kind == "wall" and token.text == ":"]
    after = [token for token in tokens[colons[-1] + 1 :] if token.kind != "edge"] if colons else []
    while after and after[-1].kind == "stop":
        after.pop()
    figure = figure_of(after)
    if figure is None or any(token.kind in ("comma", "stop", "wall", "relation") for token in after):
        return None
    return Labelled(words_of(tokens[: colons[-1]]), figure, after[0].start, after[-1].end)


def words_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return all words, including those of remarks."""
    texts = [token.text.lower() for token in tokens if token.kind in ("word", "note", "text", "name", "relation")]
    return tuple(word for text in texts for word in text.replace("(", " ").split())


def figure_of(tokens: Sequence[Token]) -> Figure | None:
    """Return the number, if the tokens are a single number."""
    try:
        found = written(parse(tokens).tree) if any(token.kind == "number" for token in tokens) else None
    except NotUnderstoodError:
        return None
    return found if isinstance(found, Figure) else None


def total_of(memory: Memory, item: Labelled, *, loosely: bool) -> tuple[Outcome, Real] | None:
    """Find the earlier results that a total consists of, and its right value; None if there are none."""
    figure, loose = item.figure, loosely or item.figure.rounded
    word = "multiply to" if "product" in item.label else "add up to"
    groups = [(items, _made(items, word), _made(items, word, true=True)) for items in _groups(memory)]
    again = [((one,), exactly(one.figure.value), one.truth) for one in reversed(memory.results[-MOST_LOOKED_AT:])]
    long = len(str(abs(figure.value.numerator)).rstrip("0")) >= PLAIN_DIGITS
    for tried, loosened in ((groups, False), (again if long else [], loose), (groups, loose)):
        for items, due, truth in tried:
            if _fits(due, figure, loosely=loosened):
                return _outcome("carried" if any(one.faulty for one in items) else "right", items, due, truth, word, figure)
            if len(items) > 1 and _fits(truth, figure, loosely=loosened):
                return _outcome("right", items, truth, truth, word, figure)
    if loose or any(word in OTHER_PARTS for word in item.label) or len(str(abs(figure.value.numerator))) < LONG_DIGITS:
        return None
    for items, due, truth in groups:
        slips = [slip for slip in pen_slips(due, figure) if slip.code in SLIPS]
        if slips and abs(due.middle - figure.value) <= NEAR * abs(due.middle):
            findings = tuple(explained(slip.code, slip.sentence, slip.predicted) for slip in slips)
            return _outcome("wrong", items, due, truth, word, figure, findings)
    return None


def _groups(memory: Memory) -> Iterator[Items]:
    """Yield the last two results, the last three, and so on; then the same for totals only."""
    recent = memory.results[-MOST_LOOKED_AT:]
    for results in (recent, [result for result in recent if result.total]):
        for count in range(2, min(MOST_ITEMS, len(results)) + 1):
            yield tuple(results[-count:])


def _made(items: Sequence[Result], word: str, *, true: bool = False) -> Real:
    """Return the sum or product of the items, as written or as they should be."""
    values = [item.truth.middle if true else item.figure.value for item in items]
    return exactly(prod(values, start=Fraction(1)) if word == "multiply to" else sum(values, start=Fraction(0)))


def _fits(value: Real, figure: Figure, *, loosely: bool) -> bool:
    return agrees(value, figure, loosely=True) is not None if loosely else value.low == figure.value


def _outcome(
    verdict: Verdict,
    items: tuple[Result, ...],
    due: Real,
    truth: Real,
    word: str,
    figure: Figure,
    findings: tuple[Finding, ...] = (),
) -> tuple[Outcome, Real]:
    faulty = tuple(dict.fromkeys(item.line for item in items if item.faulty)) if verdict != "right" else ()
    lines, true = in_lines([item.line for item in items]), shown_number(truth) if faulty and truth != due else ""
    said = f"The number in {lines}" if len(items) == 1 else f"The items in {lines} {word} this number"
    if verdict == "carried":
        said += f", but the error in {in_lines(faulty)} is carried forward; corrected, it is {shown_number(truth)}"
    elif verdict == "wrong":
        said = f"The items in {lines} {word} {shown_number(due)}, not {figure.text}. {findings[0].what[0]}".rstrip(".")
        said += f". With {in_lines(faulty)} corrected, it is {true}" if true else ""
    follows = tuple(f"line {line}" for line in faulty)
    judged = Judged("total", figure.text, verdict, shown_number(due), "", findings, follows, (f"{said}.",))
    return Outcome(judged, "total", None, faulty, None, true), truth
