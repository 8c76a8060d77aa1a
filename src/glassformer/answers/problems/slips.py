"""Slips with a right method: rounding on the way, a minus lost, digits exchanged, a decimal point moved."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from glassformer.answers.problems.figures import Figures
from glassformer.answers.problems.fitting import fitted, gaps, lined_up
from glassformer.answers.problems.work import Instead, Rewrite, Work
from glassformer.numbers.by_hand.entries import place as placed
from glassformer.numbers.by_hand.rounding import rounded, rounded_values
from glassformer.program import Step
from glassformer.program.axes import Array

PLACES = (1, 2, 3)
MOST_CELLS = 600  # of a program whose every cell is rounded
MOST_SIGNS = 48


def rounding(work: Work, quantity: str) -> Iterator[Rewrite]:
    """Every intermediate rounded to few places before it is used; or those of one step."""
    name = work.names[quantity]
    steps = [step for step in work.program.steps if name in work.after([step.name]) or step.name == name]
    if not steps or sum(step.output.size for step in steps) > MOST_CELLS:
        return
    code = "arithmetic_or_rounding"
    for places in PLACES:
        work_of_hand = dataclasses.replace(work, pristine=False)
        try:
            work_of_hand.__dict__["values"] = rounded_values(work.program, work.given, places)
        except (ValueError, OverflowError, NotImplementedError):
            continue
        what = f"every number on the way was rounded to {_places(places)}"
        yield Rewrite(code, what, steps[0].name, work_of_hand)
    for step in steps[:-1]:
        for places in PLACES:
            what = f"the numbers of {step.name} were rounded to {_places(places)} before they were used"
            yield Rewrite(code, what, step.name, work.doing(step.name, _then_rounded(step, places)))


def _places(number: int) -> str:
    return f"{number} place{'s' if number > 1 else ''}"


def _then_rounded(step: Step, places: int) -> Instead:
    by_hand = np.vectorize(lambda number: rounded(float(number), places), otypes=[float])
    return Instead(lambda *values: by_hand(step.operation.evaluate(step.inputs, step.output, values)))


def signs(work: Work, quantity: str) -> Iterator[Rewrite]:
    """One minus lost on the way, in what is given or in a result."""
    name = work.names[quantity]
    before = [tensor for tensor in work.values if name in work.after([tensor])]
    cells = [(tensor, tuple(map(int, where))) for tensor in before for where in np.argwhere(_negative(work.values[tensor]))]
    if len(cells) > MOST_SIGNS:
        return
    for tensor, where in cells:
        value = work.values[tensor].astype(float).copy()
        value[where] = -value[where]
        made = work.giving({tensor: value}) if tensor in work.given else work.supposing({tensor: value})
        what = f"a minus was lost: {placed(tensor, where)}"
        own = tensor if tensor in work.program.step_of else next(step.name for step in work.reads(tensor))
        yield Rewrite("sign_slip", what, own, made)


def _negative(value: Array) -> Array:
    return np.asarray((value < 0) & np.isfinite(value)) if value.dtype.kind == "f" else np.zeros(value.shape, dtype=bool)


class Slip(NamedTuple):
    """A slip in writing the result down."""

    code: str
    what: str


def written_slips(figures: Figures, truth: Array) -> Iterator[Slip]:
    """Slips in one number of a result whose other numbers are right, or in a factor of ten throughout."""
    lined = lined_up(figures, truth)
    if lined is None or not np.isfinite(lined).all():
        return
    wrong = [tuple(int(i) for i in where) for where in np.argwhere(gaps(figures, lined) > figures.rooms + 1e-9)]
    if len(wrong) == 1:
        yield from _one_number(figures, lined, wrong[0])
    elif len(wrong) == 2 and _exchanged(figures, lined, wrong):
        yield Slip("entries_exchanged", f"{_where(wrong[0])} and {_where(wrong[1])} changed places")
    if len(wrong) == lined.size > 1:
        for power in (-3, -2, -1, 1, 2, 3):
            if fitted(figures, lined * 10.0**power) == "exact" and np.abs(figures.values).max() > 10 * figures.units.max():
                yield Slip("decimal_point", "every number is off by the same power of ten")


def _one_number(figures: Figures, truth: Array, where: tuple[int, ...]) -> Iterator[Slip]:
    claimed, right = float(figures.values[where]), float(truth[where])
    unit, room = float(figures.units[where]), float(figures.rooms[where]) + 1e-9
    decimals = round(-np.log10(unit)) if unit else 0
    said, due = (f"{abs(number):.{max(decimals, 0)}f}" for number in (claimed, right))
    place = f" in {_where(where)}" if figures.values.size > 1 else ""
    digits = len(due.replace(".", "").lstrip("0"))
    if abs(claimed + right) <= room and digits > 1:  # one digit alone tells nothing
        yield Slip("sign_slip", f"the sign was lost{place}: {_number(claimed)} for {_number(right)}")
    if digits > 2 and (claimed < 0) == (right < 0) and said in _swapped(due):
        yield Slip("digits_exchanged", f"{_number(claimed)} for {due if right >= 0 else f'−{due}'}{place}")
    if digits > 1 and any(abs(claimed - right * 10.0**power) <= room for power in (-2, -1, 1, 2)) and abs(claimed) > 5 * unit:
        yield Slip("decimal_point", f"the decimal point slipped{place}: {_number(claimed)} for {_number(right)}")


def _swapped(text: str) -> set[str]:
    """The text with two neighbouring digits exchanged, wherever the point stands."""
    places = [number for number, sign in enumerate(text) if sign != "."]
    found = set()
    for one, two in pairwise(places):
        signs_of = list(text)
        signs_of[one], signs_of[two] = signs_of[two], signs_of[one]
        found.add("".join(signs_of))
    return found - {text}


def _exchanged(figures: Figures, truth: Array, wrong: list[tuple[int, ...]]) -> bool:
    one, two = wrong
    same_line = sum(a != b for a, b in zip(one, two, strict=True)) == 1
    if not same_line or min(abs(float(truth[one])), abs(float(truth[two]))) < 10 * float(figures.units.max()):
        return False
    crossed = truth.copy()
    crossed[one], crossed[two] = truth[two], truth[one]
    return fitted(figures, crossed) == "exact"


def _where(where: tuple[int, ...]) -> str:
    return placed("", where).lstrip(", ") or "the number"


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")
