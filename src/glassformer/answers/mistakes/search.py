"""The one search for mistakes: which of them, alone, under a convention or in pairs, give exactly what was claimed.

It works on anything that mistakes rewrite: the pieces of a parameter count, the program of a worked problem. For a count:

    ways = Ways(pieces, rules, lambda made: made.pieces, totals_by_convention)
    plain = [one for one in ways.singles() if not one.reading]
    found = search(claim, [[Tried(plain)], [Tried(ways.singles(), 0.02)], [Tried(ways.pairs(), 0.02)]])
    found.hits[0].codes, found.hits[0].what, found.hits[0].reading, found.hits[0].value

A rule takes the pieces and yields mistakes, each with a code, what was done, and the pieces that it leaves.
`totals_by_convention` gives (what is left out, total) for pieces. `counted.py` is this search in full.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar


class Made(Protocol):
    """A mistake made: its code, and what exactly was done. What it leaves behind is the rule's own matter."""

    @property
    def code(self) -> str: ...

    @property
    def what(self) -> str: ...


Thing = TypeVar("Thing")
Mistaken = TypeVar("Mistaken", bound=Made)
Value = TypeVar("Value")
Taken = TypeVar("Taken", contravariant=True)


class Claim(Protocol[Taken]):
    """What was claimed, at its own precision."""

    def allows(self, value: Taken) -> bool: ...

    def nearly(self, value: Taken) -> bool: ...

    def expected_hits(self, values: Sequence[Taken]) -> float:
        """How many of these values are expected to fit by accident."""


@dataclass(frozen=True, eq=False)
class Candidate(Generic[Mistaken, Value]):
    """A value that mistakes give; `reading`: under which convention or in which layout."""

    made: tuple[Mistaken, ...]
    reading: Any
    value: Value
    near: bool = False

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(one.code for one in self.made)

    @property
    def what(self) -> tuple[str, ...]:
        return tuple(one.what for one in self.made)


@dataclass(frozen=True, eq=False)
class Ways(Generic[Thing, Mistaken, Value]):
    """All that can be done wrongly with a thing. A mistake that changes no value in a reading is none there."""

    thing: Thing
    rules: Sequence[Callable[[Thing], Iterable[Mistaken]]]
    leaves: Callable[[Mistaken], Thing]
    values: Callable[[Thing], Iterable[tuple[Any, Value]]]  # (reading, value), the plain reading first
    same: Callable[[Value, Value], bool] = operator.eq

    def singles(self) -> Iterator[Candidate[Mistaken, Value]]:
        right = dict(self.values(self.thing))
        for rule in self.rules:
            for made in rule(self.thing):
                yield from self._changed((made,), right)

    def pairs(self) -> Iterator[Candidate[Mistaken, Value]]:
        """Two mistakes of different rules, the second made in what the first leaves; each of them changes the value."""
        right = dict(self.values(self.thing))
        for place, rule in enumerate(self.rules, start=1):
            for first in rule(self.thing):
                between = {one.reading: one.value for one in self._changed((first,), right)}
                for later in self.rules[place:] if between else ():
                    for second in later(self.leaves(first)):
                        both = self._changed((first, second), right, between)
                        yield from (one for one in both if one.reading in between)

    def _changed(self, made: tuple[Mistaken, ...], *before: dict[Any, Value]) -> Iterator[Candidate[Mistaken, Value]]:
        for reading, value in self.values(self.leaves(made[-1])):
            if not any(reading in known and self.same(value, known[reading]) for known in before):
                yield Candidate(made, reading, value)


@dataclass(frozen=True, eq=False)
class Tried(Generic[Mistaken, Value]):
    """Candidates tried together, and the expected number of accidental hits above which none of them is named."""

    candidates: Iterable[Candidate[Mistaken, Value]]
    most: float = math.inf
    among: Sequence[Candidate[Mistaken, Value]] | None = None  # what the accidental hits are expected among, if not these
    near: bool = False  # they need only be close to the claim
    lesser: bool = False  # named beside a hit even where they may fit by accident


@dataclass(frozen=True, eq=False)
class Found(Generic[Mistaken, Value]):
    """The candidates that fit; or those that fit, and may do so by accident."""

    hits: tuple[Candidate[Mistaken, Value], ...] = ()
    untold: tuple[Candidate[Mistaken, Value], ...] = ()


def search(claim: Claim[Value], stages: Iterable[Sequence[Tried[Mistaken, Value]]]) -> Found[Mistaken, Value]:
    """The hits of the first stage that has any. Stages are best given by a generator: later ones are larger and rarely needed."""
    untold: list[Candidate[Mistaken, Value]] = []
    for stage in stages:
        hits: list[Candidate[Mistaken, Value]] = []
        for tried in stage:
            candidates = list(tried.candidates)
            fits = claim.nearly if tried.near else claim.allows
            fitting = [replace(one, near=True) if tried.near else one for one in candidates if fits(one.value)]
            if not fitting:
                continue
            among = candidates if tried.among is None else tried.among
            told = (tried.lesser and hits) or tried.most == math.inf
            if told or claim.expected_hits([one.value for one in among]) <= tried.most:
                hits += fitting
            else:
                untold += fitting
        if hits:
            return Found(tuple(hits))
    return Found((), tuple(untold))
