"""Answers about tensors: the shape of one, how many numbers it holds, and the same as other people write it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from glassformer.algebra.ledger import count
from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.asked.masks import mask_shape
from glassformer.answers.questions import Question
from glassformer.answers.questions.sheet_wordings import COLUMNS, ROWS
from glassformer.program import Axis, Program, Tensor
from glassformer.program.axes import HEADS
from glassformer.program.matrices import as_matrix
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.reading import Request

TRANSPOSED = ("q^t", "k^t", "v^t")


def tensor_sizes(question: Question, asked: Request, program: Program) -> Answer:
    """The shape of a tensor, or how many numbers it holds."""
    if question.target in ("padding mask", "causal mask"):
        return mask_shape(question, asked, program)
    if question.target in ("gradients", "optimizer"):
        return _kept(question, asked)
    if question.target == "concat":
        return _side_by_side(question, asked, program)
    if question.target in TRANSPOSED:
        return _transposed(question, asked, program)
    if question.target == "qkv":
        question = _alike(question, asked)
    tensor = _wanted_tensor(question, program)
    one_head = question.one_head and any(axis.name in HEADS for axis in tensor.axes)
    axes = tuple(axis for axis in tensor.axes if not (axis.name in HEADS and one_head))
    shape = tuple(axis.size for axis in axes)
    formula = " × ".join(axis.name for axis in axes)
    lines = [Line(tensor.name, formula, " × ".join(str(size) for size in shape), shape)]
    which = ", one head" if question.one_head else ""
    if question.kind == "elements":
        return _elements(question, asked, tensor, axes, lines)
    others = list(other_shapes(tensor, one_head=one_head))
    convention = f"tokens as rows, the batch first{which}"
    if (matrix := _as_a_matrix(question, tensor, axes)) is not None:
        shape, formula, convention = matrix
        lines = [Line(tensor.name, formula, " × ".join(str(size) for size in shape), shape)]
        others.insert(0, Other("every axis by itself", tuple(axis.size for axis in axes)))
    if (laid := _as_laid_out(question, asked, tensor, one_head=one_head)) is not None:
        return laid
    if (side := _SIDE.search(question.text)) and tensor.name.rpartition(".")[2][:2] == "W_" and len(shape) == 2:
        return _one_side(question, asked, shape, side[1].lower())
    turned = [other for other in others if "columns" in other.convention] if ROWS.search(question.text) else []
    wrongs = [mistaken("row_column_convention", "tokens as columns, where they are the rows", other.value) for other in turned]
    others = [other for other in others if other.value != shape and other not in turned]
    return made(question, asked, shape, "shape", convention, lines, others, wrongs)


def _as_laid_out(question: Question, asked: Request, tensor: Tensor, *, one_head: bool) -> Answer | None:
    """The shape with tokens as columns, where the question has them so: with tokens as rows it is then another matrix."""
    if asked.batch > 1 or not COLUMNS.search(question.text) or ROWS.search(question.text):
        return None
    shape, turned = (as_matrix(tensor, layout, one_head=one_head).shape for layout in ("columns", "rows"))
    scores = tensor.name.endswith((".scores", ".weights"))
    several = asked.spec.heads > 1 and any(axis.name in HEADS for axis in tensor.axes)
    which = ", one head" if one_head or (several and scores) else ", the heads side by side" if several else ""
    line = Line(tensor.name, "", " × ".join(str(size) for size in shape), shape)
    wrongs = [mistaken("row_column_convention", "tokens as rows, where they are the columns", turned)]
    return made(question, asked, shape, "shape", f"tokens as columns{which}", [line], [], wrongs)


_SIDE = re.compile(
    r"\b(?:is|are|find|compute|determine|give|state) (?:the )?(input|output) (?:dim\w*|size|width) (?:of|for)\b", re.I
)


def _one_side(question: Question, asked: Request, shape: tuple[int, ...], side: str) -> Answer:
    """What a matrix takes, or what it gives: one of its two sizes."""
    value, other = shape if side == "input" else reversed(shape)
    rows, columns = shape
    line = Line(side, "", f"{rows} × {columns}", value)
    what = "output" if side == "input" else "input"
    wrongs = [Other(f"its {what} dimension", other, excuses=False)]
    return made(
        question, asked, value, "features", f"{side} of the {rows} × {columns} matrix, tokens as rows", [line], [], wrongs
    )


def _as_a_matrix(question: Question, tensor: Tensor, axes: tuple[Axis, ...]) -> tuple[tuple[int, ...], str, str] | None:
    """A weight is a matrix, its heads side by side; so is what is called one, where its other axes have the size 1."""
    names = [axis.name for axis in axes]
    if tensor.name.rpartition(".")[2][:2] == "W_" and {*HEADS} & {*names}:
        joined = " × ".join(names).replace("head × ", "head · ")
        return as_matrix(tensor, "rows").shape, joined, "tokens as rows, the heads side by side"
    wide = tuple(axis for axis in axes if axis.size > 1 or axis.name not in ("batch", *HEADS))
    if re.search(r"\bmatri(?:x|ces)\b", question.text.lower()) and len(wide) == 2 < len(axes):
        return tuple(axis.size for axis in wide), " × ".join(axis.name for axis in wide), "tokens as rows, one head"
    return None


def _kept(question: Question, asked: Request) -> Answer:
    """Numbers that training keeps beside the weights: a gradient for each, and Adam's two moments."""
    parameters, each = count(asked.spec).total, 2 if question.target == "optimizer" else 1
    symbols, numbers = ("2 · parameters", f"2 · {parameters:,}") if each == 2 else ("parameters", f"{parameters:,}")
    line = Line(question.target or "", symbols, numbers, each * parameters)
    said = "Adam's two moments of every parameter" if each == 2 else "one gradient for every parameter"
    wrongs = [Other("one moment instead of two", parameters, excuses=False, code="training_state_forgotten")] if each == 2 else []
    return made(question, asked, each * parameters, "numbers", said, [line], [], wrongs)


