"""The colours of numbers: one hue for weights, blue to orange through white for signed values, a few for lines."""

from __future__ import annotations

from typing import NamedTuple

SEQUENTIAL = ("#ffffff", "#d3e4f3", "#8dbde0", "#3a87c2", "#0b559f", "#08306b")  # 0 … 1
DIVERGING = ("#0b4a8f", "#4a8cc7", "#aecfe8", "#ffffff", "#f8cd9f", "#e08a36", "#a34a00")  # −1 … 0 … 1

# On a dark page small weights are dark, so that large ones stand out.
SEQUENTIAL_DARK = ("#1b1f27", "#1f3a5c", "#2c649c", "#4f97d6", "#93c6f2", "#e2f1fd")


class Lines(NamedTuple):
    """Colours of lines and words, which also differ in lightness."""

    first: str = "#0b559f"
    second: str = "#d97a1e"
    quiet: str = "#8a8f98"
    ink: str = "#1b1f27"


LINES = Lines()


def mixed(stops: tuple[str, ...], place: float) -> str:
    """The colour at `place` (0 to 1) along evenly spaced stops."""
    at = min(max(place, 0.0), 1.0) * (len(stops) - 1)
    left = min(int(at), len(stops) - 2)
    pair = [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in (stops[left], stops[left + 1])]
    return "#" + "".join(f"{round(a + (b - a) * (at - left)):02x}" for a, b in zip(*pair, strict=True))


def ink_on(colour: str) -> str:
    """Return black or white, whichever has more contrast on a colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return LINES.ink if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"
