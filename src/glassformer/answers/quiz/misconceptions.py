"""Mistakes in ideas rather than in numbers: what a wrong choice in a conceptual question says about its chooser."""

from __future__ import annotations

from glassformer.answers.mistakes.catalogue import CATALOGUE, Mistake, check_codes, mistake

IDEAS: dict[str, Mistake] = {code: CATALOGUE[code] for code in CATALOGUE.groups["ideas"]}

__all__ = ["IDEAS", "check_codes", "mistake"]
