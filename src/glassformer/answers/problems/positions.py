"""Mistakes about positions: which exponent, which function, where counting starts, degrees, and not adding them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np

from glassformer.answers.mistakes.positions import Table, Wave, waves
from glassformer.answers.problems.work import Instead, Rewrite, Row, Work, redo, rows, unchanged
from glassformer.numbers.by_hand.operations import PositionEntries, PositionTable, Turn
from glassformer.program import Step
from glassformer.program.operations import Add, Scale

Layout: TypeAlias = Literal["interleaved", "halves"]
Pairs: TypeAlias = Literal["neighbours", "halves"]
OTHER_PAIRS: dict[Pairs, Pairs] = {"neighbours": "halves", "halves": "neighbours"}


def table(work: Work) -> Iterator[Rewrite]:
    """The sinusoidal table computed otherwise."""
    for step in work.program.steps:
        if not isinstance(step.operation, PositionTable | PositionEntries):
            continue
        for code, what, wave in waves(step.operation):
            yield Rewrite(code, what, step.name, work.doing(step.name, Instead(_filled(step.operation, wave))))
        other: Layout = "halves" if step.operation.layout == "interleaved" else "interleaved"
        moved = work.doing(step.name, dataclasses.replace(step.operation, layout=other))
        what = "sines and cosines in turn" if other == "interleaved" else "all sines first, then all cosines"
        yield Rewrite("positional_index", what, step.name, moved)


def _filled(asked: Table, wave: Wave) -> Callable[[], np.ndarray]:
    if isinstance(asked, PositionEntries):
        return lambda: np.array([wave(float(position), feature) for position, feature in asked.pairs])
    return lambda: np.array([[wave(position, feature) for feature in range(asked.width)] for position in asked.positions])


def _added(work: Work) -> list[Step]:
    return [step for step in work.steps(Add) if {tensor.name for tensor in step.inputs} & {"pe", "pe_row", "p"}]


not_added = rows(
    Row("positions_forgotten", "the positions were not added", _added, unchanged),
    Row("embedding_forgotten", "the positions alone were given", _added, lambda step: unchanged(step, step.inputs[1])),
    Row("embedding_scale", "the embeddings were not multiplied first", lambda work: work.steps(Scale), unchanged),
)


def _turns(work: Work) -> list[Step]:
    return work.steps(Turn)


def _turned(moved: Callable[[float], float]) -> Callable[[Step], Step]:
    """The same rotation from other positions."""

    def turned(step: Step) -> Step:
        assert isinstance(step.operation, Turn)
        return redo(step, dataclasses.replace(step.operation, positions=tuple(map(moved, step.operation.positions))))

    return turned


def _paired_otherwise(step: Step) -> Step:
    assert isinstance(step.operation, Turn)
    return redo(step, dataclasses.replace(step.operation, pairs=OTHER_PAIRS[step.operation.pairs]))


rotary = rows(
    Row("rotation_direction", "the pairs were turned the other way", _turns, _turned(lambda place: -place)),
    Row("positional_index", "positions were counted from 1", _turns, _turned(lambda place: place + 1)),
    Row("degrees_for_radians", "the angle was taken in degrees", _turns, _turned(math.radians)),
    Row("positional_index", "other features were paired", _turns, _paired_otherwise),
)
