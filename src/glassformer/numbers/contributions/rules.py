"""The rules of a ledger: how steps that are not linear distribute a number over their inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from glassformer.arguments import one_of

Depth = Literal["direct", "input"]
Norms = Literal["held", "opened"]
Patterns = Literal["held", "opened"]
Activations = Literal["secant", "slope"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How far a number is followed, and what is held fixed on the way.

    Linear steps distribute a number exactly, and a product of two computed factors gives each factor half. `depth`: "direct"
    stops at what each head and each feed-forward block writes to the residual stream, "input" follows these down to the input.
    """

    depth: Depth = "direct"
    norms: Norms = "held"  # held: the deviation of a norm is a constant; opened: it gets half, shared by parts of the variance
    patterns: Patterns = "held"  # held: attention weights are constants; opened: they get half, shared over scores
    activations: Activations = "secant"  # f(x) = f(0) + rise / x · x leaves nothing; f'(x) · x leaves a remainder

    def __post_init__(self) -> None:
        for name, choices in (("depth", Depth), ("norms", Norms), ("patterns", Patterns), ("activations", Activations)):
            one_of(name, getattr(self, name), get_args(choices))

    @property
    def text(self) -> str:
        """The rules in one line."""
        norm = "norm deviations held fixed" if self.norms == "held" else "norm deviations opened"
        slope = "activations by secant" if self.activations == "secant" else "activations by slope"
        if self.depth == "direct":
            return f"what each head and FFN writes; {norm}; {slope}"
        pattern = "attention patterns held fixed" if self.patterns == "held" else "attention patterns opened"
        return f"followed down to the input; {norm}; {pattern}; {slope}"
