"""The work of known mistakes on a by-hand problem: what each of them gives for the quantity that is asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.rules import rewrites
from glassformer.answers.problems.work import Work
from glassformer.numbers.by_hand import Solution
from glassformer.numbers.by_hand.worked import turned
from glassformer.program.axes import Array


def workings(solution: Solution, ask: str) -> Iterator[tuple[str, str, Array]]:
    """(code, what exactly was done, the value that it gives, written in the problem's convention) for every single mistake."""
    right = Work.of(solution, solution.problem)
    before = {solution.names[ask]}  # a mistake in a later step is none yet
    for step in reversed(solution.program.steps):
        before |= {tensor.name for tensor in step.inputs} if step.name in before else set()
    with np.errstate(all="ignore"):
        for rewrite in rewrites(right):
            found = rewrite.work.quantity(ask) if rewrite.step in before else None
            if found is not None:
                yield rewrite.code, rewrite.what, turned(*found, solution.problem.convention)
