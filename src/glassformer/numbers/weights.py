"""Weights from a seed: small numbers for reading, or normal numbers as in a new model."""

from __future__ import annotations

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.program import Parameter, Program
from glassformer.program.axes import Array
from glassformer.program.operations.lookups import sinusoidal_grid, sinusoidal_table
from glassformer.program.operations.rotations import rotary_table
from glassformer.spec import EncoderSpec

STEPS = 4  # weights are multiples of 1/4 between -1 and 1


def check_seed(seed: int) -> None:
    """Refuse an invalid seed."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise GlassformerError(f"seed={shown(seed)} is not allowed: seed must be a whole number from 0.")


def legible_weights(program: Program, seed: int = 0) -> dict[str, Array]:
    """Return small legible numbers for every parameter: quarters between -1 and 1, norms close to gamma 1 and beta 0."""
    rng = np.random.default_rng(seed)
    weights: dict[str, Array] = {}
    for parameter in program.parameters:
        shape = parameter.tensor.shape
        value = rng.integers(-STEPS, STEPS, shape, endpoint=True) / STEPS
        if parameter.kind == "norm":
            value = (1.0 if parameter.role == "gamma" else 0.0) + value / STEPS
        weights[parameter.name] = _stored_waves(program.spec, *shape) if parameter.frozen else value
    return weights


def _stored_waves(spec: EncoderSpec, rows: int, width: int) -> Array:
    """Return the position table of a model that stores its waves."""
    if spec.position == "sinusoidal_2d_stored":
        return sinusoidal_grid(spec.patch_grid, spec.class_tokens, width)
    if spec.stores_rotation:
        return rotary_table(rows, width)
    return sinusoidal_table(rows, width)


def random_weights(program: Program, seed: int = 0) -> dict[str, Array]:
    """Return normally distributed numbers, scaled as in a newly initialised model so that activations keep their size."""
    rng = np.random.default_rng(seed)
    weights: dict[str, Array] = {}
    for parameter in program.parameters:
        shape = parameter.tensor.shape
        value = rng.normal(size=shape) / np.sqrt(_fan_in(parameter))
        if parameter.kind in ("bias", "norm"):  # close to their initial values, 0 and 1
            value = (1.0 if parameter.role == "gamma" else 0.0) + value / 10
        weights[parameter.name] = value
    return weights


def _fan_in(parameter: Parameter) -> int:
    """Return how many inputs a weight sums over: its first axis, or its first two for W_O and convolutions."""
    if parameter.kind != "weight":
        return 1
    axes = parameter.tensor.axes
    joint = axes[0].name == "head" or (len(axes) > 1 and axes[1].name == "kernel")
    return axes[0].size * axes[1].size if joint else axes[0].size
