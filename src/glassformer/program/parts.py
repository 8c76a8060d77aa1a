"""Parts that occur several times: linear maps, norms, the feed-forward block."""

from __future__ import annotations

import math

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Affine, Contract, Mean, Merge, Multiply, Normalise, Pointwise, Shift, Split, Variance
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import GATES, EncoderSpec, NormKind

CONTRACT, AFFINE, MULTIPLY = Contract(), Affine(), Multiply()


def linear(  # noqa: PLR0913  # all of these define a matrix
    write: Writer,
    symbol: str,
    role: Role,
    x: Tensor,
    index: str,
    into: tuple[Axis, ...],
    *,
    bias: bool,
    over: tuple[Axis, ...] | None = None,
    groups: int = 1,
) -> Tensor:
    """`x W + b`, W and b with this index: W maps the axes `over` (by default the last of x) to the axes `into`.

    With several groups of features, each has its own matrix (Iandola et al. 2020).
    """
    over = over or x.axes[-1:]
    if groups > 1:
        x = _cut(write, symbol, x, over, groups)
        outer = (x.axes[-2], Axis("d_out", math.prod([axis.size for axis in into]) // groups))
        learned = [write.parameter(f"W_{index}", role, *outer, x.axes[-1])]
        learned += [write.parameter(f"b_{index}", role, *outer, kind="bias")] if bias else []
        axes = (*x.axes[:-2], *outer)
        made = write.step(f"{symbol}_grouped", "grouped projection", AFFINE if bias else CONTRACT, x, *learned, axes=axes)
        return _side_by_side(write, symbol, role, made, into)
    axes = (*[axis for axis in x.axes if axis not in over], *into)
    weight = write.parameter(f"W_{index}", role, *over, *into)
    if not bias:
        return write.step(symbol, role, CONTRACT, x, weight, axes=axes)
    return write.step(symbol, role, AFFINE, x, weight, write.parameter(f"b_{index}", role, *into, kind="bias"), axes=axes)


def _cut(write: Writer, symbol: str, x: Tensor, over: tuple[Axis, ...], groups: int) -> Tensor:
    """Split the features along `over` into groups."""
    if len(over) > 1:
        joined = Axis("d_joined", math.prod([axis.size for axis in over]))
        x = write.step(f"{symbol}_joined", "feature groups", Merge(tuple(axis.name for axis in over), joined), x)
    features = x.axes[-1]
    into = (Axis("group", groups), Axis("d_in", features.size // groups))
    return write.step(f"{symbol}_groups", "feature groups", Split(features.name, into), x)


def _side_by_side(write: Writer, symbol: str, role: Role, made: Tensor, into: tuple[Axis, ...]) -> Tensor:
    """Concatenate the features of all groups, along the axes `into`."""
    group, inside = made.axes[-2:]
    if len(into) == 1:
        return write.step(symbol, role, Merge((group.name, inside.name), into[0]), made)
    flat = Axis("d_flat", group.size * inside.size)
    row = write.step(f"{symbol}_flat", "feature groups", Merge((group.name, inside.name), flat), made)
    return write.step(symbol, role, Split(flat.name, into), row)


def norm(
    write: Writer,
    spec: EncoderSpec,
    word: str,
    x: Tensor,
    *,
    eps: float | None = None,
    kind: NormKind | None = None,
    over: str | None = None,
) -> Tensor:
    """LayerNorm (Ba et al. 2016) or RMSNorm over the last axis, step by step, or gamma and beta alone.

    With `over` it is a group norm of each feature.
    """
    inside = write.at(word, "norm")
    features, kind = x.axes[-1], kind or spec.norm_kind
    normalised = x
    if kind != "scale":
        normalised = standardised(inside, x, over or features.name, eps or spec.eps, centred=kind == "layer")
    scale = [inside.parameter("gamma", "gamma", features, kind="norm")]
    if kind != "rms" and spec.bias("norm"):
        scale.append(inside.parameter("beta", "beta", features, kind="norm"))
    return inside.result("norm output", Shift(plus_one=spec.norm_offset), normalised, *scale)


def standardised(inside: Writer, x: Tensor, over: str, eps: float, *, centred: bool = True) -> Tensor:
    """The part of a norm without parameters: subtract the mean if `centred`, and divide by the root of the variance."""
    mean: tuple[Tensor, ...] = ()
    if centred:
        mean = (inside.step("mean", "mean", Mean(over), x),)
        variance = inside.step("variance", "variance", Variance(over), x, *mean)
    else:
        variance = inside.step("mean_square", "variance", Variance(over), x)
    return inside.step("normalised", "normalised", Normalise(eps), x, *mean, variance)


def feed_forward(write: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """`f(x W_1 + b_1) W_2 + b_2`; gated: `(f(x W_1 + b_1) ⊙ (x W_3 + b_3)) W_2 + b_2`."""
    bias, d_ff = spec.bias("ffn"), Axis("d_ff", spec.ffn_width)
    hidden = linear(write, "hidden", "ffn hidden", x, "1", (d_ff,), bias=bias, groups=spec.groups_of("ffn"))
    active = write.step("active", "ffn activation", Pointwise(GATES.get(spec.activation, spec.activation)), hidden)
    if spec.gated:
        gate = linear(write, "gate", "ffn gate", x, "3", (d_ff,), bias=bias)
        active = write.step("gated", "gated ffn activation", MULTIPLY, active, gate)
    bias, groups = spec.bias("ffn_output"), spec.groups_of("ffn_output")
    return linear(write, "out", "ffn output", active, "2", x.axes[-1:], bias=bias, groups=groups)
