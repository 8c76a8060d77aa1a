"""Totals without a sign of equality: `Total parameters: 18,725,992` after a list of items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from glassformer.answers.documents.memory import PLAIN_DIGITS, Memory, Result
from glassformer.answers.documents.outcome import Outcome, explained, in_lines
from glassformer.answers.expressions import Figure, NotUnderstoodError, Real, Token, agrees, exactly, parse, shown_number, written
from glassformer.answers.mistakes.slips import Slip, pen_slips
from glassformer.answers.verdicts import Verdict

TOTAL_WORDS = frozenset("total totals sum overall altogether product".split())
# A label with one of these names something besides the items.
OTHER_PARTS = frozenset("with including plus bias biases extra without excluding minus except additional roughly about".split())
MOST_ITEMS = 12
MOST_LOOKED_AT = 60
NEAR = Fraction(1, 1000)
LONG_DIGITS = 5
SLIPS = ("digit_wrong", "digits_exchanged")


@dataclass(frozen=True)
class Labelled:
    """A number after a label and a colon, alone on its line."""

    label: tuple[str, ...]
    figure: Figure
    start: int
    end: int

    @property
    def total(self) -> bool:
        return any(word in TOTAL_WORDS for word in self.label)


@dataclass(frozen=True)
class Total:
    """What a total was found to be: the sum (or the product) of earlier results, or one of them again."""

    verdict: Verdict
    items: tuple[Result, ...]
    due: Real
    truth: Real
    slips: tuple[Slip, ...] = ()
    word: str = "add up to"

    @property
    def faulty(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(item.line for item in self.items if item.faulty))

    def outcome(self, figure: Figure) -> Outcome:
        due, true = shown_number(self.due), shown_number(self.truth)
        lines = in_lines([item.line for item in self.items])
        what = f"The number of {lines}" if len(self.items) == 1 else f"The items of {lines} {self.word} it"
        said = f"{what}."
        if self.verdict == "carried":
            said = f"{what}, but the error of {in_lines(self.faulty)} is carried forward; with that put right it is {true}."
        elif self.verdict == "wrong":
            rest = f" With {in_lines(self.faulty)} put right it is {true}." if self.faulty and true != due else ""
            said = f"The items of {lines} {self.word} {due}, not {figure.text}. {self.slips[0].sentence}{rest}"
        findings = tuple(explained(slip.code, slip.sentence, slip.predicted) for slip in self.slips)
        true = true if self.faulty and true != due else ""
        return Outcome(self.verdict, "total", note=said, sources=self.faulty, findings=findings, due=due, corrected=true)


def labelled(tokens: Sequence[Token]) -> Labelled | None:
    """`Total FFN parameters: 4,718,592`, with nothing after it but a remark."""
    colons = [place for place, token in enumerate(tokens) if token.kind == "wall" and token.text == ":"]
    after = [token for token in tokens[colons[-1] + 1 :] if token.kind != "edge"] if colons else []
    while after and after[-1].kind == "stop":
        after.pop()
    figure = figure_of(after)
    if figure is None or any(token.kind in ("comma", "stop", "wall", "relation") for token in after):
        return None
    return Labelled(words_of(tokens[: colons[-1]]), figure, after[0].start, after[-1].end)


def words_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """All words, those of remarks too."""
    texts = [token.text.lower() for token in tokens if token.kind in ("word", "note", "text", "name", "relation")]
    return tuple(word for text in texts for word in text.replace("(", " ").split())


def figure_of(tokens: Sequence[Token]) -> Figure | None:
    """The one number that the tokens are."""
    if not any(token.kind == "number" for token in tokens):
        return None
    try:
        found = written(parse(tokens).tree)
    except NotUnderstoodError:
        return None
    return found if isinstance(found, Figure) else None


def total_of(memory: Memory, figure: Figure, label: Sequence[str], *, loosely: bool) -> Total | None:
    """What earlier results the total is made of; None where none are, and then nothing is said about it."""
    loose = loosely or figure.rounded
    product = "product" in label
    for exact in (True, False):
        for items in _groups(memory):
            found = _matched(items, figure, product=product, loosely=loose and not exact)
            if found is not None:
                return found
        if exact and (again := _again(memory, figure, loosely=loose)) is not None:
            return again
    if loose or any(word in OTHER_PARTS for word in label) or len(str(abs(figure.value.numerator))) < LONG_DIGITS:
        return None
    return next((found for items in _groups(memory) if (found := _slipped(items, figure, product=product)) is not None), None)


def _groups(memory: Memory) -> Iterator[tuple[Result, ...]]:
    """The last two results, the last three, and so on; then the same of totals alone."""
    recent = memory.results[-MOST_LOOKED_AT:]
    for results in (recent, [result for result in recent if result.total]):
        for count in range(2, min(MOST_ITEMS, len(results)) + 1):
            yield tuple(results[-count:])


def _together(items: Sequence[Result], value: Callable[[Result], Fraction], *, product: bool) -> Real:
    values = [value(item) for item in items]
    return exactly(prod(values, start=Fraction(1)) if product else sum(values, start=Fraction(0)))


def _both(items: Sequence[Result], *, product: bool) -> tuple[Real, Real]:
    """What the items make as they were written, and as they should be."""
    due = _together(items, lambda item: item.figure.value, product=product)
    return due, _together(items, lambda item: item.truth.middle, product=product)


def _matched(items: tuple[Result, ...], figure: Figure, *, product: bool, loosely: bool) -> Total | None:
    due, truth = _both(items, product=product)
    word = "multiply to" if product else "add up to"
    if _fits(due, figure, loosely=loosely):
        return Total("carried" if any(item.faulty for item in items) else "right", items, due, truth, word=word)
    return Total("right", items, truth, truth, word=word) if _fits(truth, figure, loosely=loosely) else None


def _fits(value: Real, figure: Figure, *, loosely: bool) -> bool:
    return agrees(value, figure, loosely=True) is not None if loosely else value.low == figure.value


def _again(memory: Memory, figure: Figure, *, loosely: bool) -> Total | None:
    """A result that comes again, exactly or rounded."""
    if len(str(abs(figure.value.numerator)).rstrip("0")) < PLAIN_DIGITS:
        return None
    for result in reversed(memory.results[-MOST_LOOKED_AT:]):
        if _fits(exactly(result.figure.value), figure, loosely=loosely):
            return Total("carried" if result.faulty else "right", (result,), exactly(result.figure.value), result.truth)
    return None


def _slipped(items: tuple[Result, ...], figure: Figure, *, product: bool) -> Total | None:
    """Nearly the sum, and one digit explains it."""
    due, truth = _both(items, product=product)
    if not due.middle or abs(due.middle - figure.value) > NEAR * abs(due.middle):
        return None
    slips = tuple(slip for slip in pen_slips(due, figure) if slip.code in SLIPS)
    return Total("wrong", items, due, truth, slips, "multiply to" if product else "add up to") if slips else None
