"""A chain of equalities, `a = b ≈ c`, and formulas that wait for the values of their symbols."""

from __future__ import annotations

from dataclasses import dataclass, field

from glassformer.answers.documents.outcome import Outcome
from glassformer.answers.documents.sides import Side
from glassformer.answers.documents.statements import Relation


@dataclass
class Chain:
    """`a = b ≈ c`: the sides met so far, and how they fared."""

    base: Side | None = None  # the first side that has a value: what the others must be
    latest: Side | None = None  # the last one that has a value
    faulty: bool = False  # whether the latest was wrong
    named: bool = False  # began with a name
    blurred: bool = False  # `t = 32 h = 2`: a product, or two definitions
    names: list[str] = field(default_factory=list)  # what is defined, where it began with a name

    def hold(self, side: Side) -> None:
        self.base = self.base or side
        self.latest = self.latest or side

    def go_on(self, side: Side, outcome: Outcome) -> None:
        self.latest, self.faulty = side, outcome.verdict in ("wrong", "carried")


@dataclass(frozen=True)
class Pending:
    """A formula whose symbols had no values yet: what comes later may confirm it, and is never held against it."""

    relation: Relation
    left: Side
    right: Side
    line: int
    start: int
