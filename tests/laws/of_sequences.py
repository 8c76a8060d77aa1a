"""Laws of what goes in: padding, masks, batches, order."""

from __future__ import annotations

from unittest import mock

import numpy as np
import torch
from laws.cases import LENGTH, LONGEST, Case
from laws.law import EXACT, law, sequences
from laws.ways import DOUBLE, SINGLE, Answer, Array, Given, Watching, Way, answer_of, apart, furthest, numbers

from glassformer.model import encode_packed
from glassformer.model.fast import packing as packing_room
from glassformer.model.fast.packing import packing_suits
from glassformer.spec import EncoderSpec

LENGTHS = np.array([LENGTH, 3, 1])  # of the rows, where they are padded
EVERYWHERE = {"attend": "all", "window": None, "global_every": None, "global_attention": "none"}  # full attention


def absolute(spec: EncoderSpec) -> bool:
    """Whether positions enter before the first layer, so that it counts where a row begins."""
    return spec.learns_positions or spec.computes_positions


def row(answer: Answer, number: int, places: Array) -> Answer:
    """One input of a batch, at some of its tokens."""
    return Answer(
        tuple(part[number : number + 1][:, places] for part in answer.tokens),
        tuple(part[number : number + 1] for part in answer.whole),
    )


def padded(case: Case, *, left: bool = False, number: int = 1) -> Given:
    """The inputs of the case cut to `LENGTHS` and padded with other content to the longest that the tables allow."""
    junk = case.inputs(length=LONGEST, number=number)
    attend = np.arange(LONGEST) < LENGTHS[:, None]
    attend = attend[:, ::-1] if left else attend

    def fill(part: Array, content: Array) -> Array:
        filled = content.copy()
        for i, length in enumerate(LENGTHS):
            filled[i, attend[i]] = part[i, :length]
        return filled

    segments = None if junk.segments is None else fill(case.given.segments, junk.segments)
    return Given(fill(case.given.inputs, junk.inputs), segments, attend)


def rows_apart(way: Way, case: Case, together: Given) -> float:
    """The difference between each padded row and the same row alone."""
    answer = way(case.spec, case.weights, together)
    gaps = []
    for i, length in enumerate(LENGTHS):
        alone = way(case.spec, case.weights, case.given.each(lambda part, i=i, n=length: part[i : i + 1, :n]))
        gaps.append(furthest(row(answer, i, together.attend[i]), alone))
    return max(gaps)


@law(fit=sequences)
def right_padding_changes_nothing(way: Way, case: Case) -> float:
    return rows_apart(way, case, padded(case))


@law(fit=sequences, **EXACT)
def the_content_of_padding_changes_nothing(way: Way, case: Case) -> float:
    one, other = padded(case, number=1), padded(case, number=2)
    answers = [way(case.spec, case.weights, given) for given in (one, other)]
    return furthest(*answers, real=one.attend)


@law(fit=sequences)
def left_padding_changes_nothing_if_positions_are_given(way: Way, case: Case) -> float | None:
    given = padded(case, left=True)
    if case.spec.counts_from_start and not way.positions:
        return None  # the program numbers positions from the start of a row, and refuses padding there
    told = np.maximum(given.attend.cumsum(1) - 1, 0) if way.positions else None
    return rows_apart(way, case, given.but(positions=told))


def wide(spec: EncoderSpec) -> EncoderSpec:
    """Wide enough to differ: of two features, a norm leaves nothing but which of them is larger."""
    return spec.replace(d_model=max(4, spec.d_model), embedding_size=spec.embedding_size and max(4, spec.embedding_size))


def placed(spec: EncoderSpec) -> EncoderSpec | None:
    return None if spec.one_length or not absolute(spec) else wide(spec)


@law(fit=placed, ways=(DOUBLE, SINGLE), double=0.1, single=0.1, differs=True)
def left_padding_changes_the_result_if_positions_are_not_given(way: Way, case: Case) -> float:
    given = padded(case, left=True)
    counted = np.broadcast_to(np.arange(LONGEST), given.attend.shape)  # what a model that checks nothing would take them for
    return rows_apart(way, case, given.but(positions=counted))


@law()
def a_batch_gives_the_same_as_its_rows_one_by_one(way: Way, case: Case) -> float:
    together = way(case.spec, case.weights, case.given)
    rows = range(len(case.given.inputs))
    alone = [way(case.spec, case.weights, case.given.each(lambda part, i=i: part[i : i + 1])) for i in rows]
    return max(furthest(one, row(together, i, slice(None))) for i, one in enumerate(alone))  # type: ignore[arg-type]


