"""Worked solutions as documents: finds and judges every claim, and annotates the text."""

from glassformer.answers.documents.check import check_solution, check_text
from glassformer.answers.documents.result import CheckedDocument, DocumentKind, Found

__all__ = ["CheckedDocument", "DocumentKind", "Found", "check_solution", "check_text"]
