"""What the page By hand is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from glassformer.answers.verdicts.verdict import Verdict
from glassformer.lab.documents.cells import OpenedNumber, Piece
from glassformer.program.formatter import Convention


class SheetDocument(TypedDict):
    """A problem as texts: matrices and choices by name."""

    kind: str
    title: str
    note: NotRequired[str]
    given: dict[str, str]
    choices: dict[str, str]


class Example(SheetDocument):
    name: str
    about: str


Choice = TypedDict("Choice", {"name": str, "choices": list[str]})
KindDocument = TypedDict("KindDocument", {"kind": str, "matrices": list[str], "choices": list[Choice]})
Examples = TypedDict("Examples", {"examples": list[Example], "kinds": list[KindDocument]})


class GridDocument(TypedDict):
    """A matrix; `sheet` says which head, where there are several. A cell is its text and its name."""

    sheet: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: list[list[tuple[str, str]]]


class LineDocument(TypedDict):
    id: str
    label: str
    parts: list[Piece]
    then: list[str]
    sign: str
    result: str | None
    value: float
    exactly: str


class StepDocument(TypedDict):
    name: str
    symbol: str
    rule: str
    latex: str
    sizes: str
    lines: list[LineDocument]
    left_out: int
    grids: list[GridDocument]


GivenDocument = TypedDict("GivenDocument", {"name": str, "latex": str, "words": str | None, "grids": list[GridDocument]})
TableDocument = TypedDict("TableDocument", {"title": str, "columns": list[str], "rows": Sequence[Sequence[str]]})


class PageDocument(TypedDict):
    title: str
    kind: str
    convention: Convention
    carried: str
    given: list[GivenDocument]
    steps: list[StepDocument]
    notes: list[str]
    tables: list[TableDocument]
    names: list[str]


# Two sides of a product that does not fit.
Misfit = TypedDict("Misfit", {"product": str, "left": str, "left_size": str, "right": str, "right_size": str})
SheetFault = TypedDict("SheetFault", {"message": str, "misfit": Misfit | None})
Worked = TypedDict("Worked", {"page": PageDocument | None, "fault": SheetFault | None})


class OpenedCell(OpenedNumber):
    exact: str
    sizes: str
    line: str


# A step as it should have been done.
Correction = TypedDict("Correction", {"name": str, "rule": str, "numbers": list[str], "value": Any})


class ClaimFinding(TypedDict):
    codes: list[str]
    names: list[str]
    sentences: list[str]
    what: list[str]
    left_out: list[str]
    layout: str
    value: Any
    near: bool
    corrections: list[Correction]


class Claim(TypedDict):
    name: str
    claim: str
    verdict: Verdict
    right: bool
    truth: Any
    convention: str
    findings: list[ClaimFinding]
    follows: list[str]
    notes: list[str]


Judged = TypedDict("Judged", {"title": str, "verdict": str, "right": bool, "claims": list[Claim]})
Export = TypedDict("Export", {"text": str})
