"""Parts that occur several times: linear maps, norms, the feed-forward block."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Affine, Contract, Mean, Multiply, Normalise, Pointwise, Shift, Variance
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import GATES, EncoderSpec, NormKind

CONTRACT, AFFINE, MULTIPLY = Contract(), Affine(), Multiply()


def linear(
    write: Writer,
    symbol: str,
    role: Role,
    x: Tensor,
    index: str,
    into: tuple[Axis, ...],
    *,
    bias: bool,
    over: tuple[Axis, ...] | None = None,
) -> Tensor:
    """`x W + b`, W and b with this index: W maps the axes `over` (by default the last of x) to the axes `into`."""
    over = over or x.axes[-1:]
    axes = (*[axis for axis in x.axes if axis not in over], *into)
    weight = write.parameter(f"W_{index}", role, *over, *into)
    if not bias:
        return write.step(symbol, role, CONTRACT, x, weight, axes=axes)
    return write.step(symbol, role, AFFINE, x, weight, write.parameter(f"b_{index}", role, *into, kind="bias"), axes=axes)


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
    """LayerNorm (Ba et al. 2016) or RMSNorm over the last axis, in its steps; over `over` it is a group norm of each feature."""
    inside = write.at(word, "norm")
    features, kind = x.axes[-1], kind or spec.norm_kind
    normalised = standardised(inside, x, over or features.name, eps or spec.eps, centred=kind == "layer")
    scale = [inside.parameter("gamma", "gamma", features, kind="norm")]
    if kind == "layer" and spec.bias("norm"):
        scale.append(inside.parameter("beta", "beta", features, kind="norm"))
    return inside.result("norm output", Shift(plus_one=spec.norm_offset), normalised, *scale)


def standardised(inside: Writer, x: Tensor, over: str, eps: float, *, centred: bool = True) -> Tensor:
    """The part of a norm that has no parameters: minus the mean where it is centred, divided by the root of the variance."""
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
    hidden = linear(write, "hidden", "ffn hidden", x, "1", (d_ff,), bias=bias)
    active = write.step("active", "ffn activation", Pointwise(GATES.get(spec.activation, spec.activation)), hidden)
    if spec.gated:
        gate = linear(write, "gate", "ffn gate", x, "3", (d_ff,), bias=bias)
        active = write.step("gated", "gated ffn activation", MULTIPLY, active, gate)
    return linear(write, "out", "ffn output", active, "2", x.axes[-1:], bias=spec.bias("ffn_output"))
