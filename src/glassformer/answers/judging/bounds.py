"""Claims that only bound a quantity, `more than 100 million`, `at most 512`: right where the truth lies on that side."""

from __future__ import annotations

import re
from fractions import Fraction

from glassformer.answers.asked import Answer, Value
from glassformer.answers.claimed import Number
from glassformer.answers.judging.meanings import numbers_meant
from glassformer.answers.judging.verdict import Diagnosis
from glassformer.program import Program

BOUND = (
    r"(?:(?:more|greater|larger|higher|less|fewer|smaller|lower) than|over|above|at least|at most|under|below|other than|[<>≥≤])"
)
_BOUND = re.compile(rf"\s*(?:(?:well|slightly|just|far|somewhat) )?({BOUND})\s*(.+)", re.I | re.S)
LOOSE = 100  # a rounded bound is meant to a hundredth of itself
_UPPER = ("less", "fewer", "smaller", "lower", "at most", "under", "below", "<", "≤")
_MEETS = ("at", "≥", "≤")  # the bound itself is meant, too


def judge_bound(answer: Answer, claim: str, program: Program) -> Diagnosis | None:
    """The verdict on a claim that bounds; None where it is none. A convention that keeps it excuses it."""
    said = _BOUND.fullmatch(claim)
    if said is None or isinstance(answer.value, tuple):
        return None
    side, number = said[1].lower(), numbers_meant(said[2], program, answer.question.unit)[0]
    claimed = Number(number.value, number.room, claim)
    if _kept(answer.value, side, number):
        return Diagnosis(answer, claimed, "right", answer.convention)
    upper = side.startswith(_UPPER)  # whoever leaves something out stays below any bound: that excuses nothing
    usual = [other for other in answer.others if other.excuses and other.convention.count(",") < 2 and not upper]
    kept = [other for other in usual if _kept(other.value, side, number)]
    if kept:
        return Diagnosis(answer, claimed, "convention", kept[0].convention)
    return Diagnosis(answer, claimed, "wrong", notes=("no known mistake gives this bound",))


def _kept(value: Value, side: str, number: Number) -> bool:
    if isinstance(value, tuple):
        return False
    near = abs(Fraction(value) - number.value) <= min(number.room, number.value / LOOSE)
    if number.room and near:  # `over 110M` of 109,482,240
        return True
    if side == "other than":
        return value != number.value
    if value == number.value:
        return side.startswith(_MEETS)
    return (value < number.value) == side.startswith(_UPPER)
