"""Embeddings: from tokens, an image or sound to the input of the first layer."""

from __future__ import annotations

import math

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import (
    Add,
    HalfSinusoid,
    Join,
    LeaveOut,
    Lookup,
    Neighbours,
    Patch,
    Rescale,
    Rows,
    Scale,
    Sinusoid,
    Slice,
    Take,
)
from glassformer.program.page import on_page, stored_picture
from glassformer.program.parts import linear, norm
from glassformer.program.program import Writer
from glassformer.program.sound import blanked, convolved_positions, sound
from glassformer.spec import EncoderSpec, token_names


def embed(
    write: Writer,
    spec: EncoderSpec,
    lengths: tuple[Axis, Axis],
    *,
    name: str | None = None,
    table: Tensor | None = None,
    real: Tensor | None = None,
) -> Tensor:
    """The input of the first layer, always named `x`.

    `lengths` are the axes of the batch and of positions. `name` is the name of the input, `table` a token table shared with
    another stack; `real` marks the positions that are not padding, for convolutions over neighbours.
    """
    batch, t = lengths
    d_model = Axis("d_model", spec.d_model)
    inside = write.at("embeddings", "embeddings")
    before = len(write.program.steps)
    if spec.reads == "vectors":
        given = _as_given(spec)
        x = write.input(name or ("x" if given else "vectors"), "input", batch, t, d_model, hidden=given)
        x = _add_positions(inside, spec, [x], t, d_model)
    elif spec.reads == "tokens":
        x = _tokens(write, inside, spec, write.input(name or "tokens", "input", batch, t), table, real)
    elif spec.reads == "frames":
        x = sound(write, inside, spec, batch, t)
        x = blanked(inside, x, real) if spec.raw_sound else x
        around = spec.convolves_positions
        x = convolved_positions(inside, spec, x) if around else _add_positions(inside, spec, [x], t, d_model)
    else:
        x = _image(write, inside, spec, batch, t)
    if spec.embedding_norm:
        x = norm(inside, spec, "norm", x)
    if x.axes[-1].name == "d_embedding":
        x = _projected(inside, spec, x)
    return write.hidden("x") if len(write.program.steps) > before else x


