"""The correct version of a step of a problem."""

from __future__ import annotations

import dataclasses

from glassformer.answers.verdicts.verdict import Correction
from glassformer.numbers.by_hand import Solution

MOST_LINES = 4


def correction(solution: Solution, name: str, digits: int = 4) -> Correction | None:
    """Return the correct step with a name; None if there is no such step."""
    if name not in solution.program.step_of:
        return None
    step = next(step for step in dataclasses.replace(solution, requested=(name,)).steps if step.name == name)
    document = step.to_dict(digits)
    lines: list[str] = document["numbers"]
    more = len(lines) - MOST_LINES + step.left_out
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {more} more in the same way"]
    sizes = f", {step.sizes}" if step.sizes else ""
    return Correction(name, document["rule"] + sizes, tuple(lines), document["value"])
