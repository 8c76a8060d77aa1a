"""Mistakes in shapes, element counts, FLOPs and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from glassformer.answers.mistakes.pieces import Setting
from glassformer.program import build

if TYPE_CHECKING:
    from glassformer.answers.asked import Answer
    from glassformer.answers.questions import Question

KEYS_AND_VALUES = (".k", ".v", ".W_K", ".W_V", ".b_K", ".b_V")
Wrong = tuple[str, str, Any]  # code, what exactly was done, the value it gives


def shape_mistakes(answer: Answer) -> Iterator[Wrong]:
    """Shapes that a known misconception gives."""
    name = answer.lines[0].what
    if name.endswith((".scores", ".weights")):
        yield from _square_of_features(answer)
    if answer.asked.spec.reads == "image" and answer.asked.spec.class_tokens:
        yield from _patches_alone(answer)
    if answer.asked.spec.head_k != answer.asked.spec.head_v:
        yield from _mixed_widths(answer, name)
    if answer.asked.spec.group > 1 and name.endswith(KEYS_AND_VALUES):
        yield from _keys_of_all_heads(answer, name)
    if name.endswith((".mix", ".q", ".k", ".v")) and answer.asked.spec.heads > 1:
        yield from _full_width_heads(answer)
    if answer.question.one_head and name.endswith((".W_Q", ".W_K", ".W_V", ".W_O")) and answer.asked.spec.heads > 1:
        yield from _matrices_of_all_heads(answer, name)


def _patches_alone(answer: Answer) -> Iterator[Wrong]:
    """The learned tokens left out of every length."""
    length, patches = _length(answer), answer.asked.spec.patches
    for shape in _written(answer):
        if length in shape:
            yield "vit_tokens_or_patch", "the class token left out", tuple(patches if size == length else size for size in shape)


def _square_of_features(answer: Answer) -> Iterator[Wrong]:
    spec, t, batch = answer.asked.spec, _length(answer), answer.asked.batch
    prefixes: list[tuple[int, ...]] = [(), (batch,), (spec.heads,), (batch, spec.heads)]
    for prefix in prefixes:
        for width, text in ((spec.d_model, "d_model × d_model"), (spec.head_k, "d_k × d_k")):
            if width != t:
                yield "feature_by_feature", text, (*prefix, width, width)


def _mixed_widths(answer: Answer, name: str) -> Iterator[Wrong]:
    spec = answer.asked.spec
    d_k, d_v = spec.head_k, spec.head_v
    values, keys = ("mix", "v", "W_V", "W_O", "b_V"), ("q", "k", "W_Q", "W_K", "b_Q", "b_K")
    tail = name.rpartition(".")[2]
    pairs = [(d_v, d_k)] if tail in values else [(d_k, d_v)] if tail in keys else []
    heads = spec.key_heads if name.endswith(KEYS_AND_VALUES) else spec.heads
    for right, wrong in [*pairs, *((heads * right, heads * wrong) for right, wrong in pairs)]:
        for shape in _written(answer):
            for place, size in enumerate(shape):
                if size == right:
                    yield "dv_dk_mixed", f"{wrong} features taken for {right}", (*shape[:place], wrong, *shape[place + 1 :])


def _keys_of_all_heads(answer: Answer, name: str) -> Iterator[Wrong]:
    """With grouped queries keys and values have fewer heads; somebody gives them all."""
    spec = answer.asked.spec
    width = spec.head_k if name.endswith(("k", "K")) else spec.head_v
    for shape in _written(answer):
        for place, size in enumerate(shape):
            if size in (spec.key_heads, spec.key_heads * width):
                wrong = (*shape[:place], size * spec.group, *shape[place + 1 :])
                yield "grouped_queries_ignored", "keys and values with all heads", wrong


def _full_width_heads(answer: Answer) -> Iterator[Wrong]:
    spec, t = answer.asked.spec, _length(answer)
    prefixes: list[tuple[int, ...]] = [(), (answer.asked.batch,)]
    for prefix in prefixes:
        yield "one_head_vs_all_heads", "the full width given to one head", (*prefix, t, spec.heads, spec.d_model)
        if answer.question.one_head:
            yield "one_head_vs_all_heads", "all heads together", (*prefix, t, spec.d_model)
    if answer.question.one_head:
        yield "one_head_vs_all_heads", "all heads together, tokens as columns", (spec.d_model, t)


def _matrices_of_all_heads(answer: Answer, name: str) -> Iterator[Wrong]:
    """W_Q, W_K, W_V or W_O of all heads, where one head was asked for."""
    spec = answer.asked.spec
    heads = spec.key_heads if name.endswith(KEYS_AND_VALUES) else spec.heads
    wide = heads * (spec.head_k if name.endswith((".W_Q", ".W_K")) else spec.head_v)
    for shape in ((spec.d_model, wide), (wide, spec.d_model)):
        yield "one_head_vs_all_heads", "the matrix of all heads together", shape


def operation_mistakes(question: Question, answer: Answer, setting: Setting) -> Iterator[Wrong]:
    """Numbers that a known misconception gives for FLOPs, bytes, tokens, elements and widths."""
    spec = setting.spec
    if question.kind in ("flops", "macs", "bytes"):
        for wrong in answer.wrongs:
            yield wrong.code, wrong.convention, wrong.value
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
    elif question.kind == "width" and question.target in ("d_k", "d_v"):
        yield "heads_times_full_width", "the full width given to each head", spec.d_model


def _head_elements(answer: Answer) -> Iterator[Wrong]:
    """One head's elements given for all heads, or the reverse."""
    for other in answer.others:
        if not other.excuses:
            yield "one_head_vs_all_heads", other.convention, other.value


def _length(answer: Answer) -> int:
    return build(answer.asked.spec, batch=answer.asked.batch, t=answer.asked.t).sizes.t


def _written(answer: Answer) -> Iterator[tuple[int, ...]]:
    for value in (answer.value, *(other.value for other in answer.others), answer.lines[0].value):
        if isinstance(value, tuple):
            yield value
