"""Mistakes in position encodings: wrong exponent or function, counting from 1, degrees, positions not added."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np

from glassformer.answers.mistakes.positions import Table, Wave, waves
from glassformer.answers.problems.work import Instead, Rewrite, Work, at, having, redo, rows, unchanged
from glassformer.numbers.by_hand.operations import PositionEntries, PositionTable, Turn
from glassformer.program import Step
from glassformer.program.axes import Array
from glassformer.program.operations import Add, Scale


def table(work: Work) -> Iterator[Rewrite]:
    """Yield the sinusoidal table computed wrongly."""
    for step in work.program.steps:
        asked = step.operation
        if not isinstance(asked, PositionTable | PositionEntries):
            continue
        for code, what, wave in waves(asked):
            yield work.wrong(code, what, redo(step, Instead(_filled(asked, wave))))
        if asked.layout == "interleaved":
            moved = redo(step, dataclasses.replace(asked, layout="halves"))
            yield work.wrong("positional_index", "all sines first, then all cosines", moved)
        else:
            moved = redo(step, dataclasses.replace(asked, layout="interleaved"))
            yield work.wrong("positional_index", "sines and cosines alternating", moved)


def _filled(asked: Table, wave: Wave) -> Callable[[], Array]:
    if isinstance(asked, PositionEntries):
        return lambda: np.array([wave(float(position), feature) for position, feature in asked.pairs])
    return lambda: np.array([[wave(position, feature) for feature in range(asked.width)] for position in asked.positions])


def _added(work: Work) -> list[Step]:
    return [step for step in work.steps(Add) if {tensor.name for tensor in step.inputs} & {"pe", "pe_row", "p"}]


def _turned(moved: Callable[[float], float]) -> Callable[[Step], Step]:
    """Return a replacement with the same rotation at other positions."""

    def turned(step: Step) -> Step:
        assert isinstance(step.operation, Turn)
        return redo(step, dataclasses.replace(step.operation, positions=tuple(map(moved, step.operation.positions))))

    return turned


def _paired_otherwise(step: Step) -> Step:
    assert isinstance(step.operation, Turn)
    return redo(step, dataclasses.replace(step.operation, pairs="neighbours" if step.operation.pairs == "halves" else "halves"))


not_added = rows(
    at(
        _added,
        ("positions_forgotten", "the positions were not added", unchanged),
        ("embedding_forgotten", "only the positions were given", lambda step: unchanged(step, step.inputs[1])),
    ),
    at(having(Scale), ("embedding_scale", "the embeddings were not scaled", unchanged)),
)
rotary = at(
    having(Turn),
    ("rotation_direction", "the pairs were rotated in the other direction", _turned(lambda place: -place)),
    ("positional_index", "positions were counted from 1", _turned(lambda place: place + 1)),
    ("degrees_for_radians", "the angle was taken in degrees", _turned(math.radians)),
    ("positional_index", "other features were paired", _paired_otherwise),
)
