"""What a claim is found to be: right, right under a convention, or wrong, with the mistakes that give exactly that number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from glassformer.algebra import Result
from glassformer.answers.asked import Answer
from glassformer.answers.claimed import Class, Number, Shape
from glassformer.answers.mistakes.catalogue import Mistake

Verdict = Literal["right", "convention", "wrong"]
VERDICTS = get_args(Verdict)


@dataclass(frozen=True)
class Finding:
    """One explanation of a wrong number: which mistakes, what exactly was done, and what was left out besides."""

    mistakes: tuple[Mistake, ...]
    what: tuple[str, ...]
    left_out: tuple[str, ...]
    value: Any
    near: bool = False

    @property
    def cost(self) -> tuple[int, int]:
        """Simplest first: fewest mistakes, then least left out."""
        return len(self.mistakes), len(self.left_out)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(mistake.code for mistake in self.mistakes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "codes": list(self.codes),
            "names": [mistake.name for mistake in self.mistakes],
            "sentences": [mistake.sentence for mistake in self.mistakes],
            "what": list(self.what),
            "left_out": list(self.left_out),
            "value": list(self.value) if isinstance(self.value, tuple) else self.value,
            "near": self.near,
        }


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What a claim is: right, right under a convention, or wrong and why."""

    answer: Answer
    claim: Number | Shape | Class
    verdict: Verdict
    convention: str = ""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def right(self) -> bool:
        return self.verdict != "wrong"

    def beside(self, truth: str) -> str:
        """What stands beside a claim that is right under a convention: the answer to the question as it was put."""
        return f"{'Alone' if self.convention.startswith('with ') else 'In full'} it is {truth}."

    def to_dict(self) -> dict[str, Any]:
        document = self.answer.to_dict()
        return document | {
            "claim": self.claim.text,
            "verdict": self.verdict,
            "right": self.right,
            "convention": self.convention,
            "truth": document["value"],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }
