"""Layouts in which a result can be written: transposed, the row of one token, one head, heads side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from glassformer.answers.problems.parts import square
from glassformer.answers.problems.work import Work, axis_names, size_of
from glassformer.numbers.by_hand.worked import turned
from glassformer.program import Tensor
from glassformer.program.axes import Array

# Tokens × tokens, where the transpose is a mistake (K Qᵀ instead of Q Kᵀ), not another layout.
BEFORE_SOFTMAX = ("dot", "scores", "masked", "tempered")

Labels = Mapping[str, tuple[str, ...]]
Place = tuple[int | slice, ...]


class Reading(NamedTuple):
    """A value in one layout: its description (empty for the layout of the problem), and the numbers.

    `place` is the index of the numbers in the whole tensor, if they are only a part of it.
    """

    layout: str
    value: Array
    place: Place | None = None


def readings(work: Work, quantity: str, labels: Labels) -> list[Reading]:
    """Return a quantity in every usual layout, that of the problem first."""
    found = work.quantity(quantity)
    return list(_layouts(*found, work, labels)) if found else []


def _layouts(tensor: Tensor, value: Array, work: Work, labels: Labels) -> Iterator[Reading]:
    convention = work.problem.convention
    names = axis_names(tensor)
    matrix = len(names) - ("head" in names) > 1
    yield Reading("", turned(tensor, value, convention))
    if matrix and not (tensor.name in BEFORE_SOFTMAX and square(tensor)):
        other = "tokens as columns" if convention == "rows" else "tokens as rows"
        yield Reading(f"transposed, {other}", turned(tensor, value, "rows" if convention == "columns" else "columns"))
    yield from _rows(names, value, labels)
    if "head" in names:
        for head in range(value.shape[0]):
            yield Reading(f"only head {head + 1}", turned(tensor, value, convention)[head], (head,))
            for row in _rows(names[1:], value[head], labels):
                yield Reading(f"only head {head + 1}, {row.layout}", row.value, (head, *(row.place or ())))
        if matrix:
            yield Reading("heads side by side", np.moveaxis(value, 0, -2).reshape(value.shape[1], -1))
    together = work.program.tensors.get("heads")
    heads = size_of(together, "head") if together is not None else None
    if heads and names[-1:] == ["h_d_v"]:
        split = value.reshape(*value.shape[:-1], heads, -1)
        yield Reading("head by head", np.moveaxis(split, -2, 0))


def _rows(names: list[str], value: Array, labels: Labels) -> Iterator[Reading]:
    """Yield the part of each token."""
    if "t" not in names or value.shape[names.index("t")] < 2:
        return
    axis = names.index("t")
    words = labels.get("t") or tuple(str(number + 1) for number in range(value.shape[axis]))
    for number in range(value.shape[axis]):
        where: Place = (*([slice(None)] * axis), number)
        yield Reading(f"the row of {words[number]}", np.asarray(value[where]), where)


def recovered(values: Array, work: Work, quantity: str, place: Place | None = None) -> Array | None:
    """Return claimed numbers as a value of the whole tensor, filled up with right ones; None if they do not fit."""
    found = work.quantity(quantity)
    if found is None:
        return None
    tensor, value = found
    if place is not None:
        whole = value.copy()
        whole[place] = values.reshape(whole[place].shape)
        return whole
    written = turned(tensor, value, work.problem.convention)
    if _sizes(values) == _sizes(written):
        return turned(tensor, values.reshape(written.shape), work.problem.convention)
    if value.ndim > 1 and _sizes(values) == _sizes(np.swapaxes(written, -1, -2)):
        other = values.reshape(np.swapaxes(written, -1, -2).shape)
        return turned(tensor, np.swapaxes(other, -1, -2), work.problem.convention)
    return None


def _sizes(value: Array) -> list[int]:
    return [size for size in value.shape if size != 1]
