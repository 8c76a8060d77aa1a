"""Stateless random numbers: pure functions of a seed, a purpose and integers, stable across NumPy versions."""

from __future__ import annotations

import zlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def bits(seed: int, purpose: str, *keys: Any) -> Integers:
    """Return 64 random bits for each combination of the keys, which are integers or broadcastable integer arrays.

    `bits(seed, "order", epoch, ids)` gives one number per sample; another purpose gives independent numbers.
    """
    state = _mixed(np.array([seed], dtype=np.uint64))
    for key in (zlib.crc32(purpose.encode()), *keys):
        state = _mixed(state ^ _mixed(np.atleast_1d(np.asarray(key)).astype(np.uint64)))
    return state


def uniform(seed: int, purpose: str, *keys: Any) -> NDArray[np.float64]:
    """Return floats in [0, 1)."""
    return (bits(seed, purpose, *keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(limit: int, seed: int, purpose: str, *keys: Any) -> NDArray[np.int64]:
    """Return integers in [0, limit)."""
    return (bits(seed, purpose, *keys) % np.uint64(limit)).astype(np.int64)


def shuffled(count: int, seed: int, purpose: str, *keys: Any) -> NDArray[np.int64]:
    """Return the numbers 0 … count − 1 in random order."""
    return np.argsort(bits(seed, purpose, *keys, np.arange(count)), kind="stable")


def _mixed(z: Integers) -> Integers:
    """One step of SplitMix64 (Steele, Lea and Flood 2014): counter, then finalizer."""
    z = z + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
