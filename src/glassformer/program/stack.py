"""A stack of layers, the same for encoders and decoders: attention, cross-attention (in encoder-decoders), FFN."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from glassformer.program.attention import Turn, attention, relative_table
from glassformer.program.axes import Axis, Tensor
from glassformer.program.beside import beside
from glassformer.program.bottleneck import bottleneck_layer, feed_forwards
from glassformer.program.operations import Add, FourierMix, LinearBias, Mask, MaskAroundQuestions, Multiply, Pointwise, Rows
from glassformer.program.parts import feed_forward, linear, norm
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

ADD, MULTIPLY = Add(), Multiply()
ADAPTER_EPS = 1e-5  # whatever the layers use


class Memory(NamedTuple):
    """The encoder output that a decoder attends to: a vector for each position `s`, and which positions are not padding."""

    vectors: Tensor
    real: Tensor | None = None


def stack(write: Writer, spec: EncoderSpec, x: Tensor, *, real: Tensor | None, memory: Memory | None = None) -> Tensor:
    """All layers and the norm after them. `real` marks the positions of x that are not padding."""
    layers = write.at("layers", "layers")
    queries = x.axes[-2]
    by_distance: Tensor | None = None  # the relative bias, or vectors, for the attention
    rotary: Tensor | None = None  # sines and cosines of rotary positions, where a table stores them
    for number in range(spec.layers):
        here = layers.layer(number, spec.layer_weights(number))
        if spec.relative and (by_distance is None or spec.relative_tables == "per_layer"):
            where = here if spec.relative_tables == "per_layer" else layers
            by_distance = relative_table(where, spec, queries, queries.renamed("s"))
        if spec.alibi and by_distance is None:
            heads = Axis("head", spec.heads)
            by_distance = layers.step("relative", "relative bias", LinearBias(heads, queries, queries.renamed("s")))
        if spec.stores_rotation and rotary is None:
            rotary = _waves(layers, spec, queries)
        x = _layer(here, spec, number, x, real=real, by_distance=by_distance, rotary=rotary, memory=memory)
    if spec.contact_head:
        _contacts(layers, spec)
    return norm(write, spec, "final_norm", x) if spec.norm_after_last == "all" else x


def _waves(layers: Writer, spec: EncoderSpec, positions: Axis) -> Tensor:
    """Sines and cosines of each position, from a table that is stored and not trained (RoFormer)."""
    rows, wave = Axis("position", spec.positions or 0), Axis("wave", spec.head_k)
    table = layers.parameter("E_rotary", "position", rows, wave, kind="table", frozen=True)
    return layers.step("waves", "position", Rows(positions), table)


def _contacts(layers: Writer, spec: EncoderSpec) -> None:
    """A linear map of the attention weights of all layers and heads: no step reads it (Rao et al. 2021)."""
    maps, contact = Axis("attention_map", spec.layers * spec.heads), Axis("contact", 1)
    layers.parameter("W_contact", "contact", maps, contact)
    layers.parameter("b_contact", "contact", contact, kind="bias")


def _layer(
    write: Writer,
    spec: EncoderSpec,
    number: int,
    x: Tensor,
    *,
    real: Tensor | None,
    by_distance: Tensor | None,
    rotary: Tensor | None,
    memory: Memory | None,
) -> Tensor:
    """Sub-layers with residual connections; the norm follows the sum or precedes the sub-layer."""
    mask, turn = _mask(spec, number), _turn(spec, number, rotary)

    def attend(y: Tensor, values: Tensor | None = None) -> Tensor:
        if not spec.attends:
            return _transformed(write, y)
        inside, seen = write.at("attention", "attention"), {y.axes[-2].name: "s"}
        read = None if values is None else values.seen(**seen)
        keys = y.seen(**seen)
        return attention(inside, spec, y, keys, values=read, real=real, by_distance=by_distance, mask=mask, turn=turn)

    if spec.bottleneck is not None:
        bottleneck_layer(write, spec, x, attend)
        return write.hidden("out")

    if spec.block == "attention":
        attend(x)
        return write.hidden("out")
    first = spec.first_norm or number > 0
    entered = x
    x = _sub_layer(write, spec, "1", spec.mixing, x, x, attend, normed=first)
    if memory is not None:
        vectors, padding = memory

        def cross(y: Tensor) -> Tensor:
            return attention(write.at("cross", "cross"), spec, y, vectors, real=padding)

        x = _sub_layer(write, spec, "cross", "cross", x, x, cross)
    if spec.ffn_blocks > 1:
        feed_forwards(write, spec, x)
        return write.hidden("out")
    y = entered if spec.residual == "parallel" else x  # parallel: both sub-layers read the input of the layer (GPT-J, NeoX)
    x = _sub_layer(write, spec, "2", "ffn", x, y, lambda y: feed_forward(write.at("ffn", "ffn"), spec, y))
    if spec.layer_adapter is not None:
        _adapted(write, spec, x)
    if spec.beside_kernel is not None and number == 0:
        beside(write, spec, entered, x, real)
    return write.hidden("out")


def _adapted(write: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """A small feed-forward block whose output is added once more (Houlsby et al. 2019)."""
    inside = write.at("adapter", "ffn")
    normed = norm(inside, spec, "norm", x, eps=ADAPTER_EPS)
    into = (Axis("d_adapter", spec.layer_adapter or 0),)
    hidden = linear(inside, "hidden", "ffn hidden", normed, "1", into, bias=spec.bias("ffn"))
    active = inside.step("active", "ffn activation", Pointwise("relu"), hidden)
    out = linear(inside, "out", "ffn output", active, "2", x.axes[-1:], bias=spec.bias("ffn"))
    write.step("sum_adapter", "ffn residual", ADD, x, out)


def layer(write: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """One layer that attends to everything, without its own positions."""
    _layer(write, spec, 1, x, real=None, by_distance=None, rotary=None, memory=None)
    step = write.program.steps[-1]
    write.program.steps[-1] = step._replace(output=step.output._replace(hidden=False))  # hidden states are those of the stack
    return write.program.steps[-1].output


def _turn(spec: EncoderSpec, number: int, rotary: Tensor | None) -> Turn | None:
    """The rotation of queries and keys in a layer, or None; layers with a window may have a different base."""
    if not spec.rotary:
        return None
    local = spec.layer_window(number) is not None and spec.rotary_base_local is not None
    base = spec.rotary_base_local if local else spec.rotary_base
    return Turn(base or spec.rotary_base, rotary)


def _transformed(write: Writer, x: Tensor) -> Tensor:
    """Mix positions and features by a Fourier transform, which ignores padding."""
    return write.at("mixing", "mixing").step("out", "mixed", FourierMix(), x)


def _mask(spec: EncoderSpec, number: int) -> Mask | None:
    """Which queries may attend to which keys in a layer, apart from padding."""
    window, causal = spec.layer_window(number), spec.attend == "causal"
    if spec.global_attention == "question":
        return MaskAroundQuestions(causal, window)
    return Mask(causal, window, spec.global_attention == "first") if causal or window is not None else None


# The roles of a sub-layer's scaled output, and of the sum that it is added in.
ROLES: dict[str, tuple[Role, Role]] = {
    "attention": ("scaled attention output", "attention residual"),
    "fourier": ("scaled attention output", "attention residual"),  # in its place
    "cross": ("scaled cross output", "cross residual"),
    "ffn": ("scaled ffn output", "ffn residual"),
}


def _sub_layer(
    write: Writer,
    spec: EncoderSpec,
    name: str,
    kind: str,
    x: Tensor,
    read: Tensor,
    of: Callable[[Tensor], Tensor],
    *,
    normed: bool = True,
) -> Tensor:
    """`x + f(read)`, with the norm before f or after the sum; in most models `read` is x."""
    scaled, residual = ROLES[kind]
    before = spec.norm == "pre"
    y = norm(write, spec, f"norm_{name}", read) if before and spec.input_norm and normed else read
    y = _scaled(write, spec, scaled, of(y), name)
    x = write.step(f"sum_{name}", residual, ADD, x, y)
    return x if before else norm(write, spec, f"norm_{name}", x)


def _scaled(write: Writer, spec: EncoderSpec, role: Role, x: Tensor, name: str) -> Tensor:
    """A sub-layer's output, normalised or times a learned factor per feature if the spec says so."""
    if spec.output_norm:
        x = norm(write, spec, f"output_norm_{name}", x)
    if not spec.layer_scale:
        return x
    return write.step(f"scaled_{name}", role, MULTIPLY, x, write.parameter(f"lambda_{name}", role, x.axes[-1], kind="scale"))
