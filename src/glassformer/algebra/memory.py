"""Bytes: weights, gradients, optimizer state, and the activations that are alive or saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.program import Program, Tensor

Dtype = Literal["float64", "float32", "bfloat16", "float16"]
Optimizer = Literal["adamw", "sgd", "none"]

BYTES: dict[str, int] = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
INDEX_BYTES = 8  # token ids are 64-bit integers
STATISTIC_BYTES = 4  # kernels keep a norm's mean and variance, and a softmax's log-sum, in float32
MASK_BYTES = 1  # a dropout mask is a byte an element


@dataclass(frozen=True)
class Memory:
    """Bytes by use, and what was assumed."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    assumptions: str

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
            "assumptions": self.assumptions,
        }


def memory(program: Program, *, training: bool, fused: bool, dtype: Dtype = "float32", optimizer: Optimizer = "adamw") -> Memory:
    """The bytes that one pass needs: saved activations in training, the most that is alive at once otherwise."""
    width = BYTES[dtype]
    parameters = sum(parameter.size for parameter in program.parameters)
    trained = sum(parameter.size for parameter in program.parameters if not parameter.frozen)
    if not training:
        text = f"{dtype} weights; activations: the most alive at once, each freed after its last use"
        return Memory(parameters * width, 0, 0, _alive(program, width, fused=fused), text)
    # 16-bit training keeps a float32 copy of the weights for the update.
    master = trained * 4 if width == 2 and optimizer != "none" else 0
    states = {"adamw": 2, "sgd": 0, "none": 0}[optimizer] * trained * max(width, 4)
    state = _optimizer_text(optimizer, master)
    text = f"{dtype} weights and gradients; {optimizer}: {state}; activations: what the backward pass needs again"
    return Memory(parameters * width, trained * width, states + master, _saved(program, width, fused=fused), text)


def _optimizer_text(optimizer: Optimizer, master: int) -> str:
    states = {"adamw": "two float32 moments", "sgd": "no state", "none": "no state"}[optimizer]
    return f"{states} and a float32 copy of the weights" if master else states


def _saved(program: Program, width: int, *, fused: bool) -> int:
    """Bytes of the tensors that backward needs: each counted once, however many steps need it."""
    parameters = {parameter.name for parameter in program.parameters}
    inputs = {tensor.name for tensor in program.inputs}
    inside = {step.name for step in program.steps if step.core} if fused else set()
    saved: dict[str, int] = {}
    for step in program.steps:
        for tensor in step.operation.saves(step.inputs, step.output):
            if tensor.name not in parameters and tensor.name not in inside:
                saved[tensor.name] = _bytes(tensor, width, index=tensor.name in inputs and len(tensor.axes) == 2)
        if step.core and fused and step.name.endswith(".weights"):
            # The fused kernel recomputes scores from q and k, and keeps one log-sum for each row of them,
            # and the result of the mix, to which the backward pass compares.
            saved[step.name] = STATISTIC_BYTES * (step.output.size // step.output.axes[-1].size)
    return sum(saved.values()) + _dropout_masks(program, inside)


def _dropout_masks(program: Program, inside: set[str]) -> int:
    if not program.spec.dropout:
        return 0
    dropped = [
        step
        for step in program.steps
        if step.name.endswith((".attention.out", ".ffn.out", ".attention.weights")) or step.name == "x"
    ]
    return sum(MASK_BYTES * step.output.size for step in dropped if step.name not in inside)


def _alive(program: Program, width: int, *, fused: bool) -> int:
    """The most bytes of results alive at once, each from the step that makes it to the last step that reads it."""
    inside = {step.name for step in program.steps if step.core} if fused else set()
    last_use = {tensor.name: number for number, step in enumerate(program.steps) for tensor in step.inputs}
    parameters = {parameter.name for parameter in program.parameters}
    sizes = {tensor.name: _bytes(tensor, width, index=len(tensor.axes) == 2) for tensor in program.inputs}
    alive = sum(sizes.values())
    most = alive
    ends: dict[int, list[str]] = {}
    for name, number in last_use.items():
        if name not in parameters:
            ends.setdefault(number, []).append(name)
    for number, step in enumerate(program.steps):
        if step.name not in inside:
            sizes[step.name] = _bytes(step.output, width, index=False)
            alive += sizes[step.name]
            most = max(most, alive)
        alive -= sum(sizes.pop(name, 0) for name in ends.get(number, ()))
    return most


def _bytes(tensor: Tensor, width: int, *, index: bool) -> int:
    if index:
        return tensor.size * INDEX_BYTES
    statistic = tensor.symbol in ("mean", "variance", "mean_square")
    return tensor.size * (max(STATISTIC_BYTES, width) if statistic else width)
