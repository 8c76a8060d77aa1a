"""Spike detection: a loss over six standard deviations above recent steps, or ten times the usual gradient norm."""

from __future__ import annotations

import math
from collections import deque
from statistics import median

WINDOW, LEAST = 100, 20  # window of recent steps, and the minimum number of steps before spikes are reported
DEVIATIONS, TIMES = 6.0, 10.0
SMALL = math.log(2) / 2  # half the loss of a coin toss: on memorized data every mistake stands out but is not a spike


class SpikeDetector:
    """Reports spikes without changing the run. Its statistics start anew after a resume."""

    def __init__(self, clip: float | None = None) -> None:
        self.clip = clip or 0.0  # gradients below the clipping norm are never reported: on memorized data they are tiny
        self.losses: deque[float] = deque(maxlen=WINDOW)
        self.lengths: deque[float] = deque(maxlen=WINDOW)

    def check(self, step: int, loss: float, length: float) -> str:
        """Return a warning for a spike, or an empty string; spikes are left out of the statistics."""
        warning = ""
        if len(self.losses) >= LEAST:
            mean, usual = sum(self.losses) / len(self.losses), median(self.lengths)
            spread = math.sqrt(sum((one - mean) ** 2 for one in self.losses) / len(self.losses))
            before = f"over the last {len(self.losses)} steps"
            if loss > max(mean + DEVIATIONS * spread, SMALL) and not math.isclose(loss, mean, rel_tol=1e-3):
                warning = f"step {step}: loss spike: {loss:.4g}; {before} it was {mean:.4g} ± {spread:.2g}."
            elif length > max(TIMES * usual, self.clip) and usual > 0:
                warning = f"step {step}: gradient norm spike: {length:.3g}; {before} the median was {usual:.3g}."
        if not warning:
            self.losses.append(loss)
            self.lengths.append(length)
        return warning
