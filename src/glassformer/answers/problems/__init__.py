"""Claims about problems worked by hand: right, right under a convention, carried forward, or wrong with the mistake named."""

from glassformer.answers.problems.diagnosis import Checked, check_worked

__all__ = ["Checked", "check_worked"]
