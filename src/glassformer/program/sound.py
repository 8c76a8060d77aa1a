"""From sound to vectors: convolutions along time, and convolutional positions."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import (
    Add,
    Blank,
    Length,
    Lengthen,
    Merge,
    Neighbours,
    Pointwise,
    Slice,
    Split,
)
from glassformer.program.parts import AFFINE, CONTRACT, linear, norm, standardised
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

SOUND_EPS = 1e-5  # of the norms between convolutions, independent of the layers
GELU = Pointwise("gelu")


def sound(write: Writer, inside: Writer, spec: EncoderSpec, batch: Axis, t: Axis) -> Tensor:
    """Convolutions along time, each followed by GELU, independent of the layers (Baevski et al. 2020, Radford et al. 2022)."""
    frame, last = Axis("frame", spec.frames), len(spec.convolutions)
    x = write.input("frames", "input", batch, Axis("mel", spec.mels or 0), frame)
    for number, convolution in enumerate(spec.convolutions, start=1):
        frame = t if number == last else Axis("frame", convolution.positions(frame.size))
        wide = Axis(_width_name(spec, number), convolution.width)
        beside = Neighbours("frame", frame, Axis("kernel", convolution.kernel), convolution.stride, convolution.reach)
        near = inside.step(f"neighbours_{number}", "neighbours", beside, x)
        bias = spec.bias("convolution")
        x = linear(inside, f"convolved_{number}", "convolution", near, f"conv{number}", (wide,), bias=bias, over=near.axes[2:])
        if spec.conv_norm == "layer":
            x = norm(inside, spec, f"conv_norm_{number}", x, eps=SOUND_EPS, kind="layer")
        elif spec.conv_norm == "group" and number == 1:
            x = norm(inside, spec, "conv_norm_1", x, eps=SOUND_EPS, kind="layer", over=frame.name)
        role: Role = "sound" if number == last else "convolution activation"
        x = inside.step("sound" if number == last else f"active_{number}", role, GELU, x)
    if not spec.raw_sound:
        return x
    if spec.feature_norm:
        x = norm(inside, spec, "feature_norm", x)
    if spec.mask_token:
        inside.parameter("mask_token", "mask token", Axis("d_model", spec.d_model), kind="token")
    return linear(
        inside, "projected", "projected embedding", x, "E", (Axis("d_model", spec.d_model),), bias=spec.bias("embedding")
    )


def _width_name(spec: EncoderSpec, number: int) -> str:
    """The name of the feature axis of a convolution; that of the last one is the width of the next step."""
    if number == len(spec.convolutions):
        return "d_embedding" if spec.raw_sound else "d_model"
    return "d_conv" if number == 1 else f"d_conv_{number}"


def blanked(inside: Writer, x: Tensor, real: Tensor | None) -> Tensor:
    """Set padding to zero, so that a convolution over neighbours does not read it."""
    return x if real is None else inside.step("real", "real sound", Blank(), x, real.seen(s="t"))


def convolved_positions(inside: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """Convolutional positions (Mohamed et al. 2019): the output of grouped convolutions is added."""
    added = x
    for number in range(1, spec.position_layers + 1):
        added = _positional(inside, spec, added, "" if spec.position_layers == 1 else f"_{number}")
    return inside.step("sum", "embedding sum", Add(), x, added)


def _positional(inside: Writer, spec: EncoderSpec, x: Tensor, number: str) -> Tensor:
    """One positional convolution. An even kernel gives one position too many, which is dropped."""
    batch, t, d_model = x.axes
    share = spec.d_model // spec.position_groups
    group, inner, outer = Axis("group", spec.position_groups), Axis("d_in", share), Axis("d_out", share)
    kernel = Axis("kernel", spec.position_kernel)
    cut = inside.step(f"position_groups{number}", "feature groups", Split("d_model", (group, inner)), x)
    whole = t._replace(size=t.size + 1 - kernel.size % 2)
    near = inside.step(
        f"position_neighbours{number}", "position neighbours", Neighbours("t", whole, kernel, 1, kernel.size // 2), cut
    )
    weight = _positional_weight(inside, spec, (group, outer, inner, kernel), number)
    axes = (batch, whole, group, outer)
    role: Role = "position convolution"
    symbol = f"position_convolved{number}"
    if spec.bias("embedding"):
        bias = inside.parameter(f"b_position{number}", "position convolution", group, outer, kind="bias")
        made = inside.step(symbol, role, AFFINE, near, weight, bias, axes=axes)
    else:
        made = inside.step(symbol, role, CONTRACT, near, weight, axes=axes)
    y = inside.step(f"position_merged{number}", "feature groups", Merge(("group", "d_out"), d_model), made)
    if whole.size > t.size:
        y = inside.step(f"position_cut{number}", "slice", Slice("t", 0, t.size), y)
    if spec.position_norm == "output":
        y = standardised(inside.at(f"position_norm{number}", "norm"), y, "d_model", SOUND_EPS)
    last = number in ("", f"_{spec.position_layers}")
    return inside.step("position" if last else f"position{number}", "position" if last else "position activation", GELU, y)


def _positional_weight(inside: Writer, spec: EncoderSpec, axes: tuple[Axis, ...], number: str) -> Tensor:
    """The weight as stored, or the direction and length of weight norm for each kernel position."""
    if spec.position_norm == "output":
        return inside.parameter(f"V_position{number}", "position weight", *axes)
    direction = inside.parameter(f"V_position{number}", "position direction", *axes)
    length = inside.parameter(f"g_position{number}", "position length", axes[-1], kind="scale")
    own = inside.step(f"position_length{number}", "position length", Length("kernel"), direction)
    return inside.step(f"W_position{number}", "position weight", Lengthen(), direction, length, own)
