"""From tokens, an image or sound to the vectors that enter the first layer."""

from __future__ import annotations

import math

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Add, Join, Lookup, Neighbours, Patch, Pointwise, Rows, Scale, Sinusoid, Slice
from glassformer.program.parts import linear, norm
from glassformer.program.program import Sizes, Writer
from glassformer.spec import SOUND_WIDTH, EncoderSpec


def embed(write: Writer, spec: EncoderSpec, sizes: Sizes) -> Tensor:
    """What enters the first layer, named `x` whatever made it."""
    batch, t, d_model = Axis("batch", sizes.batch), Axis("t", sizes.t), Axis("d_model", spec.d_model)
    inside = write.at("embeddings")
    if spec.reads == "vectors":
        x = write.input("x" if _as_given(spec) else "vectors", batch, t, d_model)
        x = _add_positions(inside, spec, [x], t, d_model)
    elif spec.reads == "tokens":
        x = _tokens(write, inside, spec, batch, t)
    elif spec.reads == "frames":
        x = _sound(write, inside, spec, batch, t)
    else:
        x = _image(write, inside, spec, batch, t)
    if spec.embedding_norm:
        x = norm(inside, spec, "norm", x)
    if x.axes[-1].name == "d_embedding":
        x = linear(inside, "projected", x, "E", (d_model,), bias=spec.bias("embedding"))
    return write.name_last("x") if write.program.steps else x


def _as_given(spec: EncoderSpec) -> bool:
    """Whether vectors enter the first layer as they are."""
    return not (spec.learns_positions or spec.position == "sinusoidal" or spec.embedding_norm)


def _tokens(write: Writer, inside: Writer, spec: EncoderSpec, batch: Axis, t: Axis) -> Tensor:
    width = Axis("d_model" if spec.embedding_size is None else "d_embedding", spec.table_width)
    tokens = write.input("tokens", batch, t)
    table = inside.parameter("E_token", Axis("vocab", spec.vocab or 0), width, kind="table")
    terms = [inside.step("token", Lookup(), tokens, table)]
    if spec.embedding_scale == "sqrt_d_model":
        terms = [inside.step("scaled", Scale(math.sqrt(spec.d_model), "√d_model"), *terms)]
    if spec.segments is not None:
        segments = write.input("segments", batch, t)
        table = inside.parameter("E_segment", Axis("segment", spec.segments), width, kind="table")
        terms.append(inside.step("segment", Lookup(), segments, table))
    return _add_positions(inside, spec, terms, t, width)


def _image(write: Writer, inside: Writer, spec: EncoderSpec, batch: Axis, t: Axis) -> Tensor:
    (height, width), d_model = spec.image_size, Axis("d_model", spec.d_model)
    image = write.input("image", batch, Axis("channel", spec.channels), Axis("row", height), Axis("column", width))
    patch, pixel = Axis("patch", spec.patches), Axis("pixel", spec.channels * spec.patch_size[0] * spec.patch_size[1])
    pixels = inside.step("pixels", Patch(spec.patch_size, patch, pixel), image)
    x = linear(inside, "patches", pixels, "patch", (d_model,), bias=spec.bias("patch"))
    if spec.mask_token:
        inside.parameter("mask_token", d_model, kind="token")
    tokens = [inside.parameter(name, d_model, kind="token") for name in token_names(spec.class_tokens)]
    placed = Axis("t", spec.patches + spec.class_tokens)
    x = inside.step("sequence", Join(placed, "patch"), *tokens, x)
    x = _add_positions(inside, spec, [x], placed, d_model)
    if spec.registers:
        registers = inside.parameter("registers", Axis("t", spec.registers), d_model, kind="token")
        first = [inside.step("before", Slice("t", 0, spec.class_tokens), x)] if tokens else []
        patches = inside.step("after", Slice("t", spec.class_tokens, placed.size), x) if tokens else x
        x = inside.step("with_registers", Join(t, "t"), *first, registers, patches)
    return x


def _sound(write: Writer, inside: Writer, spec: EncoderSpec, batch: Axis, t: Axis) -> Tensor:
    """Two convolutions along time, each followed by GELU whatever the layers use (Radford et al. 2022)."""
    frame, kernel, d_model = Axis("frame", spec.frames), Axis("kernel", SOUND_WIDTH), Axis("d_model", spec.d_model)
    x = write.input("frames", batch, Axis("mel", spec.mels or 0), frame)
    for number, along, into in (("1", frame, d_model.renamed("d_conv")), ("2", t, d_model)):
        near = inside.step(f"neighbours_{number}", Neighbours("frame", along, kernel), x)
        convolved = linear(
            inside, f"convolved_{number}", near, f"conv{number}", (into,), bias=spec.bias("embedding"), over=near.axes[2:]
        )
        x = inside.step(f"active_{number}", Pointwise("gelu"), convolved)
    return _add_positions(inside, spec, [x], t, d_model)


def token_names(count: int) -> list[str]:
    """The learned tokens before the patches: class, distillation, then by number."""
    return ["class_token", "distillation_token", *(f"token_{i}" for i in range(2, count))][:count]


def _add_positions(inside: Writer, spec: EncoderSpec, terms: list[Tensor], along: Axis, width: Axis) -> Tensor:
    if spec.learns_positions:
        frozen = spec.position == "sinusoidal_stored"
        table = inside.parameter("E_position", Axis("position", spec.position_rows), width, kind="table", frozen=frozen)
        terms.append(inside.step("position", Rows(along, spec.position_offset), table))
    elif spec.position == "sinusoidal":
        terms.append(inside.step("position", Sinusoid(along, width)))
    return inside.step("sum", Add(), *terms) if len(terms) > 1 else terms[0]
