"""The base class of experiments: a claim, the numbers, and the checks that decide whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from glassformer.spec import EncoderSpec
from glassformer.spec.viewed import Viewed

ROUNDING = 1e-12  # float64 numbers that differ by less are equal up to rounding
CLEARLY = 0.01  # numbers that differ by more are different


@dataclass(frozen=True)
class Check:
    """A number that must be between `low` and `high` for the claim to hold, and what it means."""

    says: str
    found: float
    low: float = float("-inf")
    high: float = float("inf")

    @property
    def holds(self) -> bool:
        return self.low <= self.found <= self.high

    @property
    def rule(self) -> str:
        """`= 0`, `≤ 1e-12`, `≥ 0.01`, `0.5 to 2`."""
        if self.low == self.high:
            return f"= {self.low:g}"
        if self.low == float("-inf"):
            return f"≤ {self.high:g}"
        return f"≥ {self.low:g}" if self.high == float("inf") else f"{self.low:g} to {self.high:g}"

    def to_dict(self) -> dict[str, Any]:
        return {"says": self.says, "found": self.found, "rule": self.rule, "holds": self.holds}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Experiment(Viewed):
    """A textbook claim, tested with actual numbers; `show` presents it."""

    name: ClassVar[str]
    claim: ClassVar[str]

    spec: EncoderSpec
    seed: int

    @property
    def checks(self) -> tuple[Check, ...]:
        """The conditions on the numbers."""
        raise NotImplementedError

    @property
    def holds(self) -> bool:
        """Whether all checks pass."""
        return all(check.holds for check in self.checks)

    def numbers(self) -> dict[str, Any]:
        """Return the numbers of the experiment, ready for JSON."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the experiment as a JSON document."""
        return {
            "experiment": self.name,
            "claim": self.claim,
            "holds": self.holds,
            "spec": self.spec.to_dict(),
            "seed": self.seed,
            **self.numbers(),
            "checks": [check.to_dict() for check in self.checks],
        }

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<experiment {self.name}, seed {self.seed}: the claim {'holds' if self.holds else 'does not hold'}>"
