"""Mistakes in shapes, element counts, FLOPs and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from glassformer.algebra import cost
from glassformer.answers.mistakes.pieces import Setting
from glassformer.program import build

if TYPE_CHECKING:
    from glassformer.answers.quantities import Answer
    from glassformer.answers.questions import Question

Wrong = tuple[str, str, Any]  # code, what exactly was done, the value it gives


def shape_mistakes(answer: Answer) -> Iterator[Wrong]:
    """Shapes that a known misconception gives."""
    name = answer.lines[0].what
    if name.endswith((".scores", ".weights")):
        yield from _square_of_features(answer)
    if answer.asked.spec.head_k != answer.asked.spec.head_v:
        yield from _mixed_widths(answer, name)
    if name.endswith((".mix", ".q", ".k", ".v")) and answer.asked.spec.heads > 1:
        yield from _full_width_heads(answer)


def _square_of_features(answer: Answer) -> Iterator[Wrong]:
    spec, t, batch = answer.asked.spec, _length(answer), answer.asked.batch
    prefixes: list[tuple[int, ...]] = [(), (batch,), (spec.heads,), (batch, spec.heads)]
    for prefix in prefixes:
        for width, text in ((spec.d_model, "d_model × d_model"), (spec.head_k, "d_k × d_k")):
            if width != t:
                yield "feature_by_feature", text, (*prefix, width, width)


def _mixed_widths(answer: Answer, name: str) -> Iterator[Wrong]:
    d_k, d_v = answer.asked.spec.head_k, answer.asked.spec.head_v
    pairs = {"mix": (d_v, d_k), "v": (d_v, d_k), "q": (d_k, d_v), "k": (d_k, d_v)}
    right, wrong = pairs.get(name.rpartition(".")[2], (0, 0))
    for shape in _written(answer):
        if wrong and right in shape:
            place = len(shape) - 1 - shape[::-1].index(right)
            yield "dv_dk_mixed", f"{wrong} features taken for {right}", (*shape[:place], wrong, *shape[place + 1 :])


def _full_width_heads(answer: Answer) -> Iterator[Wrong]:
    spec, t = answer.asked.spec, _length(answer)
    prefixes: list[tuple[int, ...]] = [(), (answer.asked.batch,)]
    for prefix in prefixes:
        yield "one_head_vs_all_heads", "the full width given to one head", (*prefix, t, spec.heads, spec.d_model)
        if answer.question.one_head:
            yield "one_head_vs_all_heads", "all heads together", (*prefix, t, spec.d_model)


def operation_mistakes(question: Question, answer: Answer, setting: Setting) -> Iterator[Wrong]:
    """Numbers that a known misconception gives for FLOPs, bytes, tokens, elements and widths."""
    spec = setting.spec
    if question.kind in ("flops", "macs"):
        yield from _cost_mistakes(question, answer, setting)
    elif question.kind == "bytes":
        value = answer.value
        assert isinstance(value, int)
        for unit, size in (("MB", 10**6), ("MiB", 2**20), ("GB", 10**9), ("GiB", 2**30)):
            yield "bytes_and_units", f"the figure in {unit}", round(value / size, 2)
    elif question.kind == "tokens":
        yield "vit_tokens_or_patch", "the class token left out", spec.patches
        yield "vit_tokens_or_patch", "a class token counted that is not there", spec.patches + 1
        yield "vit_tokens_or_patch", "one side only", spec.patch_grid[0]
        yield "vit_tokens_or_patch", "pixels instead of patches", spec.image_size[0] * spec.image_size[1]
    elif question.kind == "patches":
        yield "vit_tokens_or_patch", "the class token counted as a patch", spec.patches + spec.class_tokens
        yield "vit_tokens_or_patch", "one side only", spec.patch_grid[0]
    elif question.kind == "elements":
        yield from _head_elements(answer)
        for code, what, shape in shape_mistakes(answer):
            product = 1
            for size in shape:
                product *= size
            yield code, what, product
    elif question.kind == "width":
        yield "heads_times_full_width", "the full width given to each head", spec.d_model


def _head_elements(answer: Answer) -> Iterator[Wrong]:
    """One head's elements given for all heads, or the reverse."""
    for other in answer.others:
        if not other.excuses:
            yield "one_head_vs_all_heads", other.convention, other.value


def _cost_mistakes(question: Question, answer: Answer, setting: Setting) -> Iterator[Wrong]:
    spec, value = setting.spec, answer.value
    assert isinstance(value, int)
    factor = 1 if question.kind == "macs" else 2
    found = cost(build(spec, batch=setting.batch, t=setting.t))
    scores = factor * sum(row.multiply_adds for row in found.rows if row.name.endswith((".scores", ".mix")))
    layers = factor * sum(row.multiply_adds for row in found.rows if row.name.startswith("layers."))
    yield (
        "macs_vs_flops",
        "multiply-adds given as FLOPs" if factor == 2 else "FLOPs given as multiply-adds",
        value // 2 if factor == 2 else 2 * value,
    )
    for base, what in ((value, ""), (layers, ", layers alone")):
        yield "score_cost_times_heads", f"the scores counted once more for every head{what}", base + (spec.heads - 1) * scores
        yield "no_quadratic_term", f"projections and feed-forward alone{what}", base - scores
        yield "macs_vs_flops", f"multiply-adds given as FLOPs{what}", base // 2
    if spec.layers > 1:
        yield "one_layer_only", "one layer alone", layers // spec.layers


def _length(answer: Answer) -> int:
    return build(answer.asked.spec, batch=answer.asked.batch, t=answer.asked.t).sizes.t


def _written(answer: Answer) -> Iterator[tuple[int, ...]]:
    for value in (answer.value, *(other.value for other in answer.others), answer.lines[0].value):
        if isinstance(value, tuple):
            yield value
