"""spec -> program: the whole encoder, from input to head."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.program.attention import attention, relative_table
from glassformer.program.axes import Axis, Tensor
from glassformer.program.embeddings import embed
from glassformer.program.heads import finish
from glassformer.program.operations import Add, Mask, Multiply
from glassformer.program.parts import feed_forward, norm
from glassformer.program.program import Program, Sizes, Writer
from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

ADD, MULTIPLY = Add(), Multiply()
DEFAULT_TOKENS = 128


def build(spec: EncoderSpec, *, batch: int = 1, t: int | None = None, padded: bool = False) -> Program:
    """The program of `spec` for `batch` inputs of `t` tokens; `padded`: some of the tokens may be padding."""
    program = Program(spec, sizes(spec, batch, t))
    write = Writer(program)
    layers = write.at("layers", "layers")
    x = embed(write, spec, program.sizes)
    real = write.input("attend", "attend", x.axes[0], Axis("s", x.axis("t").size)) if padded else None
    by_distance: Tensor | None = None  # what a relative table gives to the attention
    for number in range(spec.layers):
        here = layers.layer(number, spec.layer_weights(number))
        if spec.relative and (by_distance is None or spec.relative_tables == "per_layer"):
            where = here if spec.relative_tables == "per_layer" else layers
            by_distance = relative_table(where, spec, x.axis("t"), x.axis("t").renamed("s"))
        x = _layer(here, spec, number, x, real=real, by_distance=by_distance)
    if spec.norm_after_last == "all":
        x = norm(write, spec, "final_norm", x)
    finish(write, spec, x, real)
    return program


def sizes(spec: EncoderSpec, batch: int = 1, t: int | None = None) -> Sizes:
    """Batch and length, checked against the spec; the length of an image or a sound follows from the spec."""
    for name, value in (("batch", batch), ("t", t)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9):
            raise GlassformerError(f"{name}={value} is not allowed: {name} is a whole number from 1 to 1,000,000,000.")
    longest = spec.longest
    if spec.one_length:
        assert longest is not None
        if t is not None and t != longest:
            what = f"image={spec.image} in patches of {spec.patch} makes" if spec.reads == "image" else "every sound has"
            way = "" if spec.reads == "image" else f", or give positions={t}"
            raise GlassformerError(f"t={t} cannot be chosen: {what} t={longest}. Leave t out{way}.")
        return Sizes(batch, longest)
    if t is None:
        t = min(DEFAULT_TOKENS, longest or DEFAULT_TOKENS)
    if longest is not None and t > longest:
        raise GlassformerError(
            f"t={t} is too long: the position table has positions={longest}. Give a smaller t or more positions."
        )
    return Sizes(batch, t)


def _layer(
    write: Writer, spec: EncoderSpec, number: int, x: Tensor, *, real: Tensor | None, by_distance: Tensor | None
) -> Tensor:
    """Attention and feed-forward, each added to what came in; the norm stands after the sum or before the sub-layer."""
    window, causal = spec.layer_window(number), spec.attend == "causal"
    mask = Mask(causal, window) if causal or window is not None else None
    base = None
    if spec.rotary:
        base = spec.rotary_base_local if window is not None and spec.rotary_base_local is not None else spec.rotary_base

    def attend(y: Tensor) -> Tensor:
        inside, memory = write.at("attention", "attention"), y.seen(t="s")
        return attention(inside, spec, y, memory, real=real, by_distance=by_distance, mask=mask, rotary_base=base)

    if spec.block == "attention":
        attend(x)
        return write.hidden("out")
    before = spec.norm == "pre"
    entered = x
    y = norm(write, spec, "norm_1", x) if before and spec.input_norm and (spec.first_norm or number) else x
    y = _scaled(write, spec, "scaled attention output", attend(y), "1")
    x = write.step("sum_1", "attention residual", ADD, x, y)
    x = x if before else norm(write, spec, "norm_1", x)
    y = entered if spec.residual == "parallel" else x  # parallel: both sub-layers read what enters the layer (GPT-J, NeoX)
    y = norm(write, spec, "norm_2", y) if before and spec.input_norm else y
    y = _scaled(write, spec, "scaled ffn output", feed_forward(write.at("ffn", "ffn"), spec, y), "2")
    x = write.step("sum_2", "ffn residual", ADD, x, y)
    if not before:
        norm(write, spec, "norm_2", x)
    return write.hidden("out")


def _scaled(write: Writer, spec: EncoderSpec, role: Role, x: Tensor, number: str) -> Tensor:
    """A sub-layer's output, normed or times a learned factor per feature, where the spec asks for it."""
    if spec.output_norm:
        x = norm(write, spec, f"output_norm_{number}", x)
    if not spec.layer_scale:
        return x
    return write.step(f"scaled_{number}", role, MULTIPLY, x, write.parameter(f"lambda_{number}", role, x.axes[-1], kind="scale"))
