"""Answers about bytes: weights in any precision, a tensor of the forward pass, keys and values, all that training keeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from glassformer.algebra.memory import Dtype, memory
from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.asked.tensors import find_tensor
from glassformer.answers.questions import Question
from glassformer.answers.questions.phrases import Precision
from glassformer.program import Program, Tensor
from glassformer.program.axes import HEADS
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

PRECISION_BYTES: dict[Precision, Fraction] = {
    "float64": Fraction(8),
    "float32": Fraction(4),
    "bfloat16": Fraction(2),
    "float16": Fraction(2),
    "int8": Fraction(1),
    "int4": Fraction(1, 2),
}
DTYPES: dict[Precision, Dtype] = {"float64": "float64", "float32": "float32", "bfloat16": "bfloat16", "float16": "float16"}
ADAM_MOMENTS = 2
TRAINED = {"model", "gradients", "optimizer"}  # what training keeps besides activations


def stored(
    question: Question, asked: Request, program: Program, tensor: Tensor | None, parameters_of: Callable[[Question], int]
) -> Answer:
    """Bytes of weights, of a part's weights, of a tensor of the forward pass, or of all that training keeps."""
    width = PRECISION_BYTES[question.precision or "float32"]
    said = question.precision or "float32"
    target = question.target or ("training" if question.training else "model")
    if set(target.split(",")) == TRAINED:
        target = "training"
    if target in ("training", "gradients", "optimizer"):
        return _training_bytes(question, asked, target, parameters_of(replace(question, target=None)))
    if target == "activations":
        found = memory(program, training=question.training, kernel="materialised", dtype=_activation_type(question))
        which = "what the backward pass needs again" if question.training else "the most alive at once"
        line = Line("activations", which, "", found.activations)
        return made(question, asked, found.activations, "bytes", f"{which}, in {said}{_also(found.activations)}", [line], [])
    if "," in target and set(target.split(",")) <= TRAINED:
        return _kept_bytes(question, asked, target, parameters_of(replace(question, target=None)))
    if target == "kv":
        return _cache_bytes(question, asked, program, width)
    if tensor is not None:
        return _tensor_bytes(question, asked, program, tensor, width)
    parameters = parameters_of(replace(question, target=None) if target == "model" else question)
    value = _whole(parameters * width)
    lines = [Line("weights", f"parameters · {_number(width)}", f"{parameters:,} · {_number(width)}", value)]
    others = _precisions(parameters, question)
    what = "weights alone" if target == "model" else f"weights of {target}"
    scope = ", one layer" if question.one_layer else ""
    return made(
        question,
        asked,
        value,
        "bytes",
        f"{what}{scope}, in {said}{_also(value)}",
        lines,
        others,
        _mistaken_bytes(value, parameters),
    )


def _activation_type(question: Question) -> Dtype:
    found = DTYPES.get(question.precision or "float32")
    if found is None:
        raise GlassformerError(f"'{shown(question.text)}': activations are counted in fp64, fp32, bf16 or fp16.")
    return found