@law()
def permuting_the_rows_of_a_batch_permutes_the_result(way: Way, case: Case) -> float:
    order = case.rng().permutation(len(case.given.inputs))
    answer = way(case.spec, case.weights, case.given)
    wanted = Answer(*(tuple(part[order] for part in parts) for parts in answer))
    return furthest(way(case.spec, case.weights, case.given.each(lambda part: part[order])), wanted)


@law(**EXACT)
def the_same_input_gives_the_same_result_twice(way: Way, case: Case) -> float:
    return furthest(way(case.spec, case.weights, case.given), way(case.spec, case.weights, case.given))


@law(ways=(DOUBLE, SINGLE))
def the_number_of_threads_changes_nothing(way: Way, case: Case) -> float:
    """Not to the last bit: a matrix product may be cut otherwise among two."""
    before, threads = way(case.spec, case.weights, case.given), torch.get_num_threads()
    torch.set_num_threads(1 if threads > 1 else 2)
    try:
        return furthest(way(case.spec, case.weights, case.given), before)
    finally:
        torch.set_num_threads(threads)


@law(fit=sequences, **EXACT)
def a_mask_of_ones_equals_no_mask(way: Way, case: Case) -> float:
    ones = np.ones(case.given.inputs.shape[:2], dtype=bool)
    masked = way(case.spec, case.weights, case.given.but(attend=ones))
    return furthest(masked, way(case.spec, case.weights, case.given))


@law(fit=sequences, ways=(DOUBLE, SINGLE))
def fused_attention_equals_explicit_attention(way: Way, case: Case) -> float:
    given = padded(case)
    written = way.lying(case.spec, case.weights, given, Watching(way.tensors(given)[2], written_out=True))  # type: ignore[attr-defined]
    return furthest(way(case.spec, case.weights, given), answer_of(case.spec, written), given.attend)


def packing(spec: EncoderSpec) -> EncoderSpec | None:
    return sequences(spec) if spec.segments is None and packing_suits(spec) else None


@law(fit=packing, ways=(DOUBLE, SINGLE))
def sequences_packed_into_one_row_are_independent(way: Way, case: Case) -> float:
    """The plain counterpart of the variable-length kernel, which runs on any device."""
    encoder = way.encoder(case.spec, case.weights)  # type: ignore[attr-defined]
    rows = [row[:length] for row, length in zip(way.tensors(case.given)[0], LENGTHS, strict=True)]  # type: ignore[attr-defined]
    with mock.patch.object(packing_room, "packable", lambda _: True), torch.inference_mode():
        packed = encode_packed(encoder, rows)
        alone = [encoder(row[None]).states[0] for row in rows]
    return max(apart(numbers(one), numbers(other)) for one, other in zip(packed, alone, strict=True))


def unordered(spec: EncoderSpec) -> EncoderSpec | None:
    """Nothing depends on the position of a token, and nothing reads the first or last one."""
    if spec.one_length:
        return None
    return spec.replace(beside_kernel=None, position="none", **EVERYWHERE, pool="mean", head_reads="pooled")


def ordered(spec: EncoderSpec) -> EncoderSpec | None:
    """Full attention with scaled scores: larger scores may concentrate a query on one key, wherever it is."""
    if spec.one_length or spec.position == "none":
        return None
    return wide(spec).replace(layers=max(1, spec.layers), **EVERYWHERE, scale="d_k")


def order_apart(way: Way, case: Case) -> tuple[Answer, Answer]:
    """Tokens in another order, and the answer in that order."""
    order = np.roll(np.arange(LENGTH), 2)[::-1]
    answer = way(case.spec, case.weights, case.given)
    moved = way(case.spec, case.weights, case.given.each(lambda part: part[:, order]))
    return moved, Answer(tuple(part[:, order] for part in answer.tokens), answer.whole)


@law(fit=unordered)
def without_positions_permuting_tokens_permutes_the_result(way: Way, case: Case) -> float:
    return furthest(*order_apart(way, case))


@law(fit=ordered, double=1e-5, single=1e-5, differs=True)
def with_positions_the_order_of_tokens_matters(way: Way, case: Case) -> float | None:
    if len({tuple(map(float, np.ravel(token))) for token in case.given.inputs[0]}) < 2:
        return None  # the same token everywhere has no order
    moved, wanted = order_apart(way, case)
    return max(apart(a, b) for a, b in zip(moved.tokens, wanted.tokens, strict=True))


@law(fit=unordered)
def without_positions_equal_tokens_have_equal_vectors(way: Way, case: Case) -> float:
    twin = case.given.each(lambda part: part[:, [0, 1, 2, 1, 0]])
    answer = way(case.spec, case.weights, twin)
    return max(apart(part[:, [0, 1]], part[:, [4, 3]]) for part in answer.tokens)
