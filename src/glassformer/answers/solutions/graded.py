"""Questions that a document carries, each graded against the truth of its spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.answers.documents import Question
from glassformer.answers.judging import Diagnosis, check
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.presets import known_preset, preset_names
from glassformer.spec.reading import Request, request_from_words

Grade = Literal["right", "convention", "wrong", "unclear"]
MOST_GRADED = 200


@dataclass(frozen=True)
class Graded:
    """A question with its grade: a diagnosis, or one line that says why there is none."""

    question: Question
    diagnosis: Diagnosis | None = None
    problem: str = ""

    @property
    def line(self) -> int:
        return self.question.line

    @property
    def grade(self) -> Grade:
        return self.diagnosis.verdict if self.diagnosis is not None else "unclear"

    def to_dict(self) -> dict[str, Any]:
        document = self.question.to_dict() | {"grade": self.grade, "problem": self.problem}
        return document | {"diagnosis": self.diagnosis.to_dict() if self.diagnosis is not None else None}


def graded(questions: tuple[Question, ...]) -> tuple[Graded, ...]:
    """Every question graded; those beyond the limit are counted as not understood."""
    limit = f"Not judged: more than {MOST_GRADED} questions in one document."
    beyond = [Graded(question, problem=limit) for question in questions[MOST_GRADED:]]
    return (*map(_one, questions[:MOST_GRADED]), *beyond)


def _one(question: Question) -> Graded:
    try:
        return Graded(question, check(question.question, _spec(question.spec), question.claim))
    except GlassformerError as error:
        return Graded(question, problem=shown(str(error), limit=300))


def _spec(words: tuple[str, ...]) -> Request:
    """A preset with fields: somebody else's document does not get to open files."""
    name = known_preset(words[0]) if words else None
    if name is None:
        said = words[0] if words else ""
        raise GlassformerError(f"'{shown(said)}' is no preset, and a document names no files.{nearest(said, preset_names())}")
    return request_from_words((name, *words[1:]))
