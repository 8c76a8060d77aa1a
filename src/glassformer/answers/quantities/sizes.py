"""Sizes of a spec: its fields and derived sizes, tokens, patches, the divisor of the scores, and counts such as norms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial, reduce

from glassformer.answers.quantities.answer import Found, Line, Other, Value, found, mistaken
from glassformer.answers.quantities.context import FIELDS, LENGTHS, Context
from glassformer.answers.quantities.registry import means
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.functions import square_root
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.spec.seq2seq_spec import STACKS
from glassformer.spec.sound_sizes import Convolution

# Sizes that are derived if they are not given.
DERIVED = ("d_k", "d_q", "d_v", "d_ff", "kv_heads", "group", "frames")
SHORT = {
    "d": "d_model",
    "D": "d_model",
    "B": "batch",
    "n": "t",
    "h": "heads",
    "L": "layers",
    "V": "vocab",
    "d_h": "d_k",
    "d_q": "d_k",
    "seq_len": "t",
    "T": "t",
}
COUNTED = ("norms", "heads", "layers", "matrices", "tensors")


def is_size(name: str) -> bool:
    """Return whether a name is a field of the spec, a size of the input, or a common letter for one."""
    stack, dot, field = name.partition(".")
    name = field if dot and stack in STACKS else name
    return name in SHORT or name in (*LENGTHS, "s") or name in DERIVED or name in FIELDS


def size(context: Context) -> Found:
    """Return a field of the spec, or its derived value if it is not given."""
    name, spec = _of_stack(context)
    if name in OF_ATTENTION:
        _require_attention(context)
    if name in (*LENGTHS, "s"):
        number = getattr(context.program.sizes, "t" if name == "s" else name)
        if number is None:
            raise GlassformerError(f"{context.text}: u is the length of a target, and this model reads one text. Use t.")
        return found(number, "", "size of the input", [Line(name, "", "", number)])
    value, given, symbols, numbers = _derived(spec).get(name, (getattr(spec, name, None),) * 2 + ("", ""))
    if value is None:
        raise GlassformerError(f"{context.text}: this model has no {name}.")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GlassformerError(f"{context.text}: {name} is not a number; it is {value}.")
    exact: Value = value if isinstance(value, int) else Fraction(str(value))
    line = Line(name, "as given", str(value), exact) if given is not None else Line(name, symbols, numbers, exact)
    others = [Other("in all layers together", spec.heads * spec.layers)] if name == "heads" and spec.layers > 1 else []
    each = "each layer" if name == "heads" else "one head" if name in ("d_k", "d_v") else "from the spec"
    if isinstance(spec, Seq2SeqSpec) and value != getattr(spec.decoder, name, value):
        each += f"; of the encoder, the decoder has {name}={getattr(spec.decoder, name)}"
    return found(exact, "", each, [line], others, lambda: _mistaken_size(spec, name))


OF_ATTENTION = ("heads", "kv_heads", "group", "d_k", "d_v")


def _require_attention(context: Context) -> None:
    """Refuse questions about heads and scores of a model that has none."""
    if not context.spec.attends:
        raise GlassformerError(f"{context.text}: this model has no attention: mixing={context.spec.mixing}.")


def _of_stack(context: Context) -> tuple[str, EncoderSpec]:
    """Return the field that is asked for, and the spec that it belongs to: `decoder.layers` is the decoder's."""
    stack, dot, field = context.quantity.name.partition(".")
    if not dot:
        return SHORT.get(stack, stack), context.spec
    if not isinstance(context.spec, Seq2SeqSpec):
        raise GlassformerError(f"{context.text}: this model has one stack of layers. Write {shown(field)}.")
    return SHORT.get(field, field), context.spec.decoder if stack == "decoder" else context.spec.encoder


def _derived(spec: EncoderSpec) -> dict[str, tuple[int | None, int | None, str, str]]:
    return {
        "d_k": (spec.head_k, spec.d_k, "d_model / heads", f"{spec.d_model} / {spec.heads}"),
        "d_v": (spec.head_v, spec.d_v, "d_k", str(spec.head_k)),
        "group": (spec.group, None, "heads / kv_heads", f"{spec.heads} / {spec.key_heads}"),
        "kv_heads": (spec.key_heads, spec.kv_heads, "heads", str(spec.heads)),
        "frames": (spec.frames if spec.mels else None, spec.samples, "2 · positions", f"2 · {spec.positions}"),
        "d_ff": (spec.ffn_width, spec.d_ff, "4 · d_model", f"4 · {spec.d_model}"),
        "embedding_size": (spec.table_width, spec.embedding_size, "d_model", str(spec.d_model)),
    }


