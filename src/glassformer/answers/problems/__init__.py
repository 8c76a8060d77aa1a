"""Worked numbers checked: every claim about a problem is right, right under a convention, or has its mistake named."""

from glassformer.answers.problems.diagnosis import Checked, check_worked

__all__ = ["Checked", "check_worked"]
