"""Whether claimed numbers are a value: digit for digit, in whatever layout the value may be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from glassformer.answers.problems.figures import HIDDEN, Figures
from glassformer.answers.problems.parts import square
from glassformer.answers.problems.work import Work, axis_names, size_of
from glassformer.numbers.by_hand.worked import turned
from glassformer.program import Tensor
from glassformer.program.axes import Array, Floats

HAIR = 1e-9  # what floating point may differ by
FINE = 1e-3  # a unit this small may be off by one in either direction; a coarser one only by cutting off digits
WHOLE = 0.05  # a small number written without decimals may be this far off, a large one by half a unit

# Tokens × tokens, and nothing in the numbers tells rows from columns: the transpose is K Qᵀ for Q Kᵀ.
BEFORE_SOFTMAX = ("dot", "scores", "masked", "tempered")

Fit = Literal["exact", "truncated", "whole"]
Labels = Mapping[str, tuple[str, ...]]


class Reading(NamedTuple):
    """A value as it may be written: in which layout (empty: as the problem writes it), and the numbers.

    `place`: where the numbers stand in the whole tensor, where they are only a part of it.
    """

    layout: str
    value: Array
    place: tuple[int | slice, ...] | None = None


def readings(work: Work, quantity: str, labels: Labels) -> list[Reading]:
    """A quantity of a work in every layout that people use, as written first."""
    found = work.quantity(quantity)
    return list(_layouts(*found, work, labels)) if found else []


def _layouts(tensor: Tensor, value: Array, work: Work, labels: Labels) -> Iterator[Reading]:
    convention = work.problem.convention
    names = axis_names(tensor)
    plain = [name for name in names if name != "head"]
    yield Reading("", turned(tensor, value, convention))
    if len(plain) > 1 and not (tensor.name in BEFORE_SOFTMAX and square(tensor)):
        other = "tokens as columns" if convention == "rows" else "tokens as rows"
        yield Reading(f"transposed, {other}", turned(tensor, value, "rows" if convention == "columns" else "columns"))
    yield from _rows(names, value, labels)
    if "head" in names:
        for head in range(value.shape[0]):
            yield Reading(f"head {head + 1} alone", turned(tensor, value, convention)[head], (head,))
            for row in _rows(names[1:], value[head], labels):
                yield Reading(f"head {head + 1} alone, {row.layout}", row.value, (head, *(row.place or ())))
        if len(plain) > 1:
            yield Reading("heads side by side", np.moveaxis(value, 0, -2).reshape(value.shape[1], -1))
    heads = _heads(work)
    if heads and names[-1:] == ["h_d_v"]:
        split = value.reshape(*value.shape[:-1], heads, -1)
        yield Reading("head by head", np.moveaxis(split, -2, 0))


def _rows(names: list[str], value: Array, labels: Labels) -> Iterator[Reading]:
    """The part of one token."""
    if "t" not in names or value.shape[names.index("t")] < 2:
        return
    axis = names.index("t")
    words = labels.get("t") or tuple(str(number + 1) for number in range(value.shape[axis]))
    for number in range(value.shape[axis]):
        where: tuple[int | slice, ...] = (*([slice(None)] * axis), number)
        yield Reading(f"the row of {words[number]}", np.asarray(value[where]), where)


def _heads(work: Work) -> int | None:
    tensor = work.program.tensors.get("heads")
    return size_of(tensor, "head") if tensor else None


def fitted(figures: Figures, value: Array) -> Fit | None:
    """`exact`: each number within half a unit of its last digit. `truncated`: digits cut off, or the last one off by one."""
    lined = lined_up(figures, value)
    if lined is None:
        return None
    gap = gaps(figures, lined)
    near = gap <= figures.rooms + _hair(figures)
    if near.all():
        return "exact"
    with np.errstate(invalid="ignore"):
        cut = (np.abs(figures.values) <= np.abs(lined) + HAIR) & (figures.values * lined >= 0)
    fine = (figures.units > 0) & (figures.units <= FINE * (1 + HAIR))
    if (near | ((cut | fine) & (gap <= figures.units + _hair(figures)))).all():
        return "truncated"
    return None


def near_whole(figures: Figures, value: Array, *, large: float = WHOLE) -> bool:
    """Whether numbers without decimals are the value, rounded to whole numbers; `large`: the room of numbers from 5 on."""
    lined = lined_up(figures, value)
    if lined is None or not figures.whole:
        return False
    room = np.where(np.abs(lined) >= 5, large, WHOLE)
    return bool((gaps(figures, lined) <= room).all())


def within(figures: Figures, value: Array, more: Floats | float) -> bool:
    """Whether the value lies within the rooms and some more."""
    lined = lined_up(figures, value)
    return lined is not None and bool((gaps(figures, lined) <= figures.rooms + more + _hair(figures)).all())


def lined_up(figures: Figures, value: Array) -> Array | None:
    """The value in the claim's shape, axes of length one aside; None where it has another shape."""
    sizes = [size for size in value.shape if size != 1]
    return value.reshape(figures.shape) if sizes == [size for size in figures.shape if size != 1] else None


def gaps(figures: Figures, value: Array) -> Floats:
    """How far each claimed number is off; −∞ may be written as any very low number."""
    hidden = value == -np.inf
    with np.errstate(invalid="ignore"):
        gap = np.abs(np.where(hidden, 0.0, value) - figures.values)
    gap = np.where(hidden, np.where(figures.values <= HIDDEN, 0.0, np.inf), gap)
    return np.asarray(np.where(np.isfinite(gap), gap, np.inf), dtype=np.float64)


def _hair(figures: Figures) -> Floats:
    return HAIR * np.maximum(np.abs(figures.values), 1.0)


def recovered(figures: Figures, work: Work, quantity: str, place: tuple[int | slice, ...] | None = None) -> Array | None:
    """The claimed numbers as a value of the tensor, the right ones where nothing is claimed; None where they do not fit."""
    found = work.quantity(quantity)
    if found is None:
        return None
    tensor, value = found
    convention = work.problem.convention
    if place is not None:
        whole = value.copy()
        whole[place] = figures.values.reshape(whole[place].shape)
        return whole
    written = turned(tensor, value, convention)
    if lined_up(figures, written) is not None:
        return turned(tensor, figures.values.reshape(written.shape), convention)
    if value.ndim > 1 and lined_up(figures, np.swapaxes(written, -1, -2)) is not None:
        other = figures.values.reshape(np.swapaxes(written, -1, -2).shape)
        return turned(tensor, np.swapaxes(other, -1, -2), convention)
    return None
