"""Rotary angles scaled for texts longer than those in training: the divisor of the angles of each pair of features."""

from __future__ import annotations

import math
from typing import Protocol

COMPUTED = ("llama3", "yarn")  # rules whose angles are the same at every length; the others depend on the length of the text


class Scaled(Protocol):
    """The fields that describe scaled angles."""

    rotary_scaling: str
    rotary_factor: float
    rotary_slow: float
    rotary_fast: float
    trained_positions: int | None


def pair_divisors(spec: Scaled, base: float, width: int) -> list[float]:
    """Return the divisor of the angle of each pair: 1 for fast pairs, `rotary_factor` for slow ones.

    A pair is fast if it turns more than `rotary_fast` times over `trained_positions`, and slow below `rotary_slow` turns.
    Between these, a share of the angle is kept and the rest is divided: the share grows with the turns (llama3), or falls
    with the number of the pair (yarn).
    """
    kept = _kept_by_turns if spec.rotary_scaling == "llama3" else _kept_by_number
    shares = (min(max(kept(spec, base, width, pair), 0.0), 1.0) for pair in range(width // 2))
    return [1 / (share + (1 - share) / spec.rotary_factor) for share in shares]


def _kept_by_turns(spec: Scaled, base: float, width: int, pair: int) -> float:
    turns = (spec.trained_positions or 1) / (2 * math.pi * math.pow(base, 2 * pair / width))
    return (turns - spec.rotary_slow) / (spec.rotary_fast - spec.rotary_slow)


def _kept_by_number(spec: Scaled, base: float, width: int, pair: int) -> float:
    first, last = ramp(spec, base, width)
    return (last - pair) / (last - first)


def ramp(spec: Scaled, base: float, width: int) -> tuple[float, float]:
    """Return the number of the last fast pair and that of the first slow one, for yarn."""

    def pair_with(turns: float) -> float:
        return width * math.log((spec.trained_positions or 1) / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = max(math.floor(pair_with(spec.rotary_fast)), 0), min(math.ceil(pair_with(spec.rotary_slow)), width - 1)
    return first, last if last != first else first + 0.001
