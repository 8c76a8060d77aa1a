"""One explanation of wrong numbers: which mistakes, what was done, the value it gives, and the step done right."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.answers.mistakes.catalogue import CATALOGUE, Mistake
from glassformer.numbers.by_hand import Solution

MOST_LINES = 4

# The catalogue speaks of counts; with numbers, the same misconception reads like this.
IN_NUMBERS = {
    "one_head_vs_all_heads": (
        "heads not put side by side",
        "Every head has a result of its own. They are put side by side: not one for all, not their average or their sum.",
    ),
    "no_output_projection": (
        "W_O not applied",
        "After the heads are put side by side, W_O maps them back to d_model; the result is what comes out of it.",
    ),
    "dv_dk_mixed": (
        "d_v used for d_k",
        "The scores are divided by the root of d_k, the width of queries and keys; d_v is the width of the values.",
    ),
    "feature_by_feature": (
        "features compared with features",
        "Q Kᵀ compares tokens with tokens: queries × keys. Qᵀ K is as large as the width and compares features.",
    ),
    "digits_exchanged": ("two digits exchanged", "The number is right but for two neighbouring digits that changed places."),
}


def mistake(code: str) -> Mistake:
    """A mistake of the catalogue, worded for numbers that are worked out."""
    found = CATALOGUE[code]
    name, sentence = IN_NUMBERS.get(code, (found.name, found.sentence))
    return Mistake(code, name, sentence)


class Correction(NamedTuple):
    """A step as it should have been done: its rule, the arithmetic of its first numbers, and its value."""

    name: str
    rule: str
    numbers: tuple[str, ...]
    value: Any

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "rule": self.rule, "numbers": list(self.numbers), "value": self.value}


@dataclass(frozen=True)
class Finding:
    """Mistakes that together give the claimed numbers. `near`: but for the last digit."""

    mistakes: tuple[Mistake, ...]
    what: tuple[str, ...]
    layout: str
    value: Any
    corrections: tuple[Correction, ...] = ()
    near: bool = False

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(found.code for found in self.mistakes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "codes": list(self.codes),
            "names": [found.name for found in self.mistakes],
            "sentences": [found.sentence for found in self.mistakes],
            "what": list(self.what),
            "layout": self.layout,
            "value": self.value,
            "near": self.near,
            "corrections": [correction.to_dict() for correction in self.corrections],
        }


def correction(solution: Solution, name: str, digits: int = 4) -> Correction | None:
    """The right step under a name; None where the name is not of a step."""
    if name not in solution.program.step_of:
        return None
    step = next(step for step in dataclasses.replace(solution, asked=(name,)).steps if step.name == name)
    document = step.to_dict(digits)
    lines: list[str] = document["numbers"]
    more = len(lines) - MOST_LINES + step.left_out
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {more} more in the same way"]
    sizes = f", {step.sizes}" if step.sizes else ""
    return Correction(name, document["rule"] + sizes, tuple(lines), document["value"])
