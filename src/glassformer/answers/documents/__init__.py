"""A worked solution read as a whole: every claim in it found, judged, and the document annotated."""

from glassformer.answers.documents.check import check_solution, check_text
from glassformer.answers.documents.result import CheckedDocument, DocumentKind, Found

__all__ = ["CheckedDocument", "DocumentKind", "Found", "check_solution", "check_text"]
