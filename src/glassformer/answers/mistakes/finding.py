"""One explanation of a wrong claim: the mistakes that together give its value, and what is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.answers.mistakes.catalogue import Mistake


class Correction(NamedTuple):
    """The correct version of a step: its rule, the arithmetic of its first numbers, and its value."""

    name: str
    rule: str
    numbers: tuple[str, ...]
    value: Any

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "rule": self.rule, "numbers": list(self.numbers), "value": self.value}


@dataclass(frozen=True)
class Finding:
    """One explanation of a wrong claim: the mistakes that together give exactly that value."""

    mistakes: tuple[Mistake, ...]
    what: tuple[str, ...]  # what was done, one line per mistake
    value: Any  # the value that the mistakes give
    left_out: tuple[str, ...] = ()  # what was also left out, by convention
    layout: str = ""  # how the numbers were arranged: transposed, one head after another
    near: bool = False  # whether the value is close to the claim instead of equal
    rounded: bool = False  # whether the value is the claimed one only after rounding
    corrections: tuple[Correction, ...] = ()

    @property
    def cost(self) -> tuple[int, int]:
        """Sort key, simplest first: fewest mistakes, then least left out."""
        return len(self.mistakes), len(self.left_out)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(mistake.code for mistake in self.mistakes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "codes": list(self.codes),
            "names": [mistake.name for mistake in self.mistakes],
            "sentences": [mistake.sentence for mistake in self.mistakes],
            "what": list(self.what),
            "left_out": list(self.left_out),
            "layout": self.layout,
            "value": list(self.value) if isinstance(self.value, tuple) else self.value,
            "near": self.near,
            "rounded": self.rounded,
            "corrections": [correction.to_dict() for correction in self.corrections],
        }
