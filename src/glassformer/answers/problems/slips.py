"""Slips with the right method: rounded intermediate results, a lost minus sign, a result written down wrongly."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from glassformer.answers.mistakes.slips import Slip, list_slips
from glassformer.answers.problems.figures import HAIR, Figures
from glassformer.answers.problems.work import Instead, Rewrite, Work, redo
from glassformer.expressions import Figure
from glassformer.expressions.exact import about
from glassformer.numbers.by_hand.entries import place as placed
from glassformer.numbers.by_hand.rounding import rounded, rounded_values
from glassformer.program import Step
from glassformer.program.axes import Array

PLACES = {1: "1 decimal", 2: "2 decimals", 3: "3 decimals"}
MOST_CELLS = 600  # the largest program in which every cell is rounded
MOST_SIGNS = 48
DIGITS = {
    "sign_slip": 2,
    "decimal_point": 2,
    "digits_exchanged": 3,
    "entries_exchanged": 2,
}  # the fewest digits that are evidence


def rounding(work: Work, quantity: str) -> Iterator[Rewrite]:
    """Yield works with all intermediate results rounded, or only those of one step."""
    before = work.before(work.names[quantity])
    steps = [step for step in work.program.steps if step.name in before]
    if not steps or sum(step.output.size for step in steps) > MOST_CELLS:
        return
    for places, words in PLACES.items():
        by_hand = dataclasses.replace(work, pristine=False)
        try:
            by_hand.__dict__["values"] = rounded_values(work.program, work.given, places)
        except (ValueError, OverflowError, NotImplementedError):
            continue
        yield Rewrite("arithmetic_or_rounding", f"every intermediate result was rounded to {words}", steps[0].name, by_hand)
    for step in steps[:-1]:
        for places, words in PLACES.items():
            what = f"{step.name} was rounded to {words} before it was used"
            made = work.redone(_then_rounded(step, places))
            yield Rewrite("arithmetic_or_rounding", what, step.name, made)


def _then_rounded(step: Step, places: int) -> Step:
    by_hand = np.vectorize(lambda number: rounded(float(number), places), otypes=[float])
    return redo(step, Instead(lambda *values: by_hand(step.operation.evaluate(step.inputs, step.output, values))))


def signs(work: Work, quantity: str) -> Iterator[Rewrite]:
    """Yield works with one lost minus sign, in a given number or in an intermediate result."""
    before = work.before(work.names[quantity]) - {work.names[quantity]}
    values = {name: value for name, value in work.values.items() if name in before and value.dtype.kind == "f"}
    cells = [
        (name, tuple(map(int, at))) for name, value in values.items() for at in np.argwhere((value < 0) & np.isfinite(value))
    ]
    for name, at in cells if len(cells) <= MOST_SIGNS else ():
        value = values[name].astype(float).copy()
        value[at] = -value[at]
        made = work.giving({name: value}) if name in work.given else work.supposing({name: value})
        step = name if name in work.program.step_of else work.reads(name)[0].name
        yield Rewrite("sign_slip", f"a minus sign was lost: {placed(name, at)}", step, made)


def written_slips(figures: Figures, truth: Array) -> list[Slip]:
    """Return slips in a result: in its only wrong number, two swapped numbers in a row or column, or a power of ten."""
    lined = figures.lined_up(truth)
    if lined is None or not np.isfinite(lined).all():
        return []
    at = list(np.ndindex(*lined.shape))
    wrong = [number for number, off in enumerate((figures.gaps(lined) > figures.rooms + HAIR).ravel()) if off]
    if len(wrong) == 2 and sum(a != b for a, b in zip(at[wrong[0]], at[wrong[1]], strict=True)) > 1:
        return []  # across rows and columns: a transposed matrix, not a slip
    values = [about(Fraction(float(number)), Fraction(HAIR)) for number in lined.ravel()]
    pairs = zip(figures.values.ravel(), figures.units.ravel(), figures.texts, strict=True)
    claimed = [_figure(float(number), float(unit), text) for number, unit, text in pairs]
    found = list_slips(values, claimed, wrong, lambda number: placed("", at[number]).lstrip(", ") or "the number")
    digits = min((len(str(int(abs(claimed[number].value / claimed[number].unit)))) for number in wrong), default=0)
    return [slip for slip in found if digits >= DIGITS.get(slip.code, math.inf)]


def _figure(number: float, unit: float, text: str) -> Figure:
    return Figure(Fraction(repr(number)), Fraction(10) ** round(math.log10(unit)) if unit else Fraction(1), text=text)
