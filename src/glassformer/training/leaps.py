"""A loss that leaps: more than six deviations above the steps before, or a gradient ten times as long as usual."""

from __future__ import annotations

import math
from collections import deque
from statistics import median

WINDOW, LEAST = 100, 20  # steps that are remembered, and how many it takes to know what is usual
DEVIATIONS, TIMES = 6.0, 10.0
SMALL = math.log(2) / 2  # half of what tossing a coin costs: of a set learned by heart each mistake stands out, and is no leap


class Leaps:
    """Looks on and says; it changes nothing, so that a run is the same with and without it. After a resume it learns afresh."""

    def __init__(self, clip: float | None = None) -> None:
        self.clip = clip or 0.0  # a gradient that is not even clipped is none to speak of: a set learned by heart has tiny ones
        self.losses: deque[float] = deque(maxlen=WINDOW)
        self.lengths: deque[float] = deque(maxlen=WINDOW)

    def see(self, step: int, loss: float, length: float) -> str:
        """What is to be said of a step, if anything; steps that leap do not count as usual ones."""
        said = ""
        if len(self.losses) >= LEAST:
            mean, usual = sum(self.losses) / len(self.losses), median(self.lengths)
            spread = math.sqrt(sum((one - mean) ** 2 for one in self.losses) / len(self.losses))
            before = f"over the last {len(self.losses)} steps"
            if loss > max(mean + DEVIATIONS * spread, SMALL) and not math.isclose(loss, mean, rel_tol=1e-3):
                said = f"step {step}: the loss leaps to {loss:.4g}; {before} it was {mean:.4g} ± {spread:.2g}."
            elif length > max(TIMES * usual, self.clip) and usual > 0:
                said = f"step {step}: the gradient leaps to a length of {length:.3g}; {before} {usual:.3g} was usual."
        if not said:
            self.losses.append(loss)
            self.lengths.append(length)
        return said
