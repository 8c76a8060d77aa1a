"""The rules of a ledger: how nonlinear steps distribute a number over their inputs."""

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
    """How far a number is attributed, and which factors are held constant.

    Linear steps distribute a number exactly, and a product of two computed factors gives each factor half. `depth`: "direct"
    stops at the outputs of heads and feed-forward blocks to the residual stream; "input" continues down to the input.
    """

    depth: Depth = "direct"
    norms: Norms = "held"  # held: the deviation of a norm is a constant; opened: it gets half, shared by parts of the variance
    patterns: Patterns = "held"  # held: attention weights are constants; opened: they get half, shared over scores
    activations: Activations = "secant"  # f(x) = f(0) + rise / x · x has no remainder; f'(x) · x has one

    def __post_init__(self) -> None:
        for name, choices in (("depth", Depth), ("norms", Norms), ("patterns", Patterns), ("activations", Activations)):
            one_of(name, getattr(self, name), get_args(choices))

    @property
    def text(self) -> str:
        """The rules in one line."""
        norm = "norm deviations held fixed" if self.norms == "held" else "norm deviations opened"
        slope = "activations by secant" if self.activations == "secant" else "activations by slope"
        if self.depth == "direct":
            return f"outputs of heads and FFNs; {norm}; {slope}"
        pattern = "attention patterns held fixed" if self.patterns == "held" else "attention patterns opened"
        return f"down to the input; {norm}; {pattern}; {slope}"
