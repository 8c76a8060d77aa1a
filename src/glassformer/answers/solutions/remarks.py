"""A remark on a solution: a stable code, the line, the sentence for the student, and the step as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.answers.shapes import TRAPS

RemarkVerdict = Literal["right", "wrong", "note"]

# Besides the traps of the algebra of shapes.
OWN_CODES = ("heads_times_full_width", "does_not_fit", "claimed_shape", "shape_confirmed", "heads_confirmed", "other_coordinates")
CODES = tuple(dict.fromkeys([*OWN_CODES, *TRAPS]))


@dataclass(frozen=True)
class Total:
    """A number further down, and what it becomes when the step before it is put right."""

    line: int
    claimed: str
    becomes: str

    def to_dict(self) -> dict[str, Any]:
        return {"line": self.line, "claimed": self.claimed, "becomes": self.becomes}


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Something to say about a line; `right` confirms it, `note` is worth a look and counts as nothing."""

    code: str
    line: int
    sentence: str
    corrected: str = ""
    verdict: RemarkVerdict = "wrong"
    totals: tuple[Total, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "line": self.line,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "corrected": self.corrected,
            "totals": [total.to_dict() for total in self.totals],
        }
