"""What comes of comparing two sides, and the sentences for it."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.answers.documents.result import Kind
from glassformer.answers.documents.sides import Pair
from glassformer.answers.expressions import Real, Value, exactly, plain, shown_number, shown_value, written
from glassformer.answers.expressions.precision import Agreement
from glassformer.answers.expressions.tree import Node, Percent, ungrouped
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.verdicts import Finding, Judged, Verdict
from glassformer.spec.errors import shown

LONGEST = 90
LONGEST_CLAIM = 2_000


@dataclass(frozen=True)
class Outcome:
    """A verdict on two sides, and what it rests on."""

    verdict: Verdict
    kind: Kind = "arithmetic"
    pair: Pair | None = None
    how: Agreement | None = None
    note: str = ""
    sources: tuple[int, ...] = ()  # the lines of the wrong results that it uses
    true: Value | None = None  # with those put right
    findings: tuple[Finding, ...] = ()
    implied: str = ""  # what wrong softmax weights say about the scores
    due: str = ""  # where it is known in words
    corrected: str = ""  # the same with earlier errors put right

    def judged(self) -> Judged:
        return Judged(
            name=_expression(self.pair.left.tree) if self.pair is not None else "",
            claim=claimed(self.pair),
            verdict=self.verdict,
            truth=self.shown_due if self.verdict != "unclear" else None,
            findings=self.findings,
            follows=tuple(f"line {line}" for line in self.sources),
            notes=tuple(_sentences(self)),
        )

    @property
    def shown_due(self) -> str:
        """The value that was due, with the digits of what was written."""
        return self.due or (_like(self.pair.value, self.pair) if self.pair is not None else "")

    @property
    def put_right(self) -> str:
        true, pair = self.true, self.pair
        text = _like(true, pair) if true is not None and pair is not None else self.corrected
        return text if text != self.shown_due else ""


def explained(code: str, what: str, value: object) -> Finding:
    """A wrong number explained by one mistake."""
    return Finding((mistake(code),), (what,), value)


def claimed(pair: Pair | None) -> str:
    """What was written as a result, without LaTeX."""
    if pair is None or pair.claim is None:
        return ""
    text = plain(pair.right.tree).replace("\\,", ",")
    return text if len(text) <= LONGEST_CLAIM else ""


def in_lines(lines: tuple[int, ...] | list[int]) -> str:
    """`lines 3, 4 and 9`."""
    unique = list(dict.fromkeys(lines))
    return f"line {unique[0]}" if len(unique) == 1 else f"lines {', '.join(map(str, unique[:-1]))} and {unique[-1]}"


def sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _expression(tree: Node) -> str:
    """An expression short enough for a sentence."""
    text = plain(tree)
    return text if len(text) <= LONGEST else "the left side"


def _like(value: Value, pair: Pair) -> str:
    """A value in the form of the claim that it stands against."""
    if isinstance(ungrouped(pair.right.tree), Percent) and isinstance(value, Real) and pair.reading.percent == "hundredth":
        return f"{shown_number(value * exactly(100))}%"
    return shown_value(value, pair.claim)


def _sentences(outcome: Outcome) -> list[str]:
    if outcome.kind == "total":
        return [outcome.note]
    found = {"right": _right, "wrong": _wrong, "carried": _carried}.get(outcome.verdict, _unclear)(outcome)
    return [one for one in found if one]


def _right(outcome: Outcome) -> list[str]:
    cut = outcome.how == "cut" and outcome.pair is not None
    said = [f"Cut off, not rounded: it is {shown_value(outcome.pair.value)}."] if cut and outcome.pair else []
    said += [f"The shapes fit: {outcome.due}."] if outcome.kind == "shape" and outcome.due else []
    return [*said, sentence(outcome.note)]


def _wrong(outcome: Outcome) -> list[str]:
    if outcome.pair is None:
        return [f"The shape should be {outcome.due}." if outcome.due else sentence(outcome.note)]
    said = [_contradiction(outcome, outcome.pair), *(what for finding in outcome.findings[:2] for what in finding.what)]
    later = f"With {in_lines(outcome.sources)} put right it is {outcome.put_right}." if outcome.put_right else ""
    return [*said, sentence(outcome.implied), later]


def _contradiction(outcome: Outcome, pair: Pair) -> str:
    """`3 × 4 is 12, not 13.`"""
    left, right = _expression(pair.left.tree), _expression(pair.right.tree)
    if pair.other is not None and written(pair.left.tree) is not None:
        return f"{right} is {shown_value(pair.other, written(pair.left.tree))}, not {left}."
    if pair.other is not None:
        return f"{left} is {outcome.shown_due}, but {right} is {shown_value(pair.other)}."
    due, said = outcome.shown_due, claimed(pair) or "what is written"
    return f"{left} is not {said}." if due == left else f"{left} is {due}, not {said}."


def _carried(outcome: Outcome) -> list[str]:
    rest = f"; with that put right it is {outcome.put_right}" if outcome.put_right else ""
    return [f"Right for the numbers it uses, but the error of {in_lines(outcome.sources)} is carried forward{rest}."]


def _unclear(outcome: Outcome) -> list[str]:
    said = f"Not judged: {shown(outcome.note, limit=160)}." if outcome.note else "Not judged."
    if outcome.pair is None or not outcome.pair.comparable or outcome.pair.claim is None:
        return [said]
    return [said, f"As it stands, {_expression(outcome.pair.left.tree)} is {outcome.shown_due}."]
