"""Claims about a vector or a matrix that a question gives the numbers for: right, right under a convention, or not judged."""

from __future__ import annotations

from collections.abc import Iterator

from glassformer.answers.judging.claimed import Number, Shape, parse_grid
from glassformer.answers.judging.verdict import Diagnosis
from glassformer.answers.quantities import Answer, Numbers, Value
from glassformer.spec import GlassformerError, shown


def judge_numbers(answer: Answer, claim: str) -> Diagnosis:
    """Every number at its own precision. What does not fit is left to the problem file, where every slip is looked for."""
    grid = parse_grid(claim)
    said = Shape(grid.shape, claim)
    if _fits(answer.value, grid.cells, grid.numbers):
        return Diagnosis(answer, said, "right", answer.convention)
    for other in answer.others:
        if other.excuses and _fits(other.value, grid.cells, grid.numbers):
            return Diagnosis(answer, said, "convention", other.convention)
    raise GlassformerError(
        f"'{shown(answer.question.text)}': {shown(claim)} is not what comes out here. Put the numbers into a problem file: "
        "glassformer check FILE.toml --claim says where the two part."
    )


def _fits(value: Value, cells: tuple[tuple[int, ...], ...], numbers: tuple[Number, ...]) -> bool:
    due = dict(_cells(value))
    return due.keys() == set(cells) and all(number.allows(due[cell]) for cell, number in zip(cells, numbers, strict=True))


def _cells(value: Value | float, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float]]:
    if isinstance(value, Numbers):
        for place, part in enumerate(value):
            yield from _cells(part, (*index, place))
    elif not isinstance(value, tuple):
        yield index, value