def _projected(inside: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """Vectors of the width of the token table, in the width of the layers."""
    into = (Axis("d_model", spec.d_model),)
    return linear(inside, "projected", "projected embedding", x, "E", into, bias=spec.bias("embedding"))


def _as_given(spec: EncoderSpec) -> bool:
    """Whether the input vectors enter the first layer unchanged."""
    return not (spec.learns_positions or spec.computes_positions or spec.embedding_norm)


def _tokens(
    write: Writer, inside: Writer, spec: EncoderSpec, tokens: Tensor, shared: Tensor | None, real: Tensor | None
) -> Tensor:
    width = Axis("d_model" if spec.embedding_size is None else "d_embedding", spec.table_width)
    if shared is None:
        table = inside.parameter("E_token", "token", Axis("vocab", spec.vocab or 0), width, kind="table")
    else:
        table = inside.tied("E_token", shared)
    terms = [inside.step("token", "token", Lookup(), tokens, table)]
    if spec.embedding_scale == "sqrt_d_model":
        terms = [inside.step("scaled", "scaled token", Scale(math.sqrt(spec.d_model), "√d_model"), *terms)]
    if spec.token_dropout is not None:
        padding = () if real is None else (real.seen(s="t"),)
        terms = [inside.step("rescaled", "rescaled token", Rescale(spec.token_dropout), *terms, tokens, *padding)]
    if spec.token_kernel is not None:
        terms, width = [_from_neighbours(inside, spec, terms[0])], Axis("d_model", spec.d_model)
    terms += _beside_tokens(write, inside, spec, tokens, width)
    if spec.token_norm:
        terms = [norm(inside, spec, "token_norm", terms[0])]
    if spec.project_first and width.name == "d_embedding":
        width = Axis("d_model", spec.d_model)
        terms = [_projected(inside, spec, terms[0])]
    return _add_positions(inside, spec, terms, tokens.axes[1], width)


def _beside_tokens(write: Writer, inside: Writer, spec: EncoderSpec, tokens: Tensor, width: Axis) -> list[Tensor]:
    """Vectors of segments, of a task and of places on a page, which are added to those of the tokens."""
    terms: list[Tensor] = []
    if spec.segments is not None and not spec.funnel:
        segments = write.input("segments", "input", *tokens.axes)
        table = inside.parameter("E_segment", "segment", Axis("segment", spec.segments), width, kind="table")
        terms.append(inside.step("segment", "segment", Lookup(), segments, table))
    if spec.tasks is not None:
        table = inside.parameter("E_task", "task", Axis("task", spec.tasks), width, kind="table")
        terms.append(inside.step("task", "task", Take("task", 0), table))
    if spec.languages is not None:
        inside.parameter("E_language", "language", Axis("language", spec.languages), width, kind="table")
    if spec.page is not None:
        terms += on_page(write, inside, spec, tokens, width)
        stored_picture(inside, spec)
    return terms


def _from_neighbours(inside: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """The embeddings of each token and its neighbours projected to d_model (Sun et al. 2020, section 3.3)."""
    kernel = Axis("kernel", spec.token_kernel or 1)
    beside = Neighbours("t", x.axis("t"), kernel, 1, kernel.size // 2, descending=True)
    near = inside.step("neighbours", "position neighbours", beside, x)
    into, over = (Axis("d_model", spec.d_model),), (kernel, x.axes[-1])
    return linear(inside, "from_neighbours", "token projection", near, "N", into, bias=spec.bias("embedding"), over=over)


def _image(write: Writer, inside: Writer, spec: EncoderSpec, batch: Axis, t: Axis) -> Tensor:
    d_model, names = Axis("d_model", spec.d_model), ("frame", "channel", "row", "column")[-len(spec.picture_shape) :]
    sides = [Axis(name, size) for name, size in zip(names, spec.picture_shape, strict=True)]
    image = write.input("image", "input", batch, *sides)
    patch, pixel, depth = Axis("patch", spec.patches), Axis("pixel", spec.patch_length), spec.patch_depth
    cut = Patch((*depth, *spec.patch_size), patch, pixel, (*depth, *spec.patch_steps))
    pixels = inside.step("pixels", "pixels", cut, image)
    x = linear(inside, "patches", "patch", pixels, "patch", (d_model,), bias=spec.bias("patch"))
    if spec.mask_token:
        inside.parameter("mask_token", "mask token", d_model, kind="token")
    tokens = [inside.parameter(name, "class token", d_model, kind="token") for name in token_names(spec.class_tokens)]
    placed = Axis("t", spec.patches + spec.class_tokens)
    x = inside.step("sequence", "sequence", Join(placed, "patch"), *tokens, x)
    x = _add_positions(inside, spec, [x], placed, d_model)
    if spec.mask_ratio:
        placed = Axis("t", spec.patches_kept + spec.class_tokens)
        x = inside.step("kept", "kept patches", LeaveOut(placed, spec.class_tokens, spec.mask_ratio), x)
    if spec.registers:
        registers = inside.parameter("registers", "register", Axis("t", spec.registers), d_model, kind="token")
        first = [inside.step("before", "slice", Slice("t", 0, spec.class_tokens), x)] if tokens else []
        patches = inside.step("after", "slice", Slice("t", spec.class_tokens, placed.size), x) if tokens else x
        x = inside.step("with_registers", "sequence with registers", Join(t, "t"), *first, registers, patches)
    return x


def _add_positions(inside: Writer, spec: EncoderSpec, terms: list[Tensor], along: Axis, width: Axis) -> Tensor:
    if spec.learns_positions:
        frozen = spec.stores_waves
        rows = Axis("position", spec.position_rows)
        table = inside.parameter("E_position", "position", rows, width, kind="table", frozen=frozen)
        terms.append(inside.step("position", "position", Rows(along, spec.position_offset), table))
    elif spec.computes_positions:
        halves = spec.position == "sinusoidal_halves"
        wave = HalfSinusoid(along, width, offset=spec.position_offset) if halves else Sinusoid(along, width)
        terms.append(inside.step("position", "position", wave))
    return inside.step("sum", "embedding sum", Add(), *terms) if len(terms) > 1 else terms[0]
