"""Mistakes in the sinusoidal position table: wrong exponent, wrong function, counting from 1, degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from glassformer.numbers.by_hand.operations import PositionEntries, PositionTable

Table: TypeAlias = "PositionTable | PositionEntries"
Wave: TypeAlias = Callable[[float, int], float]  # position and feature -> the number in the table


def waves(asked: Table) -> Iterator[tuple[str, str, Wave]]:
    """Yield the mistakes in the table: a code, what was done, and the function that gives the wrong number."""

    def angle(position: float, exponent: float) -> float:
        return position / float(asked.base ** (exponent / asked.width))

    def function(feature: int, *, exchanged: bool = False) -> Callable[[float], float]:
        sine = (asked.wave(0.0, feature)[0] == "sin") != exchanged
        return math.sin if sine else math.cos

    def right(position: float, feature: int) -> float:
        return asked.wave(position, feature)[1]

    def right_angle(position: float, feature: int) -> float:
        return angle(position, 2 * (feature // 2))

    code = "positional_index"
    yield code, "the index of the feature was used as the index i of the pair", lambda p, f: function(f)(angle(p, 2 * f))
    yield code, "positions were counted from 1", lambda p, f: function(f)(right(p + 1, f))
    yield code, "sine and cosine were swapped", lambda p, f: function(f, exchanged=True)(right(p, f))
    if asked.layout == "interleaved":
        yield code, "the exponent was i/d, not 2i/d", lambda p, f: function(f)(angle(p, f // 2))
        what = "the exponent was the index of the feature over d, (2i+1)/d for the cosines"
        yield code, what, lambda p, f: function(f)(angle(p, f))
        yield code, "a sine was taken in every feature, with the index of the feature over d", lambda p, f: math.sin(angle(p, f))
        yield code, "a sine was taken in every feature", lambda p, f: math.sin(right_angle(p, f))
        yield code, "pairs were counted from 1", lambda p, f: function(f)(angle(p, 2 * (f // 2) + 2))
    yield code, "the position was multiplied by the power instead of divided", lambda p, f: function(f)(angle(p, -2 * (f // 2)))
    yield "degrees_for_radians", "the angle was taken in degrees", lambda p, f: function(f)(math.radians(right(p, f)))
