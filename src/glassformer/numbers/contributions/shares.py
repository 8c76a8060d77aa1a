"""How each operation distributes a number over its inputs: coefficients of the output become coefficients of the inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from glassformer.numbers.contributions.rules import Rules
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import (
    Add,
    Affine,
    Cap,
    Contract,
    FourierMix,
    Gate,
    Inverse,
    Length,
    Lengthen,
    Mean,
    Multiply,
    Normalise,
    Pointwise,
    PoolPairs,
    Rescale,
    Rotate,
    Scale,
    Shift,
    Softmax,
    Total,
    Variance,
)
from glassformer.program.operations.base import Copy, aligned, position_of
from glassformer.program.operations.pointwise import FUNCTIONS
from glassformer.program.operations.products import contract

MIXES = ("mix", "local mix", "global mix")
NODES = 8  # of the Gauss-Legendre rule that averages the derivative of a softmax
SAME_SCORES = 1e-24  # relative: squares of differences below this are rounding


class At(NamedTuple):
    """A step, the values of its inputs, and the coefficient of each cell of its output in the number."""

    step: Step
    values: Sequence[Array]
    coefficient: Array
    fixed: Sequence[bool]  # which inputs are parameters
    rules: Rules


Shares = list[Array | None]  # a coefficient for each input; None: this input gets nothing


@singledispatch
def shares(operation: object, _at: At) -> Shares:
    """The coefficients of the inputs, so that Σ coefficient · input is Σ coefficient · output up to a stated remainder."""
    raise TypeError(f"{type(operation).__name__} states no shares")


@shares.register
def _(operation: Contract, at: At) -> Shares:
    root = math.sqrt(operation.terms * operation.divisor.size) if operation.divisor else 1.0
    left, right = at.step.inputs[:2]
    c = at.coefficient / root
    if at.fixed[1]:
        return [contract(at.step.output, c, right, at.values[1], left), None]
    to_right = contract(at.step.output, c, left, at.values[0], right)
    if at.step.role in MIXES and (at.rules.depth == "direct" or at.rules.patterns == "held"):
        return [None, to_right]
    return [contract(at.step.output, c, right, at.values[1], left) / 2, to_right / 2]


@shares.register
def _(_operation: Affine, at: At) -> Shares:
    x, weight, bias = at.step.inputs
    return [
        contract(at.step.output, at.coefficient, weight, at.values[1], x),
        None,
        _summed(at.coefficient, at.step.output, bias),
    ]


@shares.register
def _(_operation: Multiply, at: At) -> Shares:
    """A learned factor is held constant; two computed factors get half each."""
    output = at.step.output
    both = [aligned(tensor, value, output) for tensor, value in zip(at.step.inputs, at.values, strict=True)]
    if at.fixed[1]:
        return [_summed(at.coefficient * both[1], output, at.step.inputs[0]), None]
    return [_summed(at.coefficient * both[1 - i] / 2, output, at.step.inputs[i]) for i in (0, 1)]


@shares.register
def _(_operation: Add, at: At) -> Shares:
    return [_summed(at.coefficient, at.step.output, tensor) for tensor in at.step.inputs]


@shares.register
def _(operation: FourierMix, at: At) -> Shares:
    return [operation.evaluate(at.step.inputs, at.step.output, [at.coefficient])]


@shares.register
def _(operation: PoolPairs, at: At) -> Shares:
    """Each token of a pair has its share of their mean; the first one of all stands for both of its pair."""
    c = np.zeros_like(at.values[0])
    for number, pair in enumerate(operation.pairs(at.step.inputs)):
        for place in pair:
            c[:, place] += at.coefficient[:, number] / len(pair)
    return [c]


@shares.register
def _(operation: Inverse, at: At) -> Shares:
    """Never part of a run: it is counted, not computed."""
    return [operation.evaluate(at.step.inputs, at.step.output, at.values)]


@shares.register
def _(operation: Scale, at: At) -> Shares:
    return [at.coefficient * operation.factor]


@shares.register
def _(operation: Rescale, at: At) -> Shares:
    """The factor depends on which tokens are masked, not on their vectors."""
    scaled = at.coefficient * operation.factor(at.step.inputs, at.step.output, at.values)
    return [scaled, *[None] * (len(at.values) - 1)]


@shares.register
def _(operation: Shift, at: At) -> Shares:
    output, inputs = at.step.output, at.step.inputs
    scaled = at.coefficient * aligned(inputs[1], at.values[1] + operation.plus_one, output)
    return [scaled, None, *(_summed(at.coefficient, output, tensor) for tensor in inputs[2:])]


@shares.register
def _(operation: Mean, at: At) -> Shares:
    x, axis = at.step.inputs[0], position_of(at.step.inputs[0], operation.over)
    c = np.expand_dims(at.coefficient, axis)
    if len(at.values) == 1:
        return [np.broadcast_to(c / x.axes[axis].size, x.shape)]
    real = aligned(at.step.inputs[1], at.values[1].astype(float), x)
    return [np.broadcast_to(c * real / np.maximum(real.sum(axis, keepdims=True), 1), x.shape), None]


@shares.register
def _(operation: Total, at: At) -> Shares:
    x, axis = at.step.inputs[0], position_of(at.step.inputs[0], operation.over)
    return [np.broadcast_to(np.expand_dims(at.coefficient, axis), x.shape)]


@shares.register
def _(operation: Length, at: At) -> Shares:
    """Each number has its square's share of the sum of squares."""
    x, length = at.step.inputs[0], aligned(at.step.output, at.coefficient, at.step.inputs[0])
    size = aligned(at.step.output, operation.evaluate(at.step.inputs, at.step.output, at.values), x)
    return [length * np.divide(at.values[0], size, out=np.zeros_like(at.values[0]), where=size != 0)]


