"""Presentation of quizzes: papers and keys in six formats, and the report of a graded class."""

from glassformer.show.quiz.files import FORMATS, Format, parse_formats, quiz_files
from glassformer.show.quiz.report import Report, listed

__all__ = ["FORMATS", "Format", "Report", "listed", "parse_formats", "quiz_files"]
