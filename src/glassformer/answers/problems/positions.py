"""Mistakes about positions: which exponent, which function, where counting starts, degrees, and not adding them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np

from glassformer.answers.mistakes.positions import Table, Wave, waves
from glassformer.answers.problems.work import SAME, Instead, Rewrite, Work
from glassformer.numbers.by_hand.operations import PositionEntries, PositionTable, Turn
from glassformer.program import Step
from glassformer.program.operations import Add, Scale

Layout: TypeAlias = Literal["interleaved", "halves"]


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


def not_added(work: Work) -> Iterator[Rewrite]:
    """Positions left out, or given alone; the embedding's factor left out."""
    for step in work.steps(Add):
        if {tensor.name for tensor in step.inputs} & {"pe", "pe_row", "p"}:
            what = "the positions were not added"
            yield Rewrite("positions_forgotten", what, step.name, work.doing(step.name, SAME, step.inputs[0]))
            alone = work.doing(step.name, SAME, step.inputs[1])
            yield Rewrite("embedding_forgotten", "the positions alone were given", step.name, alone)
    for step in work.steps(Scale):
        made = work.doing(step.name, SAME)
        yield Rewrite("embedding_scale", "the embeddings were not multiplied first", step.name, made)


def rotary(work: Work) -> Iterator[Rewrite]:
    """Turned the other way, from position 1, or by degrees."""
    for step in work.steps(Turn):
        asked = step.operation
        assert isinstance(asked, Turn)
        yield Rewrite("rotation_direction", "the pairs were turned the other way", step.name, _turning(work, step, lambda p: -p))
        yield Rewrite("positional_index", "positions were counted from 1", step.name, _turning(work, step, lambda p: p + 1))
        yield Rewrite("degrees_for_radians", "the angle was taken in degrees", step.name, _turning(work, step, math.radians))
        other: Literal["halves", "neighbours"] = "halves" if asked.pairs == "neighbours" else "neighbours"
        made = work.doing(step.name, dataclasses.replace(asked, pairs=other))
        yield Rewrite("positional_index", f"other features were paired ({other})", step.name, made)


def _turning(work: Work, step: Step, moved: Callable[[float], float]) -> Work:
    asked = step.operation
    assert isinstance(asked, Turn)
    return work.doing(step.name, dataclasses.replace(asked, positions=tuple(moved(place) for place in asked.positions)))
