"""From an outcome to a finding: its place, its text, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.answers.documents import wording
from glassformer.answers.documents.findings import Finding
from glassformer.answers.documents.outcome import Outcome
from glassformer.answers.documents.statements import Relation, Run
from glassformer.answers.documents.totals import Labelled, Sum
from glassformer.answers.expressions import shown_number
from glassformer.spec.errors import shown

LONGEST_TEXT = 300
KEPT_WORDS = 3


@dataclass
class Report:
    """Writes findings about one block of the text."""

    text: str
    line: int = 1
    start: int = 0

    def finding(self, relation: Relation, outcome: Outcome, said: str = "", over: tuple[Run, Run] | None = None) -> Finding:
        left, right = over or (relation.left, relation.right)
        start = left.start if left is not None else relation.token.start
        end = max(_last(right) if right is not None else 0, relation.token.end)
        judged = outcome.verdict in ("right", "wrong", "carried")
        return Finding(
            line=self.line_of(relation.token.start),
            start=start if over else min(start, relation.token.start),
            end=end,
            text=self.quoted(start, end),
            verdict=outcome.verdict,
            kind=outcome.kind,
            sentence=said or wording.sentence(outcome),
            claimed=wording.claimed(outcome.pair),
            due=wording.due_of(outcome) if judged else "",
            true=wording.true_of(outcome),
            slips=outcome.slips,
            sources=outcome.sources,
            implied=outcome.implied,
        )

    def total(self, start: int, end: int, label: Labelled, found: Sum | None) -> Finding:
        line = self.line_of(label.start)
        text = self.quoted(start, end)
        if found is None:
            said = "A total that no numbers above add up to: not judged."
            return Finding(line=line, start=start, end=end, text=text, verdict="nothing", kind="total", sentence=said)
        return Finding(
            line=line,
            start=start,
            end=end,
            text=text,
            verdict=found.verdict,
            kind="total",
            sentence=found.said(label.figure.text),
            claimed=label.figure.text,
            due=shown_number(found.due),
            true=shown_number(found.truth) if found.faulty and found.truth != found.due else "",
            slips=found.slips,
            sources=found.faulty,
        )

    def line_of(self, place: int) -> int:
        return self.line + self.text.count("\n", self.start, place)

    def quoted(self, start: int, end: int) -> str:
        return shown(" ".join(self.text[start : min(end, start + 2 * LONGEST_TEXT)].split()), limit=LONGEST_TEXT)


def _last(run: Run) -> int:
    """Where a run ends, with no more than a few of the words after its last number, and none beyond a formula."""
    tokens = list(run.tokens)
    while tokens and tokens[-1].kind == "word":
        tokens.pop()
    rest = run.tokens[len(tokens) : len(tokens) + KEPT_WORDS]
    if not tokens or any(token.kind == "edge" for token in run.tokens[max(0, len(tokens) - 1) :]):
        kept = [token for token in tokens if token.kind != "edge"]
        return kept[-1].end if kept else run.end
    return rest[-1].end if rest else tokens[-1].end
