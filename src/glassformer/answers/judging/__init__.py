"""Is it right? A claim about a quantity judged at its own precision, and the mistake behind a wrong one named."""

from glassformer.answers.judging.check import check, check_alone, check_sentence
from glassformer.answers.judging.verdict import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "check", "check_alone", "check_sentence"]
