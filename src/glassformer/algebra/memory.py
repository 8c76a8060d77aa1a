"""Memory in bytes: weights, gradients, optimizer state, and activations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from glassformer.algebra.activations import Activations
from glassformer.program import Program
from glassformer.program.kept import MATERIALISED, MemoryModel

Dtype = Literal["float64", "float32", "bfloat16", "float16"]
Optimizer = Literal["adamw", "sgd", "none"]

BYTES: dict[str, int] = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True)
class Memory:
    """Bytes by use, with the assumptions."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    assumptions: str
    peak: int  # the peak: in training, activations are freed while gradients are allocated, so it is less than their sum

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations

    def to_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "gradients": self.gradients,
            "optimizer": self.optimizer,
            "activations": self.activations,
            "total": self.total,
            "peak": self.peak,
            "assumptions": self.assumptions,
        }


def memory(
    program: Program,
    *,
    training: bool,
    memory_model: MemoryModel = MATERIALISED,
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    predicted_share: Fraction = Fraction(1),
) -> Memory:
    """Return the memory of one pass: in training all saved activations, otherwise the peak.

    `predicted_share` is the share of the positions at which a masked-token head predicts.
    """
    width = BYTES[dtype]
    activations = Activations(program, memory_model, width, predicted_share)
    parameters = sum(parameter.size for parameter in program.parameters)
    chosen = program.trained
    trained = sum(one.size for one in program.parameters if not one.frozen and (chosen is None or one.name in chosen))
    if not training:
        held = "; the input of a layer stays in memory until the layer is finished" if memory_model.holds_layer_input else ""
        text = f"{dtype} weights; activations: the peak, each freed after its last use{held}"
        alive = activations.most_alive()
        return Memory(parameters * width, 0, 0, alive, text, parameters * width + alive)
    # 16-bit training keeps the weights in float32, as it does their gradients, and copies them for the products.
    master = trained * 4 if width == 2 and optimizer != "none" else 0
    states = {"adamw": 2, "sgd": 0, "none": 0}[optimizer] * trained * max(width, 4)
    formats = f"{dtype} copies of float32 weights, float32 gradients" if master else f"{dtype} weights and gradients"
    text = f"{formats}; {optimizer}: {_optimizer_text(optimizer, master)}; activations: those that the backward pass needs"
    if activations.unfused:
        text += ", attention scores with a learned bias stored in float32 or wider, as on a CPU"
    saved = activations.saved()
    kept = (parameters * width, states + master)
    gradient = max(width, 4) if master else width
    peak = sum(kept) + activations.backward_peak(saved, gradient)
    return Memory(kept[0], trained * gradient, kept[1], sum(one.size for one in saved.values()), text, peak)


def _optimizer_text(optimizer: Optimizer, master: int) -> str:
    states = {"adamw": "two float32 moments", "sgd": "no state", "none": "no state"}[optimizer]
    return f"{states} next to the float32 weights" if master else states
