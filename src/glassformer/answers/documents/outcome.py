"""What comes of comparing the two sides of an equality."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.answers.documents.findings import Kind, Verdict
from glassformer.answers.documents.sides import Pair
from glassformer.answers.expressions import Value
from glassformer.answers.expressions.precision import Agreement
from glassformer.answers.mistakes.slips import Slip


@dataclass(frozen=True)
class Outcome:
    """What came of a comparison."""

    verdict: Verdict
    kind: Kind = "arithmetic"
    pair: Pair | None = None
    how: Agreement | None = None
    note: str = ""
    sources: tuple[int, ...] = ()
    true: Value | None = None
    slips: tuple[Slip, ...] = ()
    implied: str = ""
    due: str = ""
