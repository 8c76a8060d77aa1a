"""What was found in a document: each equality with its verdict, and the document with all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from glassformer.algebra.result import Result
from glassformer.answers.mistakes.slips import Slip

Verdict = Literal["right", "wrong", "carried", "unclear", "nothing"]
Kind = Literal["arithmetic", "shape", "total", "definition", "formula", "code", "limit"]
DocumentKind = Literal["md", "txt", "tex", "ipynb"]

SAID: dict[Verdict, str] = {
    "right": "right",
    "wrong": "wrong",
    "carried": "carried forward",
    "unclear": "not understood",
    "nothing": "nothing to check",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One equality of the text, with what is to be said about it."""

    line: int  # of the document's text, from 1
    start: int  # where it stands in the document's text
    end: int
    text: str
    verdict: Verdict
    kind: Kind = "arithmetic"
    sentence: str = ""
    claimed: str = ""  # what was written
    due: str = ""  # what follows from the numbers as they were written
    true: str = ""  # what follows when earlier errors are put right, where that is another number
    slips: tuple[Slip, ...] = ()
    sources: tuple[int, ...] = ()  # the lines that a carried error comes from
    implied: str = ""  # what wrong softmax weights say about the scores

    def to_dict(self) -> dict[str, Any]:
        slips = [{"code": slip.code, "sentence": slip.sentence, "predicted": slip.predicted} for slip in self.slips]
        return {
            "line": self.line,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "verdict": self.verdict,
            "kind": self.kind,
            "sentence": self.sentence,
            "claimed": self.claimed,
            "due": self.due,
            "true": self.true,
            "slips": slips,
            "sources": list(self.sources),
            "implied": self.implied,
        }


@dataclass(frozen=True)
class Question:
    """A question about a small spec that the document carries, with the answer claimed for it; nobody has judged it yet."""

    line: int
    spec: tuple[str, ...]
    question: str
    claim: str

    def to_dict(self) -> dict[str, Any]:
        return {"line": self.line, "spec": list(self.spec), "question": self.question, "claim": self.claim}


@dataclass(frozen=True)
class CheckedDocument(Result):
    """A worked solution, read: its text, what was found in it, and the questions that it carries."""

    name: str
    kind: DocumentKind
    text: str
    findings: tuple[Finding, ...]
    questions: tuple[Question, ...] = ()
    beyond: int = 0  # equalities after the most that one document may have: counted, not read
    cells: tuple[tuple[int, int], ...] = field(default=())  # of a notebook: first line and number of each cell

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many findings of each verdict; what was beyond the limit is not understood."""
        counted = Counter(finding.verdict for finding in self.findings)
        counted["unclear"] += self.beyond
        return {verdict: counted[verdict] for verdict in get_args(Verdict)}

    @property
    def claims(self) -> tuple[Finding, ...]:
        """What says something that can be right or wrong."""
        return tuple(finding for finding in self.findings if finding.verdict != "nothing")

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict == verdict)

    def summary(self) -> str:
        """`12 claims: 9 right, 2 wrong, 1 carried forward; 3 equalities with nothing to check.`"""
        counts = self.counts
        nothing = counts["nothing"]
        total = sum(counts.values()) - nothing
        parts = [f"{count:,} {SAID[verdict]}" for verdict, count in counts.items() if count and verdict != "nothing"]
        said = f"{total:,} claim{'' if total == 1 else 's'}" + (f": {', '.join(parts)}" if parts else "")
        return said + (f"; {nothing:,} equalit{'y' if nothing == 1 else 'ies'} with nothing to check." if nothing else ".")

    def place(self, line: int) -> str:
        """`line 12`, or in a notebook `cell 3, line 2`."""
        starts = [(first, number) for first, number in self.cells if first <= line]
        if not starts:
            return f"line {line}"
        first, number = starts[-1]
        return f"cell {number}, line {line - first + 1}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "document": self.name,
            "kind": self.kind,
            "counts": dict(self.counts),
            "beyond": self.beyond,
            "findings": [{**finding.to_dict(), "place": self.place(finding.line)} for finding in self.findings],
            "questions": [question.to_dict() for question in self.questions],
        }
