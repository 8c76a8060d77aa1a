"""One number opened, as the pages Trace and By hand and the live views are sent it."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

# A number that opens: the name of its cell, and how it is written and called.
Door = TypedDict("Door", {"id": str, "text": str, "label": str, "value": float})
Piece: TypeAlias = str | Door
Term = TypedDict("Term", {"value": float, "parts": list[Piece]})
# Terms that are not listed.
Rest = TypedDict("Rest", {"terms": int, "sum": float})


class How(TypedDict):
    """What is done with the terms: nothing but the sum, the sum over something, or one term's share of the sum."""

    kind: Literal["given", "sum", "single", "divided", "share"]
    sum: NotRequired[float]
    by: NotRequired[float]
    text: NotRequired[str]
    own: NotRequired[float]


Source: TypeAlias = Literal["step", "parameter", "input", "edit"]


class OpenedNumber(TypedDict):
    id: str
    label: str
    value: float
    source: Source
    latex: str
    numbers: list[Piece]
    how: How
    terms: list[Term]
    rest: Rest
