"""Worked numbers checked: every claim about a problem is right, right under a convention, or has its mistake named."""

from glassformer.answers.worked.diagnosis import Checked, Judged, check_worked
from glassformer.answers.worked.findings import Correction, Finding

__all__ = ["Checked", "Correction", "Finding", "Judged", "check_worked"]
