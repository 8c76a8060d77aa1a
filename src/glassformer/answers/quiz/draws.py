"""Random draws from a seed: the same numbers on every machine and in every version of Python."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from glassformer.answers.quiz.arithmetic import holds
from glassformer.errors import GlassformerError, shown

MOST_TRIES = 2_000
MOST_CHOICES = 1_000
MOST_DRAWN = 64  # numbers in one drawn vector or matrix

Item = TypeVar("Item")


class Draw:
    """A stream of whole numbers that depends only on its key (SHA-256 in counter mode)."""

    def __init__(self, *key: object) -> None:
        self._key = "\x1f".join(str(part) for part in key).encode()
        self._count = 0

    def below(self, limit: int) -> int:
        """Return a uniform whole number from 0 to limit - 1 (the modulo bias of 64 bits is negligible)."""
        block = hashlib.sha256(self._key + b"\x1f" + str(self._count).encode()).digest()
        self._count += 1
        return int.from_bytes(block[:8], "big") % limit

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items shuffled (Fisher-Yates)."""
        found = list(items)
        for last in range(len(found) - 1, 0, -1):
            other = self.below(last + 1)
            found[last], found[other] = found[other], found[last]
        return found


def parameters(choices: Mapping[str, Any], where: Sequence[str], draw: Draw) -> dict[str, Any]:
    """Draw one value for each parameter, until every condition holds."""
    for _ in range(MOST_TRIES):
        drawn = {name: _drawn(given, draw) for name, given in choices.items()}
        if all(holds(condition, drawn) for condition in where):
            return drawn
    raise GlassformerError(f"no parameters satisfied {' and '.join(where)} in {MOST_TRIES:,} draws.")


def check_choices(name: str, given: Any) -> None:
    """Raise an error unless the choices are a list or a range `{from, to, shape}`."""
    if isinstance(given, Mapping):
        shape = given.get("shape", [])
        whole = [given.get("from"), given.get("to"), *(shape if isinstance(shape, list) else [None])]
        if set(given) - {"from", "to", "shape"} or not all(type(number) is int for number in whole):
            raise GlassformerError(f"parameter {shown(name)}: a range is {{from = -2, to = 2, shape = [3, 2]}}, whole numbers.")
        if given["from"] > given["to"] or any(size < 1 for size in shape) or math.prod(shape[:4]) > MOST_DRAWN or len(shape) > 3:
            raise GlassformerError(f"parameter {shown(name)} = {shown(dict(given))} is an empty or too large range.")
    elif not isinstance(given, list) or not 0 < len(given) <= MOST_CHOICES:
        raise GlassformerError(f"parameter {shown(name)} = {shown(given)}: expected a list of choices, as in [64, 128].")


def _drawn(given: Any, draw: Draw) -> Any:
    if isinstance(given, Mapping):
        low, high = given["from"], given["to"]
        return _array(list(given.get("shape", [])), low, high, draw)
    return draw.one_of(given)


def _array(shape: list[int], low: int, high: int, draw: Draw) -> Any:
    if not shape:
        return low + draw.below(high - low + 1)
    return [_array(shape[1:], low, high, draw) for _ in range(shape[0])]
