"""What is said to the reader about each finding, in one or two plain sentences."""

from __future__ import annotations

from glassformer.answers.documents.outcome import Outcome
from glassformer.answers.documents.sides import Pair
from glassformer.answers.expressions import Real, Value, exactly, plain, shown_number, shown_value, written
from glassformer.answers.expressions.tree import Node, Percent, ungrouped
from glassformer.spec.errors import shown

LONGEST = 90
LONGEST_CLAIM = 2_000


def expression(tree: Node) -> str:
    """An expression short enough for a sentence."""
    text = plain(tree)
    return text if len(text) <= LONGEST else "the left side"


def claimed(pair: Pair | None) -> str:
    """What was written as a result, without LaTeX."""
    if pair is None or pair.claim is None:
        return ""
    return plain(pair.right.tree).replace("\\,", ",") if len(plain(pair.right.tree)) <= LONGEST_CLAIM else ""


def due_of(outcome: Outcome) -> str:
    """The value that was due, with the digits of what was written."""
    if outcome.due or outcome.pair is None:
        return outcome.due
    return _like(outcome.pair.value, outcome.pair)


def _like(value: Value, pair: Pair) -> str:
    """A value in the form of the claim that it stands against."""
    if isinstance(ungrouped(pair.right.tree), Percent) and isinstance(value, Real) and pair.reading.percent == "hundredth":
        return f"{shown_number(value * exactly(100))}%"
    return shown_value(value, pair.claim)


def true_of(outcome: Outcome) -> str:
    if outcome.true is None or outcome.pair is None:
        return ""
    text = _like(outcome.true, outcome.pair)
    return text if text != due_of(outcome) else ""


def sentence(outcome: Outcome) -> str:
    match outcome.verdict:
        case "right":
            return _right(outcome)
        case "wrong":
            return _wrong(outcome)
        case "carried":
            return _carried(outcome)
        case "nothing":
            return f"{outcome.note[:1].upper()}{outcome.note[1:]}." if outcome.note else "Nothing to work out."
        case _:
            return _unclear(outcome)


def _right(outcome: Outcome) -> str:
    notes = [f"{outcome.note[0].upper()}{outcome.note[1:]}."] if outcome.note else []
    if outcome.how == "cut" and outcome.pair is not None:
        notes.insert(0, f"Cut off, not rounded: it is {shown_value(outcome.pair.value)}.")
    if outcome.kind == "shape" and outcome.due:
        notes.insert(0, f"The shapes fit: {outcome.due}.")
    return " ".join(notes)


def _wrong(outcome: Outcome) -> str:
    if outcome.kind == "shape" or outcome.pair is None:
        return f"The shape should be {outcome.due}." if outcome.due else f"{outcome.note[0].upper()}{outcome.note[1:]}."
    said = [_contradiction(outcome, outcome.pair)]
    said += [slip.sentence for slip in outcome.slips[:2]]
    if outcome.implied:
        said.append(f"{outcome.implied[0].upper()}{outcome.implied[1:]}.")
    if outcome.sources and true_of(outcome):
        said.append(f"With {_lines(outcome.sources)} put right it is {true_of(outcome)}.")
    return " ".join(said)


def _contradiction(outcome: Outcome, pair: Pair) -> str:
    """`3 × 4 is 12, not 13.`"""
    left, right = expression(pair.left.tree), expression(pair.right.tree)
    if pair.other is not None and written(pair.left.tree) is not None:
        return f"{right} is {shown_value(pair.other, written(pair.left.tree))}, not {left}."
    if pair.other is not None:
        return f"{left} is {due_of(outcome)}, but {right} is {shown_value(pair.other)}."
    due = due_of(outcome)
    written_as = claimed(pair) or "what is written"
    return f"{left} is not {written_as}." if due == left else f"{left} is {due}, not {written_as}."


def _carried(outcome: Outcome) -> str:
    true = true_of(outcome)
    rest = f"; with that put right it is {true}" if true else ""
    return f"Right for the numbers it uses, but the error of {_lines(outcome.sources)} is carried forward{rest}."


def _unclear(outcome: Outcome) -> str:
    note = shown(outcome.note, limit=160)
    said = f"Not judged: {note}." if note else "Not judged."
    if outcome.pair is not None and outcome.pair.comparable and outcome.pair.claim is not None:
        return f"{said} As it stands, {expression(outcome.pair.left.tree)} is {due_of(outcome)}."
    return said


def _lines(lines: tuple[int, ...]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
