"""A diagnosis: a claim about a quantity with its verdict, the correct answer, and the causes of an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassformer.algebra import Result
from glassformer.answers.quantities.answer import Answer
from glassformer.answers.verdicts.verdict import Finding, Judged, Verdict


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """The diagnosis of a claim: right, right under a convention, or wrong and why."""

    relation: str  # as it was parsed
    answer: Answer
    judged: Judged

    def __repr__(self) -> str:
        return f"<Diagnosis {self.relation}: {self.verdict}>"

    @property
    def verdict(self) -> Verdict:
        return self.judged.verdict

    @property
    def right(self) -> bool:
        return self.judged.right

    @property
    def claim(self) -> str:
        return self.judged.claim

    @property
    def truth(self) -> Any:
        return self.judged.truth

    @property
    def convention(self) -> str:
        return self.judged.convention

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.judged.findings

    @property
    def notes(self) -> tuple[str, ...]:
        return self.judged.notes

    def to_dict(self) -> dict[str, Any]:
        return self.answer.to_dict() | {"relation": self.relation} | self.judged.to_dict()
