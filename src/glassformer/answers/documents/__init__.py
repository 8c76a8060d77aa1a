"""A worked solution read: every equality in it found, judged, and the document annotated."""

from glassformer.answers.documents.check import check_document, read_solution
from glassformer.answers.documents.findings import CheckedDocument, Finding, Question

__all__ = ["CheckedDocument", "Finding", "Question", "check_document", "read_solution"]
