"""Results of checking a document: each claim with its position and verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from glassformer.algebra.result import Result
from glassformer.answers.verdicts import Judged, Verdict

# A remark is about more than one equation; a note does not count as right or wrong.
Kind = Literal["arithmetic", "shape", "total", "remark", "note", "question", "limit"]
DocumentKind = Literal["md", "txt", "tex", "ipynb"]
COUNTED: dict[Verdict, Verdict] = {"right": "right", "convention": "right", "wrong": "wrong", "carried": "carried"}


@dataclass(frozen=True, kw_only=True)
class Found:
    """One claim in a document: its position and its verdict."""

    line: int  # the line in the text, from 1
    start: int  # the position in the text
    end: int
    text: str
    kind: Kind
    judged: Judged
    sources: tuple[int, ...] = ()  # the lines that a carried error comes from
    put_right: str = ""  # the value with earlier errors corrected, if it differs

    @property
    def verdict(self) -> Verdict:
        return self.judged.verdict

    @property
    def due(self) -> str:
        """The value that follows from the numbers as written."""
        return str(self.judged.truth) if self.judged.truth is not None else ""

    @property
    def codes(self) -> tuple[str, ...]:
        """The mistakes that explain it."""
        return tuple(code for finding in self.judged.findings for code in finding.codes)

    @property
    def sentence(self) -> str:
        return " ".join(self.judged.notes)

    def to_dict(self) -> dict[str, Any]:
        places = {"line": self.line, "start": self.start, "end": self.end, "text": self.text, "kind": self.kind}
        return places | self.judged.to_dict() | {"sources": list(self.sources), "put_right": self.put_right}


@dataclass(frozen=True, repr=False)
class CheckedDocument(Result):
    """A checked solution: its text and all findings, in order."""

    name: str
    kind: DocumentKind
    text: str
    findings: tuple[Found, ...]
    beyond: int = 0  # equations beyond the limit, which are counted but not checked
    cells: tuple[tuple[int, int], ...] = field(default=())  # for a notebook: first line and number of each cell

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of claims that are right (also under a convention), wrong, carried forward and not understood."""
        counted = Counter(COUNTED.get(found.verdict, "unclear") for found in self.findings if found.kind != "note")
        counted["unclear"] += self.beyond
        return {verdict: counted[verdict] for verdict in ("right", "wrong", "carried", "unclear")}

    @property
    def wrong(self) -> int:
        """The number of wrong claims, without those that only carry an error forward."""
        return self.counts["wrong"]

    @property
    def remarks(self) -> tuple[Found, ...]:
        return tuple(found for found in self.findings if found.kind in ("remark", "note"))

    @property
    def questions(self) -> tuple[Found, ...]:
        """The claims in spec blocks."""
        return tuple(found for found in self.findings if found.kind == "question")

    def of(self, verdict: Verdict) -> tuple[Found, ...]:
        return tuple(found for found in self.findings if found.verdict == verdict)

    def summary(self) -> str:
        """Return `12 right, 3 wrong, 1 carried forward, 0 not understood`."""
        words = {"right": "right", "wrong": "wrong", "carried": "carried forward", "unclear": "not understood"}
        return ", ".join(f"{count:,} {words[verdict]}" for verdict, count in self.counts.items())

    def place(self, line: int) -> str:
        """Return `line 12`, or in a notebook `cell 3, line 2`."""
        starts = [(first, number) for first, number in self.cells if first <= line]
        if not starts:
            return f"line {line}"
        first, number = starts[-1]
        return f"cell {number}, line {line - first + 1}"

    def to_dict(self) -> dict[str, Any]:
        listed = [found.to_dict() | {"place": self.place(found.line)} for found in self.findings]
        return {
            "document": self.name,
            "kind": self.kind,
            "counts": self.counts,
            "beyond": self.beyond,
            "findings": listed,
            "remarks": [found for found in listed if found["kind"] in ("remark", "note")],
            "questions": [found for found in listed if found["kind"] == "question"],
        }
