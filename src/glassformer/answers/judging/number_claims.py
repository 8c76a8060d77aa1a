"""Claims about numbers whose problem a question states: right, right under a convention, or wrong by a mistake that fits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from glassformer.answers.asked import Answer, Numbers, Value
from glassformer.answers.claimed import Number, Shape, parse_grid
from glassformer.answers.judging.verdict import Diagnosis, Finding
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.problems import check_worked
from glassformer.answers.problems.rules import rewrites
from glassformer.answers.problems.work import Work
from glassformer.answers.questions.given_numbers import given_numbers
from glassformer.answers.questions.given_problem import GivenNumbers
from glassformer.answers.questions.picked import OF_EACH
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.spec import GlassformerError, shown

LOOSE = 4  # in what a claim's rounding allows: two units of the last digit
NEAR = "near what comes out: rounded on the way, it seems"


def judge_numbers(answer: Answer, claim: str) -> Diagnosis:
    """Every number at its own precision. A question of which a part was left out accuses nobody."""
    grid = parse_grid(claim)
    said = Shape(grid.shape, claim)
    if _fits(answer.value, grid.cells, grid.numbers):
        return Diagnosis(answer, said, "right", answer.convention)
    for other in answer.others:
        if other.excuses and _fits(other.value, grid.cells, grid.numbers):
            return Diagnosis(answer, said, "convention", other.convention)
    if findings := worked_findings(answer, claim):
        return Diagnosis(answer, said, "wrong", "", findings, _several(findings))
    if answer.reading != "whole":
        raise GlassformerError(
            f"'{shown(answer.question.text)}': {shown(claim)} is not what comes out here. Put the numbers into a problem file: "
            "glassformer check FILE.toml --claim says where the two part."
        )
    near = _fits(answer.value, grid.cells, tuple(replace(number, room=LOOSE * number.room) for number in grid.numbers))
    return Diagnosis(answer, said, "wrong", "", (), (NEAR if near else "no known mistake gives these numbers",))


def of_each(answer: Answer, claim: str) -> Answer:
    """`the weight of each token`, where all have the same, and one number is claimed: the answer is that one number."""
    value = answer.value
    alike = isinstance(value, Numbers) and len({*value}) == 1 and not isinstance(value[0], Numbers)
    alone = alike and not re.search(r"[\[(,]", claim) and OF_EACH.search(answer.question.text)
    return replace(answer, value=value[0]) if isinstance(value, Numbers) and alone else answer


def worked_findings(answer: Answer, claim: str) -> tuple[Finding, ...]:
    """The mistakes that give exactly these numbers, where the question states a problem; a slip of the pen is none of them."""
    given = given_numbers(answer.question.text) if answer.reading == "whole" else None
    if given is None or given.also:
        return ()
    if given.place is not None:
        return _at_one_place(given, given.place, claim)
    try:
        (judged,) = check_worked(given.document | {"ask": [given.asked]}, {given.asked: claim}).judged
    except GlassformerError:  # what is asked for has no place in a problem file, or the claim has none in it
        return ()
    if judged.verdict == "convention" and given.asked == "scores" and "scale" not in given.document:
        return _not_scaled(given, claim)  # the product is called a score, too, but a scaled one was asked for
    if judged.verdict != "wrong":
        return ()
    return tuple(
        Finding(found.mistakes, found.what, (), _as_told(found.value))
        for found in judged.findings
        if len(found.codes) == 1 and not found.near and found.codes[0] not in _SLIPS
    )


def _not_scaled(given: GivenNumbers, claim: str) -> tuple[Finding, ...]:
    """The dot products given for the scores."""
    unscaled = solve(parse_problem({**given.document, "ask": ["dot"]}))
    (judged,) = check_worked({**given.document, "ask": ["dot"]}, {"dot": claim}).judged
    if not judged.right or judged.convention:
        return ()
    value = _as_told(unscaled.values["dot"])
    return (Finding((mistake("no_scaling"),), ("the dot products were not divided by √d_k",), (), _alone(value)),)


def _alone(value: Any) -> Any:
    return _alone(value[0]) if isinstance(value, tuple) and len(value) == 1 else value


def _at_one_place(given: GivenNumbers, place: int, claim: str) -> tuple[Finding, ...]:
    """The mistake that gives this number in this place: one number tells little, so none is named where two kinds fit."""
    problem = parse_problem(given.document | {"ask": [given.asked]})
    work = Work.of(solve(problem), problem)
    grid = parse_grid(claim)
    own = work.names[given.asked]
    fitting: dict[str, Finding] = {}
    for made in rewrites(work):
        found = made.work.quantity(given.asked) or made.work.quantity(own)
        if found is None or found[1].size <= max(place, 0) or max(found[1].shape, default=0) != found[1].size:
            continue
        value = float(found[1].ravel()[place])
        if len(grid.numbers) == 1 and math.isfinite(value) and grid.numbers[0].allows(value):
            fitting.setdefault(made.code, Finding((mistake(made.code),), (made.what,), (), value))
    return tuple(fitting.values()) if len(fitting) == 1 else ()


# With few digits these fit by accident, as two mistakes at once do: a mistake is named only where it must have been made.
_SLIPS = {"arithmetic_or_rounding", "digits_exchanged", "zero_lost"}


def _several(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    return () if len(findings) == 1 else ("several mistakes give these numbers: which one it was cannot be told from them alone",)


def _as_told(value: Any) -> Any:
    return Numbers(_as_told(part) for part in value) if isinstance(value, list) else value


def _fits(value: Value, cells: tuple[tuple[int, ...], ...], numbers: tuple[Number, ...]) -> bool:
    due = dict(_cells(value))
    return due.keys() == set(cells) and all(number.allows(due[cell]) for cell, number in zip(cells, numbers, strict=True))


def _cells(value: Value | float, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float]]:
    if isinstance(value, Numbers):
        for place, part in enumerate(value):
            yield from _cells(part, (*index, place))
    elif not isinstance(value, tuple):
        yield index, value
