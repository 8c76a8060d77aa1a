"""The search for mistakes that give exactly the claimed value: alone, under a convention, or in pairs.

It works on anything that mistakes rewrite: the pieces of a parameter count, or the program of a worked problem. For a count:

    ways = Ways(pieces, rules, lambda made: made.pieces, totals_by_convention)
    plain = [one for one in ways.singles() if not one.reading]
    found = search(claim, [[Tried(plain)], [Tried(ways.singles(), 0.02)], [Tried(ways.pairs(), 0.02)]])
    found.hits[0].codes, found.hits[0].what, found.hits[0].reading, found.hits[0].value

A rule takes the pieces and yields mistakes, each with a code, a description, and the rewritten pieces.
`totals_by_convention` yields (what is left out, total) for pieces. `counted.py` has the complete search.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar


class Made(Protocol):
    """A mistake: its code and what was done. Each rule adds its own rewritten object."""

    @property
    def code(self) -> str: ...

    @property
    def what(self) -> str: ...


Thing = TypeVar("Thing")
Mistaken = TypeVar("Mistaken", bound=Made)
Value = TypeVar("Value")
Taken = TypeVar("Taken", contravariant=True)


class Claim(Protocol[Taken]):
    """A claimed value, at its own precision."""

    def allows(self, value: Taken) -> bool: ...

    def nearly(self, value: Taken) -> bool: ...

    def expected_hits(self, values: Sequence[Taken]) -> float:
        """Return how many of these values are expected to match by chance."""


@dataclass(frozen=True, eq=False)
class Candidate(Generic[Mistaken, Value]):
    """A value that mistakes give; `reading` is the convention or the layout."""

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
    """All mistakes that can be made with an object. One that does not change the value in a reading is skipped there."""

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
        """Yield pairs of mistakes of different rules, the second applied after the first; each changes the value."""
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
    """Candidates tried together, and the expected number of chance matches above which none of them is named."""

    candidates: Iterable[Candidate[Mistaken, Value]]
    most: float = math.inf
    among: Sequence[Candidate[Mistaken, Value]] | None = None  # the candidates for estimating chance matches, if not these
    near: bool = False  # whether they only need to be close to the claim
    lesser: bool = False  # whether to name them together with another hit even if they may match by chance


@dataclass(frozen=True, eq=False)
class Found(Generic[Mistaken, Value]):
    """The candidates that match (`hits`), or those that may match by chance (`untold`)."""

    hits: tuple[Candidate[Mistaken, Value], ...] = ()
    untold: tuple[Candidate[Mistaken, Value], ...] = ()


def search(claim: Claim[Value], stages: Iterable[Sequence[Tried[Mistaken, Value]]]) -> Found[Mistaken, Value]:
    """Return the hits of the first stage that has any. Pass a generator: later stages are larger and rarely needed."""
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
