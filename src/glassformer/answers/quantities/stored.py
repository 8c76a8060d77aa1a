"""Bytes: weights in any precision, tensors of the forward pass, the KV cache, and the state that training stores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from glassformer.algebra.ledger import count
from glassformer.algebra.memory import Dtype, memory
from glassformer.algebra.parts import PARTS
from glassformer.answers.mistakes.pieces import total
from glassformer.answers.quantities.answer import Found, Line, Other, found, mistaken
from glassformer.answers.quantities.cache import cached, mistaken_caches
from glassformer.answers.quantities.context import Context
from glassformer.answers.quantities.params import counted_pieces
from glassformer.answers.quantities.registry import means
from glassformer.answers.quantities.tensors import causal_pairs, find_tensor, has_heads, mistaken_elements, shown_axes
from glassformer.errors import GlassformerError
from glassformer.program import Tensor

WIDTHS: dict[str, tuple[str, Fraction]] = {
    "fp64": ("float64", Fraction(8)), "fp32": ("float32", Fraction(4)), "bf16": ("bfloat16", Fraction(2)),
    "fp16": ("float16", Fraction(2)), "int8": ("int8", Fraction(1)), "int4": ("int4", Fraction(1, 2)),
    "fp8": ("float8", Fraction(1)),
}  # fmt: skip
DTYPES = {**WIDTHS, **{name: (name, width) for name, width in WIDTHS.values()}}
ACTIVATION_TYPES = ("float64", "float32", "bfloat16", "float16")
OPTIONS = ("dtype", "layer", "head", "per", "without", "only", "trained")
ADAM_MOMENTS = 2
KEPT = ("weights", "gradients", "optimizer")  # what training stores in addition to activations


@means("bytes", "bytes of weights (or of a part), training, gradients, optimizer, activations, kv_cache, a tensor; dtype=fp16 …",
       "bytes(weights, dtype=fp16)", OPTIONS)  # fmt: skip
def bytes_of(context: Context) -> Found:
    """Return the bytes of weights, of a tensor, or of what training stores."""
    names = context.names or ("weights",)
    if names == ("training",) or set(names) == set(KEPT):
        return _training(context)
    if set(names) <= set(KEPT) and names != ("weights",):
        return _kept(context, names)
    if names == ("activations",):
        return _activations(context)
    if names == ("kv_cache",):
        return _cache(context)
    if names not in (("weights",), ("params",)) and (tensor := _tensor(context, names)) is not None:
        return _of_tensor(context, tensor, len(names))
    return _weights(context, names)


def _width(context: Context) -> tuple[str, Fraction]:
    return DTYPES[context.word("dtype", "float32", tuple(DTYPES))]


def _weights(context: Context, names: tuple[str, ...]) -> Found:
    said, width = _width(context)
    whole = names in (("weights",), ("params",))
    parameters = total(counted_pieces(_renamed(context) if whole else context))
    if not parameters:
        raise GlassformerError(f"{context.text}: this model has no such parameters.")
    value = _whole(parameters * width)
    line = Line("weights", f"parameters · {_number(width)}", f"{parameters:,} · {_number(width)}", value)
    scope = ", one layer" if context.layer is not None else ""
    what = "all weights" if whole else f"weights of {', '.join(names)}"
    convention = f"{what}{scope}, in {said}{also(value)}"
    others = _precisions(context, parameters)
    if names == ("weights",) and (scores := find_tensor("weights", context.program)) is not None:
        sizes = f"batch={context.program.sizes.batch} t={context.program.sizes.t}"
        others.append(Other(f"the attention weights of one layer, {sizes}", _whole(scores.size * width), excuses=False))
    return found(value, "bytes", convention, [line], others, lambda: _mistaken_bytes(value, parameters))


def _renamed(context: Context) -> Context:
    """Return the context for all parameters: `weights` means everything stored, not only matrices."""
    quantity = context.quantity
    return Context(type(quantity)("params", (), quantity.options, quantity.model), context.request, context.options)


def _parts_of_training(context: Context) -> dict[str, Line]:
    """Return lines for weights, gradients and Adam's two moments, which are at least float32."""
    _, width = _width(context)
    parameters = count(context.spec).total
    each = _whole(parameters * width)
    moment = max(4, _whole(width))
    symbols, numbers = f"parameters · {_number(width)}", f"{parameters:,} · {_number(width)}"
    return {
        "weights": Line("weights", symbols, numbers, each),
        "gradients": Line("gradients", symbols, numbers, each),
        "optimizer": Line("Adam's two moments", f"parameters · 2 · {moment}", f"{parameters:,} · 2 · {moment}",
                          ADAM_MOMENTS * parameters * moment),
    }  # fmt: skip