def _alike(question: Question, asked: Request) -> Question:
    """Queries, keys and values at once: one shape, where all three have it."""
    if asked.spec.head_k != asked.spec.head_v:
        raise GlassformerError(f"'{shown(question.text)}': values have another width than keys here. Ask for one of the three.")
    if asked.spec.group > 1:
        raise GlassformerError(f"'{shown(question.text)}': keys have fewer heads than queries here. Ask for one of the three.")
    return replace(question, target="attention.q")


_ALTOGETHER = re.compile(r"\b(?:in total|in all(?! \w)|altogether|overall)\b", re.I)


def _elements(question: Question, asked: Request, tensor: Tensor, axes: tuple[Axis, ...], lines: list[Line]) -> Answer:
    if asked.batch == 1:
        axes = tuple(axis for axis in axes if axis.name != "batch")
    layers = asked.spec.layers if tensor.name.startswith("layers.") else 1
    altogether = _ALTOGETHER.search(question.text) is not None and not question.one_layer
    times = layers if question.every_layer or altogether else 1
    elements = times * math.prod(axis.size for axis in axes)
    symbols, numbers = " · ".join(axis.name for axis in axes), " · ".join(str(axis.size) for axis in axes)
    if times > 1:
        symbols, numbers = f"layers · {symbols}", f"{layers} · {numbers}"
    heads = next((axis.size for axis in tensor.axes if axis.name in HEADS), 1)
    if question.one_head:
        others = [Other("all heads together", elements * heads, excuses=False)]
    else:
        others = [Other("one head", elements // heads, excuses=False)] if heads > 1 else []
    if layers > times and not question.one_layer:
        others.append(Other(f"in all {layers} layers", elements * layers))
    line = Line("elements", symbols, numbers, elements)
    convention = f"tokens as rows{', one head' if question.one_head else ''}{', one layer' if layers > times else ''}"
    return made(question, asked, elements, "elements", convention, [*lines, line], others)


def _side_by_side(question: Question, asked: Request, program: Program) -> Answer:
    """The heads' outputs put side by side."""
    mix = next(step.output for step in program.steps if step.name.endswith("attention.mix"))
    sizes, spec = program.sizes, asked.spec
    width = spec.heads * spec.head_v
    shape = (sizes.batch, sizes.t, width)
    line = Line(mix.name, "batch × t × head · d_v", f"{sizes.batch} × {sizes.t} × {width}", shape)
    if question.kind == "elements":
        return made(question, asked, math.prod(shape), "elements", "heads side by side", [line], [])
    others = [Other("without the batch", shape[1:]), Other("tokens as columns", (width, sizes.t))]
    wrongs = [
        Other("one head alone", one, excuses=False, code="one_head_vs_all_heads")
        for one in ((sizes.t, spec.head_v), (sizes.batch, sizes.t, spec.head_v), (spec.head_v, sizes.t))
    ]
    return made(question, asked, shape, "shape", "tokens as rows, the batch first", [line], others, wrongs)


def _transposed(question: Question, asked: Request, program: Program) -> Answer:
    """Kᵀ: features before tokens, head by head."""
    spec, sizes = asked.spec, program.sizes
    letter = (question.target or "")[0]
    width, said = (spec.head_v, "d_v") if letter == "v" else (spec.head_k, "d_k")
    shared = letter in "kv" and spec.group > 1
    heads = spec.key_heads if shared else spec.heads
    one, every = (width, sizes.t), (heads, width, sizes.t)
    shape = (sizes.batch, *(one if question.one_head else every))
    formula = f"batch × {'' if question.one_head else 'kv_head × ' if shared else 'head × '}{said} × t"
    line = Line(f"{letter}ᵀ", formula, " × ".join(str(size) for size in shape), shape)
    others = [
        Other("one head alone, without the batch", one),
        Other("one head alone, with the batch", (sizes.batch, *one)),
    ]
    if not question.one_head:
        others += [Other("without the batch", every), Other("heads side by side", (heads * width, sizes.t))]
    if question.kind == "elements":
        return made(question, asked, math.prod(shape), "elements", "as many as before", [line], [])
    return made(question, asked, shape, "shape", "features before tokens, the batch first", [line], others)


def _wanted_tensor(question: Question, program: Program) -> Tensor:
    """The tensor asked for: by its full name, or by what people call it, in the first layer that has it."""
    wanted = question.target or ""
    if not wanted:
        raise GlassformerError(f"'{shown(question.text)}': of which tensor? Ask for the 'shape of weights', of q, of W_O.")
    found = find_tensor(wanted, program) or _all_alike(wanted, program)
    if found is None:
        tensors = program.tensors
        raise GlassformerError(
            f"this encoder has no tensor '{shown(wanted)}'.{nearest(wanted, tensors)} 'glassformer shapes' lists them all."
        )
    return found


def _all_alike(wanted: str, program: Program) -> Tensor | None:
    """The first of several, `W_Q, W_K and W_V`, where all of them have its shape."""
    named = [find_tensor(name, program) for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", wanted)]
    alike = len({tuple(axis.size for axis in tensor.axes) for tensor in named if tensor is not None}) == 1
    return named[0] if alike and len(named) > 1 and None not in named else None


def find_tensor(wanted: str, program: Program) -> Tensor | None:
    tensors = program.tensors
    endings = (f".{wanted}", f"attention.{wanted}", f"ffn.{wanted}")
    found = tensors.get(wanted) or next((tensors[name] for name in tensors if name.endswith(endings)), None)
    if wanted in ("out", "attention.out") and program.spec.layers and (found is None or wanted == "out"):
        found = tensors.get(f"layers.{program.spec.layers - 1}.out")
    return found


def other_shapes(tensor: Tensor, *, one_head: bool = False) -> Iterator[Other]:
    """The same tensor as other people write it; of one head, where one was asked for."""
    unbatched = tuple(axis for axis in tensor.axes if axis.name != "batch")
    if len(unbatched) < len(tensor.axes) and not one_head:
        yield Other("without the batch", tuple(axis.size for axis in unbatched))
    yield Other("one head alone, without the batch", tuple(axis.size for axis in unbatched if axis.name not in HEADS))
    yield Other("one head alone, with the batch", tuple(axis.size for axis in tensor.axes if axis.name not in HEADS))
    yield Other("one head, tokens as columns", as_matrix(tensor, "columns", one_head=True).shape)
    if one_head:
        return
    yield Other("heads side by side", as_matrix(tensor, "rows").shape)
    yield Other("heads side by side, tokens as columns", as_matrix(tensor, "columns").shape)
    head_first = _head_first(tensor)
    if head_first is not None:
        yield Other("heads before tokens", head_first)
        yield Other(
            "heads before tokens, without the batch",
            tuple(size for axis, size in zip(_moved(tensor), head_first, strict=True) if axis != "batch"),
        )


def _moved(tensor: Tensor) -> list[str]:
    names = [axis.name for axis in tensor.axes]
    head = next(name for name in names if name in HEADS)
    names.remove(head)
    names.insert(1 if names and names[0] == "batch" else 0, head)
    return names


def _head_first(tensor: Tensor) -> tuple[int, ...] | None:
    if not any(axis.name in HEADS for axis in tensor.axes):
        return None
    return tuple(tensor.axis(name).size for name in _moved(tensor))
