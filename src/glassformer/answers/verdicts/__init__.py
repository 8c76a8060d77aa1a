"""Verdicts on claims: right, right under a convention, carried forward, wrong (with its causes), or unclear."""

from glassformer.answers.verdicts.checking import check, judge
from glassformer.answers.verdicts.diagnosis import Diagnosis
from glassformer.answers.verdicts.verdict import Correction, Finding, Judged, Verdict

__all__ = ["Correction", "Diagnosis", "Finding", "Judged", "Verdict", "check", "judge"]
