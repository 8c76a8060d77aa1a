"""What the page Check is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

from glassformer.answers.verdicts import verdict as verdicts

Verdict: TypeAlias = Literal["right", "wrong", "carried", "unclear", "note", ""]
# The mistake by its name, or what is to be said about something right; the hint comes before the answer.
Note = TypedDict("Note", {"verdict": Verdict, "name": str, "code": str, "hint": str, "answer": list[str]})
Line = TypedDict("Line", {"number": int, "place": str, "parts": list[tuple[str, Verdict]], "mark": Verdict, "notes": list[Note]})
Checked = TypedDict("Checked", {"lines": list[Line], "left_out": int, "counts": dict[str, int], "summary": str})


class ClaimMistake(TypedDict):
    name: str
    codes: list[str]
    sentences: list[str]
    what: list[str]
    near: bool


class Diagnosed(TypedDict):
    verdict: verdicts.Verdict
    headline: str
    mistakes: list[ClaimMistake]
    truth: str
    derivation: list[str]
    notes: list[str]


class Claimed(Diagnosed):
    question: str
    spec: str
    claim: str


Solution = TypedDict("Solution", {"name": str, "about": str, "text": str})
QuizSet = TypedDict("QuizSet", {"name": str, "title": str, "about": str, "questions": int})
Known = TypedDict("Known", {"solutions": list[Solution], "claims": list[str], "sets": list[QuizSet]})
TextBlock = TypedDict("TextBlock", {"text": str})
Option = TypedDict("Option", {"letter": str, "text": str})
OptionsBlock = TypedDict("OptionsBlock", {"options": list[Option]})


class MatrixBlock(TypedDict):
    name: str
    rows: Sequence[Sequence[str]]
    row_names: Sequence[str]
    columns: Sequence[str]


Block: TypeAlias = TextBlock | OptionsBlock | MatrixBlock
Question = TypedDict("Question", {"id": str, "number": int, "marks": str, "blocks": list[Block], "wanted": str, "hints": int})
Paper = TypedDict("Paper", {"set": str, "title": str, "seed": int, "headline": str, "questions": list[Question]})
Mistake = TypedDict("Mistake", {"code": str, "name": str, "sentence": str})
SolutionStep = TypedDict("SolutionStep", {"title": str, "lines": list[str]})


class Finished(TypedDict):
    """A question that is over."""

    id: str
    answer: str
    verdict: str
    right: bool
    says: str
    won: str
    of: str
    mistakes: list[Mistake]
    answer_is: str
    solution: list[SolutionStep]
    command: str


# Another try.
Again = TypedDict("Again", {"again": Literal[True], "verdict": str, "says": str, "used": int})


class Over(Finished):
    again: Literal[False]
    used: int


Judged: TypeAlias = Again | Over
Hint = TypedDict("Hint", {"hint": str, "left": int})
Review = TypedDict("Review", {"rows": list[Finished], "score": str, "mistakes": list[str]})
