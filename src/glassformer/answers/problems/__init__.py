"""Worked numbers checked: every claim about a problem is right, right under a convention, or has its mistake named."""

from glassformer.answers.problems.diagnosis import Checked, Judged, check_worked
from glassformer.answers.problems.findings import Correction, Finding

__all__ = ["Checked", "Correction", "Finding", "Judged", "check_worked"]
