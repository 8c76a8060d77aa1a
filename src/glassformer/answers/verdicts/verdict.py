"""Verdicts on claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.answers.mistakes.finding import Correction, Finding

__all__ = ["Correction", "Finding", "Judged", "Verdict"]

Verdict = Literal["right", "convention", "carried", "wrong", "unclear"]


@dataclass(frozen=True)
class Judged:
    """One claim and its verdict."""

    name: str  # what the claim is about: an expression, a step of a problem
    claim: str  # as it was written
    verdict: Verdict
    truth: Any  # the correct value
    convention: str = ""  # the convention under which it is right
    findings: tuple[Finding, ...] = ()  # why it is wrong, simplest first
    follows: tuple[str, ...] = ()  # the wrong claims that it follows from
    notes: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return self.verdict in ("right", "convention")

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "claim": self.claim,
            "verdict": self.verdict,
            "right": self.right,
            "truth": list(self.truth) if isinstance(self.truth, tuple) else self.truth,
            "convention": self.convention,
            "findings": [finding.to_dict() for finding in self.findings],
            "follows": list(self.follows),
            "notes": list(self.notes),
        }
