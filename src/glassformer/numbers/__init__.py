"""Numbers of a forward pass: run a model in float64, explain any number, change any number."""

from glassformer.numbers.checkpoint import Checkpoint, open_checkpoint
from glassformer.numbers.contributions.ledger import Contributions
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.explain import Explanation
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import legible_weights, random_weights
from glassformer.numbers.what_if import Difference, knock_out, swap_tokens, what_if

__all__ = [
    "Checkpoint",
    "Contributions",
    "Difference",
    "Explanation",
    "Rules",
    "Run",
    "knock_out",
    "legible_weights",
    "open_checkpoint",
    "random_weights",
    "run",
    "swap_tokens",
    "what_if",
]