def _mistaken_size(spec: EncoderSpec, name: str) -> Iterator[Other]:
    if name in ("d_k", "d_v") and spec.heads > 1:
        yield mistaken("one_head_vs_all_heads", "the full width given to each head", spec.d_model)
        if spec.d_model % spec.heads == 0:
            yield mistaken("head_width_assumed", "d_model / heads", spec.d_model // spec.heads)
    if name == "d_ff" and spec.d_ff is not None:
        yield mistaken("ffn_width_assumed_4d", "d_ff taken as 4 · d_model", 4 * spec.d_model)


@means("tokens", "tokens of one input: patches and learned tokens of an image, positions of audio, or t", "tokens")
def tokens(context: Context) -> Found:
    spec, length = context.spec, context.program.sizes.t
    if spec.reads == "frames":
        line = Line("tokens", "frames / 2", f"{spec.frames} / 2", length)
        if spec.raw_sound:
            line = Line("tokens", "⌊(frames − kernel) / stride⌋ + 1, once per convolution", f"from {spec.frames}", length)
        wrongs = partial(_mistaken_lengths, spec)
        return found(length, "tokens", "positions after the last convolution", [line], [], wrongs)
    if spec.reads != "image":
        if context.request.t is None:
            raise GlassformerError(f"{context.text}: the number of tokens depends on the input; add it to the spec, as in t=128.")
        return found(length, "tokens", "as given", [Line("t", "", "", length)])
    extra = spec.class_tokens + spec.registers
    symbols, numbers = _patches_of(spec)
    if spec.mask_ratio:
        symbols, numbers = f"⌊{symbols} · (1 − mask_ratio)⌋", f"⌊{numbers} · (1 − {spec.mask_ratio:g})⌋"
    line = Line("tokens", f"{symbols} + added tokens", f"{numbers} + {extra}", length)

    def mistakes() -> Iterator[Other]:
        yield mistaken("vit_tokens_or_patch", "the class token left out", spec.patches)
        yield mistaken("vit_tokens_or_patch", "a class token counted that does not exist", spec.patches + 1)
        for wrong in _mistaken_patches(spec):
            assert isinstance(wrong.value, int)
            yield wrong
            yield mistaken(wrong.code, f"{wrong.convention}, with the added tokens", wrong.value + extra)

    return found(length, "tokens", f"patches and learned tokens{spec.cut_off}", [line], [], mistakes)


def _mistaken_lengths(spec: EncoderSpec) -> Iterator[Other]:
    """Yield the positions for which a stride, a kernel, the padding or a whole convolution is forgotten."""
    steps = spec.convolutions
    code = "convolution_length"
    for what, left in (
        ("the strides forgotten", [step._replace(stride=1) for step in steps]),
        ("the kernels forgotten", [step._replace(kernel=1, reach=0) for step in steps]),
        ("the padding forgotten", [step._replace(reach=0) for step in steps]),
    ):
        yield mistaken(code, what, _after(left, spec.frames))
    yield mistaken(code, "the + 1 of the last convolution forgotten", _after(steps, spec.frames) - 1)
    yield mistaken(code, "the number of frames", spec.frames)
    yield mistaken(code, "the number of frames divided by the strides", spec.frames // math.prod(step.stride for step in steps))
    for place in range(len(steps)):
        left = [*steps[:place], *steps[place + 1 :]]
        yield mistaken(code, f"convolution {place + 1} of {len(steps)} forgotten", _after(left, spec.frames))


def _after(convolutions: Sequence[Convolution], frames: int) -> int:
    return reduce(lambda length, convolution: convolution.positions(length), convolutions, frames)


@means("patches", "patches of one image", "patches @ vit-b16")
def patches(context: Context) -> Found:
    spec = _image(context)
    line = Line("patches", *_patches_of(spec), spec.patches)

    def mistakes() -> Iterator[Other]:
        yield mistaken("vit_tokens_or_patch", "the class token counted as a patch", spec.patches + spec.class_tokens)
        yield from _mistaken_patches(spec)

    return found(spec.patches, "patches", f"whole patches{spec.cut_off}", [line], [], mistakes)


@means("patch_length", "numbers in one patch, all channels", "patch_length @ vit-b16")
def patch_length(context: Context) -> Found:
    spec = _image(context)
    (down, across), depth = spec.patch_size, spec.patch_depth
    numbers = " · ".join(map(str, (spec.channels, *depth, down, across)))
    line = Line("patch", f"channels · {'frames · ' if depth else ''}height · width", numbers, spec.patch_length)

    def mistakes() -> Iterator[Other]:
        yield mistaken("vit_tokens_or_patch", "colour channels left out", down * across)
        yield mistaken("vit_tokens_or_patch", "one side only", down)

    return found(spec.patch_length, "numbers", "one patch, all channels", [line], [], mistakes)


def _patches_of(spec: EncoderSpec) -> tuple[str, str]:
    """The number of patches, as symbols and as numbers: down and across, and along the time of a video."""
    down, across = spec.patch_grid
    if spec.video_frames is None:
        return "patches down · patches across", f"{down} · {across}"
    return "patches along time · patches down · patches across", f"{spec.tubes} · {down} · {across}"


def _image(context: Context) -> EncoderSpec:
    if context.spec.reads != "image":
        raise GlassformerError(f"{context.text}: this model does not take images, so it has no patches.")
    return context.spec


def _mistaken_patches(spec: EncoderSpec) -> Iterator[Other]:
    yield mistaken("vit_tokens_or_patch", "one side only", spec.patch_grid[0])
    if spec.cut_off and spec.video_frames is None:
        down, across = (-(-side // step) for side, step in zip(spec.image_size, spec.patch_steps, strict=True))
        yield mistaken("vit_tokens_or_patch", "incomplete patches counted", down * across)
    yield mistaken("vit_tokens_or_patch", "pixels instead of patches", spec.image_size[0] * spec.image_size[1])


@means("outputs", "outputs of the task head: classes, or the vocabulary", "outputs")
def outputs(context: Context) -> Found:
    spec = context.spec
    if spec.head == "none":
        raise GlassformerError(f"{context.text}: this model has no task head. Add head=classify or head=mlm.")
    name, value = ("vocab", spec.vocab) if spec.head in ("mlm", "pretrain") and spec.vocab else ("classes", spec.classes)
    return found(value, "outputs", "of the task head", [Line("outputs", name, str(value), value)])


@means("count", "how many norms, heads, layers, matrices or parameter tensors", "count(norms)")
def count_of(context: Context) -> Found:
    what = context.one_name("count(norms)")
    spec, parameters = context.spec, context.program.parameters
    if what == "heads":
        _require_attention(context)
    if what in ("heads", "layers"):
        return _of_stacks(spec, what)
    chosen = {
        "norms": [p for p in parameters if p.role == "gamma"],
        "matrices": [p for p in parameters if p.kind == "weight"],
        "tensors": parameters,
    }
    if what not in chosen:
        raise GlassformerError(f"{context.text}: '{what}' cannot be counted; use one of {', '.join(COUNTED)}.")
    inside = [p for p in chosen[what] if p.block.part == "layers"]
    value = len(chosen[what])
    line = Line(what, "in layers + elsewhere", f"{len(inside)} + {value - len(inside)}", value)
    each = [Other("in each layer", len(inside) // spec.layers)] if inside else []
    return found(value, what, "of the whole model", [line], each)


def _of_stacks(spec: EncoderSpec, what: str) -> Found:
    """Count layers or heads; of an encoder-decoder those of both stacks, where a decoder's layer has two attentions."""
    stacks = [(spec, 1, "")]
    if isinstance(spec, Seq2SeqSpec):
        stacks = [(spec.encoder, 1, "encoder's "), (spec.decoder, 2, "decoder's ")]
    if what == "layers":
        lines = [Line(f"{name}layers", "", "", stack.layers) for stack, _, name in stacks]
        others = [Other(f"the {name}alone", stack.layers) for stack, _, name in stacks if name]
        return found(sum(stack.layers for stack, _, _ in stacks), "layers", "from the spec", lines, others)
    lines = [
        Line(f"{name}heads", "layers · heads" + (f" · {times}" if times > 1 else ""),
             f"{stack.layers} · {stack.heads}" + (f" · {times}" if times > 1 else ""), stack.layers * stack.heads * times)
        for stack, times, name in stacks
    ]  # fmt: skip
    total = sum(stack.layers * stack.heads * times for stack, times, _ in stacks)
    return found(total, "heads", "all layers together", lines, [Other("in each layer", spec.heads)])


@means("divisor", "the divisor of the dot products of queries and keys", "divisor")
def divisor(context: Context) -> Found:
    spec = context.spec
    _require_attention(context)
    if spec.scale == "none":
        return found(1, "", "this model does not divide its scores", [Line("divisor", "1", "1", 1)])
    under = spec.score_terms * (spec.head_k if spec.scale == "d_k" else spec.d_model)
    symbol = f"√{spec.scale}" if spec.score_terms == 1 else f"√({spec.score_terms} · {spec.scale})"
    value = root(under)

    def mistakes() -> Iterator[Other]:
        for code, what, wrong in (
            ("sqrt_dmodel", "√d_model", root(spec.d_model)),
            ("divided_by_dk", "d_k without the square root", spec.head_k),
            ("sqrt_length", "√t", root(context.program.sizes.t)),
            ("dv_dk_mixed", "√d_v", root(spec.head_v)),
        ):
            yield mistaken(code, what, wrong)
            yield mistaken(code, f"1 / {what}", _inverse(wrong))

    line = Line("divisor", symbol, f"√{under}", value)
    return found(value, "", "divisor of the dot products", [line], [Other("as a factor", _inverse(value))], mistakes)


def root(number: int) -> int | Real:
    whole = math.isqrt(number)
    return whole if whole * whole == number else square_root(exactly(number))


def _inverse(value: int | Real) -> Fraction | Real:
    return Fraction(1, value) if isinstance(value, int) else exactly(1) / value
