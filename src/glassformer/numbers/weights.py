"""Weights from a seed: small numbers that a person can read and multiply."""

from __future__ import annotations

import numpy as np

from glassformer.program import Parameter, Program
from glassformer.program.axes import Array
from glassformer.program.operations.lookups import sinusoidal_table
from glassformer.spec import GlassformerError, shown

STEPS = 4  # weights are multiples of 1/4 between -1 and 1


def check_seed(seed: int) -> None:
    """Refuse what no random numbers can start from."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise GlassformerError(f"seed={shown(seed)} is not allowed: a seed is a whole number from 0.")


def legible_weights(program: Program, seed: int = 0) -> dict[str, Array]:
    """Small legible numbers for every parameter: quarters between -1 and 1, norms near their usual start."""
    rng = np.random.default_rng(seed)
    weights: dict[str, Array] = {}
    for parameter in program.parameters:
        shape = parameter.tensor.shape
        value = rng.integers(-STEPS, STEPS, shape, endpoint=True) / STEPS
        if parameter.kind == "norm":
            value = (1.0 if parameter.tensor.symbol == "gamma" else 0.0) + value / STEPS
        weights[parameter.name] = sinusoidal_table(*shape) if parameter.frozen else value
    return weights


def random_weights(program: Program, seed: int = 0) -> dict[str, Array]:
    """Normal numbers scaled so that activations keep their size, as a fresh model has them."""
    rng = np.random.default_rng(seed)
    weights: dict[str, Array] = {}
    for parameter in program.parameters:
        shape = parameter.tensor.shape
        value = rng.normal(size=shape) / np.sqrt(_fan_in(parameter))
        if parameter.kind in ("bias", "norm"):  # near the 0 and 1 that they start from
            value = (1.0 if parameter.tensor.symbol == "gamma" else 0.0) + value / 10
        weights[parameter.name] = value
    return weights


def _fan_in(parameter: Parameter) -> int:
    """How many numbers a weight sums: its first axis; all heads with their features, or a few frames, where it reads those."""
    if parameter.kind != "weight":
        return 1
    axes = parameter.tensor.axes
    joint = axes[0].name == "head" or (len(axes) > 1 and axes[1].name == "kernel")
    return axes[0].size * axes[1].size if joint else axes[0].size