def _training_bytes(question: Question, asked: Request, target: str, parameters: int) -> Answer:
    """Weights, gradients and Adam's two moments; the moments are never narrower than float32."""
    width = PRECISION_BYTES[question.precision or "float32"]
    weights, moments = _whole(parameters * width), ADAM_MOMENTS * parameters * max(4, _whole(width))
    lines = {
        "weights": Line("weights", f"parameters · {_number(width)}", f"{parameters:,} · {_number(width)}", weights),
        "gradients": Line("gradients", f"parameters · {_number(width)}", f"{parameters:,} · {_number(width)}", weights),
        "optimizer": Line("Adam's two moments", "parameters · 2 · 4", f"{parameters:,} · 2 · 4", moments),
    }
    said = question.precision or "float32"
    if target != "training":
        value = moments if target == "optimizer" else weights
        others = (
            [Other("one of the two moments", moments // 2, excuses=False)]
            if target == "optimizer"
            else _precisions(parameters, question)
        )
        wrongs = (
            [mistaken("training_state_forgotten", "one moment instead of two", moments // 2)] if target == "optimizer" else []
        )
        convention = (
            f"Adam's two moments, in float32{_also(value)}" if target == "optimizer" else f"gradients, in {said}{_also(value)}"
        )
        return made(
            question, asked, value, "bytes", convention, [lines[target]], others, [*wrongs, *_mistaken_bytes(value, parameters)]
        )
    value = 2 * weights + moments
    master = 4 * parameters
    others = [Other("with a float32 copy of the weights", value + master)] if width == 2 else []
    wrongs = [
        mistaken("training_state_forgotten", "weights alone", weights),
        mistaken("training_state_forgotten", "weights and gradients, no optimizer state", 2 * weights),
        mistaken("training_state_forgotten", "weights and optimizer state, no gradients", weights + moments),
        mistaken("training_state_forgotten", "one moment instead of two", 2 * weights + moments // 2),
    ]
    convention = f"weights and gradients in {said}, Adam's two moments in float32, no activations{_also(value)}"
    return made(question, asked, value, "bytes", convention, lines.values(), others, [*wrongs, *_mistaken_units(value)])


def _kept_bytes(question: Question, asked: Request, target: str, parameters: int) -> Answer:
    """Some of what training keeps, added up."""
    parts = [_training_bytes(question, asked, "gradients" if part == "model" else part, parameters) for part in target.split(",")]
    lines = [
        replace(line, what="weights" if part == "model" else line.what)
        for part, answer in zip(target.split(","), parts, strict=True)
        for line in answer.lines
    ]
    value = sum(answer.value for answer in parts if isinstance(answer.value, int))
    named = target.replace("model", "weights").replace(",", " and ")
    convention = f"{named}, in {question.precision or 'float32'}{_also(value)}"
    return made(question, asked, value, "bytes", convention, lines, [], _mistaken_units(value))


def _cache_bytes(question: Question, asked: Request, program: Program, width: Fraction) -> Answer:
    """Keys and values of every layer, as a decoder would keep them."""
    spec, sizes = program.spec, program.sizes
    layers = 1 if question.one_layer else spec.layers
    heads = 1 if question.one_head else spec.key_heads
    factors = (
        ("layers", layers),
        *(() if question.per_token else (("batch", sizes.batch), ("t", sizes.t))),
        ("kv_head" if spec.group > 1 else "head", heads),
        ("(d_k + d_v)", spec.head_k + spec.head_v),
    )
    elements = math.prod(size for _, size in factors)
    value = _whole(elements * width)
    line = Line(
        "keys and values",
        " · ".join((*(name for name, _ in factors), "bytes")),
        " · ".join((*(str(size) for _, size in factors), _number(width))),
        value,
    )
    one_layer = [mistaken("one_layer_only", "one layer alone", value // spec.layers)] if layers > 1 else []
    if spec.group > 1 and not question.one_head:
        one_layer.append(mistaken("grouped_queries_ignored", "keys and values of all heads", value * spec.group))
    wrongs = [*one_layer, *_mistaken_bytes(value, elements)]
    where = f"{'one layer' if layers == 1 else f'{layers} layers'}{', for each token' if question.per_token else ''}"
    convention = f"keys and values of {where}, in {question.precision or 'float32'}{_also(value)}"
    return made(question, asked, value, "bytes", convention, [line], _precisions(elements, question), wrongs)


def _tensor_bytes(question: Question, asked: Request, program: Program, tensor: Tensor, width: Fraction) -> Answer:
    spec, layers = program.spec, program.spec.layers
    inside = tensor.name.startswith("layers.")
    axes = [axis for axis in tensor.axes if not (axis.name in HEADS and question.one_head)]
    times = layers if question.every_layer and inside else 1
    named = (question.target or "").split(",")
    if len({found.size for name in named if (found := find_tensor(name, program)) is not None}) > 1:
        raise GlassformerError(f"'{shown(question.text)}': these have different sizes here. Ask for one of them.")
    several = len(named)  # queries, keys and values are alike
    elements = several * times * math.prod(axis.size for axis in axes)
    value = _whole(elements * width)
    counted = [("", several), ("layers", times)]
    factors = [(name or str(size), size) for name, size in counted if size > 1] + [(axis.name, axis.size) for axis in axes]
    names, sizes = [*(name for name, _ in factors), "bytes"], [*(str(size) for _, size in factors), _number(width)]
    line = Line(tensor.name, " · ".join(names), " · ".join(sizes), value)
    others = _precisions(elements, question)
    if inside and layers > 1 and times == 1 and not question.one_layer:
        others.append(Other(f"in all {layers} layers", value * layers))
    wrongs = list(_mistaken_bytes(value, elements))
    heads = next((axis.size for axis in axes if axis.name in HEADS), 1)
    if heads > 1:
        wrongs.append(mistaken("one_head_vs_all_heads", "one head alone", value // heads))
    every = next((axis.size for axis in tensor.axes if axis.name in HEADS), spec.heads)
    if question.one_head and every > 1:
        wrongs.append(mistaken("one_head_vs_all_heads", "all heads together", value * every))
    if tensor.name.endswith((".scores", ".weights")):
        wrongs.append(mistaken("bytes_and_units", "the head width multiplied into the score matrix", value * spec.head_k))
        wrongs.append(mistaken("linear_instead_of_quadratic", "one row of the matrix for each head", value // program.sizes.t))
    if program.sizes.batch > 1:
        wrongs.append(mistaken("bytes_and_units", "one input of the batch", value // program.sizes.batch))
    where = f"in all {layers} layers" if times > 1 else "one layer" if inside else "once"
    sized = f"batch={program.sizes.batch} t={program.sizes.t}"
    convention = f"{where}{', one head' if question.one_head else ''}, {sized}, in {question.precision or 'float32'}"
    return made(question, asked, value, "bytes", convention + _also(value), [line], others, wrongs)


def saved_bytes(question: Question, asked: Request, parameters: Line, convention: str) -> Answer:
    """The bytes of so many parameters that are there once instead of twice."""
    assert isinstance(parameters.value, int)
    width, numbers = PRECISION_BYTES[question.precision or "float32"], parameters.value
    value = _whole(numbers * width)
    line = Line("bytes", f"parameters · {_number(width)}", f"{numbers:,} · {_number(width)}", value)
    said = f"{convention}, in {question.precision or 'float32'}{_also(value)}"
    return made(
        question, asked, value, "bytes", said, [parameters, line], _precisions(numbers, question), _mistaken_bytes(value, numbers)
    )


def _precisions(numbers: int, question: Question) -> list[Other]:
    if question.precision is not None:
        return []
    return [Other("bfloat16 or float16", 2 * numbers, code="bytes_and_units"), Other("float64", 8 * numbers)]


def _mistaken_bytes(value: int, numbers: int) -> Iterator[Other]:
    """A byte, or another width, taken for a number; or units mixed up."""
    for width in (8, 4, 2):
        yield mistaken("bytes_and_units", f"{width} bytes for each number", width * numbers)
    yield mistaken("bytes_and_units", "one byte for each number", numbers)
    yield from _mistaken_units(value)


def _mistaken_units(value: int) -> Iterator[Other]:
    """The figure without its unit, MiB written as MB, bits for bytes."""
    yield mistaken("bytes_and_units", "bits instead of bytes", 8 * value)
    for decimal, binary, power in (("kB", "KiB", 1), ("MB", "MiB", 2), ("GB", "GiB", 3)):
        yield mistaken("bytes_and_units", f"{binary} written as {decimal}", value * 1000**power / 1024**power)
        yield mistaken("bytes_and_units", f"{decimal} written as {binary}", value * 1024**power / 1000**power)
        yield mistaken("bytes_and_units", f"the figure in {decimal}", round(value / 1000**power, 2))
        yield mistaken("bytes_and_units", f"the figure in {binary}", round(value / 1024**power, 2))


def _whole(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _number(width: Fraction) -> str:
    return str(width) if width.denominator == 1 else f"{width.numerator}/{width.denominator}"


def _also(value: int) -> str:
    """The same in megabytes or gigabytes, both kinds."""
    if value < 10**6:
        return ""
    power, decimal, binary = (3, "GB", "GiB") if value >= 10**9 else (2, "MB", "MiB")
    return f"; {value / 1000**power:,.2f} {decimal}, {value / 1024**power:,.2f} {binary}"
