"""A worked solution judged as a whole: its claims, its questions, its formulas, and what was multiplied for no reason."""

from glassformer.answers.solutions.check import CheckedSolution, check_solution, check_text
from glassformer.answers.solutions.graded import Graded
from glassformer.answers.solutions.remarks import CODES, Remark

__all__ = ["CODES", "CheckedSolution", "Graded", "Remark", "check_solution", "check_text"]