@shares.register
def _(operation: Lengthen, at: At) -> Shares:
    """The direction gets everything; its length and the learned length are held constant."""
    return [at.coefficient * aligned(at.step.inputs[1], operation.factor(at.values), at.step.output), None, None]


@shares.register
def _(operation: Gate, at: At) -> Shares:
    """`a · b · c − a + 2`: half of the product to each of a and b; the 2 is a separate line."""
    parts, constant = at.step.inputs
    a, b = operation.halves(at.step.inputs, at.values[0])
    c = aligned(constant, at.values[1], at.step.output)
    both = (at.coefficient * (b * c / 2 - 1), at.coefficient * a * c / 2)
    return [np.stack(both, axis=position_of(parts, operation.over)), None]


@shares.register
def _(operation: Variance, at: At) -> Shares:
    """A mean of squares: each part of x has its covariance with x."""
    x, axis = at.step.inputs[0], position_of(at.step.inputs[0], operation.over)
    centred = at.values[0] - (aligned(at.step.inputs[1], at.values[1], x) if len(at.values) == 2 else 0)
    c = np.expand_dims(at.coefficient, axis) * centred / x.axes[axis].size
    return [c, *(-_summed(c, x, tensor) for tensor in at.step.inputs[1:])]


@shares.register
def _(operation: Normalise, at: At) -> Shares:
    mean, variance = at.step.inputs[1:-1], at.step.inputs[-1]
    output = at.step.output
    spread = aligned(variance, at.values[-1], output)
    c = at.coefficient / np.sqrt(spread + operation.eps)
    of_variance: Array | None = None
    if at.rules.norms == "opened":
        c = c / 2
        centred = at.values[0] - (aligned(mean[0], at.values[1], output) if mean else 0)
        secant = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread != 0)
        # A variance of 0 has nothing to share: the normalised value is 0 as well.
        of_variance = _summed(c * centred * secant, output, variance)
    return [c, *(-_summed(c, output, tensor) for tensor in mean), of_variance]


@shares.register
def _(operation: Rotate, at: At) -> Shares:
    """The transpose of a rotation is the rotation back."""
    cosine, sine = operation.waves(at.step.inputs, at.step.output, at.values)
    turned, rest = np.split(at.coefficient, [cosine.shape[-1]], axis=-1)
    back = np.concatenate([turned * cosine - operation.quarter(turned * sine), rest], axis=-1)
    return [back, *[None] * (len(at.values) - 1)]


@shares.register(Copy)
def _(operation: Any, at: At) -> Shares:
    """Every cell of the output is a cell of an input, or 0; running the operation on cell numbers shows which."""
    tags: list[Array] = []
    starts: list[int | None] = []
    start = 1
    for value in at.values:
        moved = value.dtype.kind == "f"
        tags.append(np.arange(start, start + value.size, dtype=float).reshape(value.shape) if moved else value)
        starts.append(start if moved else None)
        start += value.size if moved else 0
    came = np.broadcast_to(operation.evaluate(at.step.inputs, at.step.output, tags), at.coefficient.shape)
    came = np.where(np.isfinite(came), came, 0).astype(int)
    sums = np.bincount(came.ravel(), weights=at.coefficient.ravel(), minlength=start)
    return [
        None if first is None else sums[first : first + value.size].reshape(value.shape)
        for first, value in zip(starts, at.values, strict=True)
    ]


