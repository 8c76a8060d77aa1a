"""A bottleneck layer: projections to a smaller width and back, inside a residual connection (Sun et al. 2020, section 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Add
from glassformer.program.parts import feed_forward, linear, norm
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec

ADD = Add()
Attend = Callable[[Tensor, Tensor], Tensor]  # the input of queries and keys, and the input of values


def bottleneck_layer(write: Writer, spec: EncoderSpec, x: Tensor, attend: Attend) -> None:
    """Project down, attention, feed-forward blocks, project up; each norm follows its sum."""
    y = _narrowed(write, spec, "narrow", x)
    if spec.bottleneck_reads == "all":
        read = attend(y, y)
    else:
        read = attend(_narrowed(write, spec, "asked", x), x)
    y = norm(write, spec, "norm_1", write.step("sum_1", "attention residual", ADD, y, read))
    y = feed_forwards(write, spec, y)
    wide = linear(write, "widened", "widened", y, "wide", x.axes[-1:], bias=spec.bias("output"))
    norm(write, spec, "norm_3", write.step("sum_3", "bottleneck residual", ADD, x, wide))


def _narrowed(write: Writer, spec: EncoderSpec, symbol: str, x: Tensor) -> Tensor:
    into = (Axis("d_bottleneck", spec.inner_width),)
    return norm(write, spec, f"norm_{symbol}", linear(write, symbol, "narrowed", x, symbol, into, bias=spec.bias("output")))


def feed_forwards(write: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """Feed-forward blocks in sequence, each with a residual connection and a norm after the sum."""
    for number in range(1, spec.ffn_blocks + 1):
        last = number == spec.ffn_blocks
        made = feed_forward(write.at("ffn" if last else f"ffn_{number}", "ffn"), spec, x)
        added = write.step("sum_2" if last else f"sum_ffn_{number}", "ffn residual", ADD, x, made)
        x = norm(write, spec, "norm_2" if last else f"norm_ffn_{number}", added)
    return x
