"""A solution checked: the claims of its text, the questions that it carries, and remarks on its structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.algebra.result import Result
from glassformer.answers.documents import CheckedDocument, check_document
from glassformer.answers.documents.findings import DocumentKind
from glassformer.answers.documents.sources import read_file
from glassformer.answers.solutions.alone import judged_alone
from glassformer.answers.solutions.coordinates import other_coordinates
from glassformer.answers.solutions.formulas import formula_remarks
from glassformer.answers.solutions.graded import Graded, graded
from glassformer.answers.solutions.heads import heads_times_full_width
from glassformer.answers.solutions.prose import prose_questions
from glassformer.answers.solutions.remarks import Remark
from glassformer.answers.solutions.variables import consistent_variables

MOST_CHARACTERS = 400_000  # in a longer document only the claims are judged
MOST_REMARKS = 200

READERS: tuple[Callable[[CheckedDocument], Iterator[Remark]], ...] = (
    heads_times_full_width,
    formula_remarks,
    consistent_variables,
    other_coordinates,
)


@dataclass(frozen=True)
class CheckedSolution(Result):
    """A document with everything that is to be said about it."""

    document: CheckedDocument
    graded: tuple[Graded, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Claims, questions and remarks together."""
        found = self.document.counts
        grades = [one.grade for one in self.graded]
        verdicts = [remark.verdict for remark in self.remarks]
        return {
            "right": found["right"] + grades.count("right") + grades.count("convention") + verdicts.count("right"),
            "wrong": found["wrong"] + grades.count("wrong") + verdicts.count("wrong"),
            "carried": found["carried"],
            "unclear": found["unclear"] + grades.count("unclear"),
        }

    @property
    def wrong(self) -> int:
        """How many things are wrong; what only carries an error forward is not counted again."""
        return self.counts["wrong"]

    def summary(self) -> str:
        """`12 right, 3 wrong, 1 carried forward, 0 not understood`."""
        counts = self.counts
        return (
            f"{counts['right']:,} right, {counts['wrong']:,} wrong, {counts['carried']:,} carried forward, "
            f"{counts['unclear']:,} not understood"
        )

    def to_dict(self) -> dict[str, Any]:
        place = self.document.place
        return self.document.to_dict() | {
            "totals": self.counts,
            "wrong": self.wrong,
            "remarks": [remark.to_dict() | {"place": place(remark.line)} for remark in self.remarks],
            "graded": [one.to_dict() | {"place": place(one.line)} for one in self.graded],
        }


def check_solution(path: str | Path) -> CheckedSolution:
    """Judge a worked solution in a .md, .txt, .tex or .ipynb file."""
    path = Path(path)
    text, kind = read_file(path)
    return check_text(text, name=path.name, kind=kind)


def check_text(text: str, *, name: str = "the solution", kind: DocumentKind = "md") -> CheckedSolution:
    """Judge a worked solution: `check_text("3 × 4 = 13").wrong` is 1."""
    document = check_document(text, name=name, kind=kind)
    remarks: list[Remark] = []
    questions = document.questions
    alone: tuple[Graded, ...] = ()
    if len(document.text) <= MOST_CHARACTERS:
        questions = (*questions, *prose_questions(document))
        alone = tuple(judged_alone(document, {question.line for question in questions}))
        for reader in READERS:
            remarks += list(reader(document))[:MOST_REMARKS]
    ordered = sorted(remarks, key=lambda remark: remark.line)
    return CheckedSolution(document, (*graded(questions), *alone), tuple(ordered))