@shares.register
def _(operation: Softmax, at: At) -> Shares:
    """The average derivative on the straight line from equal scores, corrected so that it gives the difference exactly.

    The correction (Gonzalez 1996) distributes the error of the quadrature in proportion to the squares of the scores.
    """
    axis = position_of(at.step.output, operation.over)
    seen = np.isfinite(at.values[0])
    scores = np.where(seen, at.values[0], 0.0)
    count = np.maximum(seen.sum(axis, keepdims=True), 1)
    scores = np.where(seen, scores - scores.sum(axis, keepdims=True) / count, 0.0)
    c = np.where(seen, at.coefficient, 0.0)
    average = np.zeros_like(c)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    for node, weight in zip(nodes, weights, strict=True):
        p = operation.evaluate(at.step.inputs, at.step.output, [np.where(seen, scores * (node + 1) / 2, -np.inf)])
        average += weight / 2 * p * (c - (c * p).sum(axis, keepdims=True))
    p = operation.evaluate(at.step.inputs, at.step.output, at.values)
    moved = (c * (p - seen / count)).sum(axis, keepdims=True) - (average * scores).sum(axis, keepdims=True)
    squares = np.square(scores).sum(axis, keepdims=True)
    apart = squares > SAME_SCORES * (1 + np.square(np.where(seen, at.values[0], 0.0)).sum(axis, keepdims=True))
    average += scores * np.divide(moved, squares, out=np.zeros_like(moved), where=apart)
    return [average - np.where(seen, average.sum(axis, keepdims=True) / count, 0.0)]


@shares.register
def _(operation: Pointwise, at: At) -> Shares:
    if at.rules.activations == "slope":
        return [at.coefficient * FUNCTIONS[operation.function].slope(at.values[0])]
    return [at.coefficient * _secant(operation, at)]


@shares.register
def _(operation: Cap, at: At) -> Shares:
    return [at.coefficient * (operation.slope(at.values[0]) if at.rules.activations == "slope" else _secant(operation, at))]


def _secant(operation: Pointwise | Cap, at: At) -> Array:
    """(f(x) − f(0)) / x."""
    x = at.values[0]
    rise = operation.evaluate(at.step.inputs, at.step.output, [x]) - at_zero(operation, at)
    return np.divide(rise, x, out=np.zeros_like(x), where=x != 0)


def at_zero(operation: Pointwise | Cap, at: At) -> float:
    """f(0): 1/2 for a sigmoid, 0 for the others."""
    return float(operation.evaluate(at.step.inputs, at.step.output, [np.zeros(())]))


@singledispatch
def constant(_operation: object, _at: At) -> float | None:
    """Σ coefficient · the part of the output that does not depend on the inputs; None if there is no such part."""
    return None


@constant.register
def _(operation: Softmax, at: At) -> float:
    """Equal weights."""
    seen = np.isfinite(at.values[0])
    count = np.maximum(seen.sum(position_of(at.step.output, operation.over), keepdims=True), 1)
    return float(np.where(seen, at.coefficient / count, 0.0).sum())


@constant.register
def _(_operation: Gate, at: At) -> float:
    return 2 * float(at.coefficient.sum())


@constant.register(Pointwise)
@constant.register(Cap)
def _(operation: Any, at: At) -> float | None:
    start = at_zero(operation, at)
    return start * float(at.coefficient.sum()) if start else None


def leftover(at: At, output: Array, found: Shares) -> float:
    """The part not covered by the shares of a step: Σ coefficient · output − Σ coefficient · input."""
    given = [product(c, value) for c, value in zip(found, at.values, strict=True) if c is not None]
    return math.fsum([float(product(at.coefficient, output).sum()), *(-float(part.sum()) for part in given)])


def product(coefficient: Array, value: Array) -> Array:
    """Coefficient · value, 0 where the coefficient is 0: a masked score is −∞."""
    return np.multiply(coefficient, value, out=np.zeros(coefficient.shape), where=coefficient != 0)


def _summed(c: Array, output: Tensor, tensor: Tensor) -> Array:
    """The transpose of `aligned`: summed over the axes that the tensor lacks, the others in its order."""
    names = [axis.name for axis in tensor.axes]
    c = c.sum(tuple(i for i, axis in enumerate(output.axes) if axis.name not in names))
    left = [axis.name for axis in output.axes if axis.name in names]
    return c.transpose([left.index(name) for name in names])
