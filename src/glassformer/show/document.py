"""How a checked document looks: its lines with the marks of their claims, and what is said about each."""

from __future__ import annotations

from glassformer.answers.documents import CheckedDocument
from glassformer.show.present import present
from glassformer.show.solutions import AnnotatedSolution, annotated


@present.register
def _document(document: CheckedDocument) -> AnnotatedSolution:
    """The same page as a checked solution has, without remarks and grades."""
    carried = len(document.questions)
    questions = f" {carried} question{'' if carried == 1 else 's'} about a spec, not graded here." if carried else ""
    return AnnotatedSolution(document.name, annotated(document), (), document.summary() + questions)