def _training(context: Context) -> Found:
    said, width = _width(context)
    lines = _parts_of_training(context)
    weights, moments = (_int(lines[name]) for name in ("weights", "optimizer"))
    value = 2 * weights + moments
    others = [Other("with a float32 copy of the weights", value + 4 * count(context.spec).total)] if width == 2 else []

    def mistakes() -> Iterator[Other]:
        wrongs = {
            "only the weights": weights,
            "weights and gradients, no optimizer state": 2 * weights,
            "weights and optimizer state, no gradients": weights + moments,
            "one moment instead of two": 2 * weights + moments // 2,
            f"Adam's two moments in {said} too": 4 * weights,
        }
        for wrong in dict.fromkeys(wrongs.values()):
            alike = [what for what, each in wrongs.items() if each == wrong]
            yield mistaken("training_state_forgotten", " or ".join(alike), wrong)
        yield from _mistaken_units(value)

    convention = f"weights and gradients in {said}, Adam's two moments in float32, no activations{also(value)}"
    return found(value, "bytes", convention, lines.values(), others, mistakes)


def _kept(context: Context, names: tuple[str, ...]) -> Found:
    """Return the sum of some of the parts that training stores."""
    lines = [_parts_of_training(context)[name] for name in names]
    value, parameters = sum(map(_int, lines)), count(context.spec).total
    others = _precisions(context, parameters) if names == ("gradients",) else []

    def mistakes() -> Iterator[Other]:
        if names == ("optimizer",):
            yield mistaken("training_state_forgotten", "one moment instead of two", value // 2)
        yield from _mistaken_bytes(value, parameters)

    moments = "; Adam's two moments in float32" if "optimizer" in names else ""
    convention = f"{' and '.join(names)}, in {_width(context)[0]}{moments}{also(value)}"
    return found(value, "bytes", convention, lines, others, mistakes)


def _activations(context: Context) -> Found:
    said, _ = _width(context)
    if said not in ACTIVATION_TYPES:
        raise GlassformerError(f"{context.text}: activations can be counted in fp64, fp32, bf16 or fp16.")
    dtype: Dtype = said  # type: ignore[assignment]
    alive, saved = (memory(context.program, training=training, dtype=dtype).activations for training in (False, True))
    convention = f"peak during a forward pass, in {said}{also(alive)}"
    line = Line("activations", "peak", "", alive)
    return found(alive, "bytes", convention, [line], [Other("in training: saved for the backward pass", saved)])


def _cache(context: Context) -> Found:
    """Return the bytes of the keys and values that a decoder stores; of an encoder, those that a decoder like it would."""
    said, width = _width(context)
    rows = cached(context)
    elements = sum(row.numbers for row in rows)
    value = _whole(elements * width)
    lines = []
    for row in rows:
        symbols, numbers = zip(*[(name, str(size)) for name, size in (*row.factors, ("bytes", _number(width)))], strict=True)
        name = "kv_cache" if len(rows) == 1 else f"kv_cache of {row.kind}"
        lines.append(Line(name, " · ".join(symbols), " · ".join(numbers), _whole(row.numbers * width)))

    def mistakes() -> Iterator[Other]:
        for wrong in mistaken_caches(context, rows):
            assert isinstance(wrong.value, int)
            yield mistaken(wrong.code, wrong.convention, _whole(wrong.value * width))
        yield from _mistaken_bytes(value, elements)

    layers = max(dict(row.factors)["layers"] for row in rows)
    where = "one layer" if layers == 1 else f"{sum(dict(row.factors)['layers'] for row in rows if row.kind != 'cross')} layers"
    where += ", cross-attention included" if any(row.kind == "cross" for row in rows) else ""
    per_token = ", per token" if context.word("per", "", ("token",)) == "token" else ""
    sizes = per_token or f", {context.program.sizes}"
    convention = f"keys and values of {where}{sizes}, in {said}{also(value)}"
    return found(value, "bytes", convention, lines, _precisions(context, elements), mistakes)


def _tensor(context: Context, names: tuple[str, ...]) -> Tensor | None:
    """Return the named tensor of the forward pass; None if the names refer to the weights of a part."""
    if any(name in PARTS for name in names):
        return None
    tensors = [find_tensor(name, context.program, context.layer or 0) for name in names]
    found_tensors = [tensor for tensor in tensors if tensor is not None]
    weights = {parameter.name for parameter in context.program.parameters}
    if len(found_tensors) < len(names) or any(tensor.name in weights for tensor in found_tensors):
        return None
    if len({tensor.size for tensor in found_tensors}) > 1:
        raise GlassformerError(f"{context.text}: these tensors have different sizes here. Ask for one of them.")
    return found_tensors[0]


def _of_tensor(context: Context, tensor: Tensor, several: int) -> Found:
    spec, sizes, (said, width) = context.program.spec_of(tensor.block), context.program.sizes, _width(context)
    inside, one_head = tensor.block.part == "layers", context.head is not None and has_heads(tensor)
    layers = spec.layers if inside else 1
    times = layers if context.word("layer", "") == "all" else 1
    factors = [(name or str(size), size) for name, size in (("", several), ("layers", times)) if size > 1]
    factors += [(axis.name, axis.size) for axis in shown_axes(tensor, one_head=one_head)]
    elements = math.prod(size for _, size in factors)
    value = _whole(elements * width)
    symbols = " · ".join([*(name for name, _ in factors), "bytes"])
    numbers = " · ".join([*(str(size) for _, size in factors), _number(width)])
    others = _precisions(context, elements)
    if layers > times and "layer" not in context.options:
        others.append(Other(f"in all {layers} layers", value * layers))
    others += [replace(other, value=_whole(other.value * width)) for other in causal_pairs(context, tensor, elements)]  # type: ignore[operator]

    def mistakes() -> Iterator[Other]:
        yield from _mistaken_bytes(value, elements)
        for wrong in mistaken_elements(context, tensor, elements):
            assert isinstance(wrong.value, int)
            yield mistaken(wrong.code, wrong.convention, _whole(wrong.value * width))
        if tensor.symbol in ("scores", "weights"):
            yield mistaken("bytes_and_units", "the head width multiplied into the score matrix", value * spec.head_k)

    where = f"in all {layers} layers" if times > 1 else "one layer" if inside else "once"
    convention = f"{where}{', one head' if one_head else ''}, {sizes}, in {said}{also(value)}"
    return found(value, "bytes", convention, [Line(tensor.name, symbols, numbers, value)], others, mistakes)


def _precisions(context: Context, numbers: int) -> list[Other]:
    if "dtype" in context.options:
        return []
    return [Other("bfloat16 or float16", 2 * numbers, code="bytes_and_units")]


def _mistaken_bytes(value: int, numbers: int) -> Iterator[Other]:
    """Yield the values for another number of bytes per number, and for confused units."""
    for width in (8, 4, 2):
        yield mistaken("bytes_and_units", f"{width} bytes per number", width * numbers)
    yield mistaken("bytes_and_units", "one byte per number", numbers)
    yield from _mistaken_units(value)


def _mistaken_units(value: int) -> Iterator[Other]:
    """Yield the values for a missing unit, MiB confused with MB, and bits instead of bytes."""
    yield mistaken("bytes_and_units", "bits instead of bytes", 8 * value)
    for decimal, binary, power in (("kB", "KiB", 1), ("MB", "MiB", 2), ("GB", "GiB", 3)):
        yield mistaken("bytes_and_units", f"{binary} written as {decimal}", Fraction(value * 1000**power, 1024**power))
        yield mistaken("bytes_and_units", f"{decimal} written as {binary}", Fraction(value * 1024**power, 1000**power))
        yield mistaken("bytes_and_units", f"the number in {decimal}", Fraction(value, 1000**power))
        yield mistaken("bytes_and_units", f"the number in {binary}", Fraction(value, 1024**power))


def _int(line: Line) -> int:
    assert isinstance(line.value, int)
    return line.value


def _whole(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _number(width: Fraction) -> str:
    return str(width) if width.denominator == 1 else f"{width.numerator}/{width.denominator}"


def also(value: int) -> str:
    """Return the value in decimal and binary megabytes or gigabytes."""
    if value < 10**6:
        return ""
    power, decimal, binary = (3, "GB", "GiB") if value >= 10**9 else (2, "MB", "MiB")
    return f"; {value / 1000**power:,.2f} {decimal}, {value / 1024**power:,.2f} {binary}"
