"""What goes in, checked: ids within their tables, masks of zeros and ones, numbers that are numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glassformer.program import Program, Tensor
from glassformer.program.axes import Array
from glassformer.spec import GlassformerError, shown

IDS = {"tokens": "vocab", "segments": "segment"}  # input -> the axis that its ids index


def checked_inputs(program: Program, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Array]]:
    """Each input of the program as an array of the right kind and shape; segments default to 0, attend to everywhere."""
    wanted = {tensor.name: tensor for tensor in program.inputs}
    for name in inputs:
        if name not in wanted:
            raise GlassformerError(f"this program has no input '{shown(name)}': it takes {', '.join(wanted)}.")
    for name, tensor in wanted.items():
        if name in inputs:
            value = numbers_in(name, inputs[name])
        elif name == "segments":
            value = np.zeros(tensor.shape, dtype=np.int64)
        elif name == "attend":
            value = np.ones(tensor.shape, dtype=bool)
        else:
            raise GlassformerError(f"the input {name} is missing: it is wanted with shape {list(tensor.shape)}.")
        yield name, _checked(program, tensor, value)


def numbers_in(name: str, value: Any) -> Array:
    """What somebody gave, as an array of numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise GlassformerError(f"{name} is ragged: its rows have different lengths.") from None
    if array.dtype.kind not in "biuf":
        raise GlassformerError(f"{name} must be numbers, found {shown(type(value).__name__)} of {array.dtype}.")
    return array


def _checked(program: Program, tensor: Tensor, value: Array) -> Array:
    if value.shape != tensor.shape:
        axes = ", ".join(axis.name for axis in tensor.axes)
        raise GlassformerError(f"{tensor.name} has shape {list(value.shape)}, wanted {list(tensor.shape)} ({axes}).")
    if tensor.name in IDS:
        return checked_ids(program, tensor, value)
    if tensor.name == "attend":
        return _mask(program, value)
    wrong = np.argwhere(~np.isfinite(value))
    if len(wrong):
        where = ", ".join(str(index) for index in wrong[0])
        raise GlassformerError(f"{tensor.name}[{where}] is {value[tuple(wrong[0])]}: every input must be a finite number.")
    return value.astype(np.float64)


def checked_ids(program: Program, tensor: Tensor, value: Array) -> Array:
    """Whole numbers, each with a row in its table."""
    rows = {"vocab": program.spec.vocab, "segment": program.spec.segments}[IDS[tensor.name]] or 0
    if value.dtype.kind not in "iu":
        raise GlassformerError(f"{tensor.name} must be whole numbers, got {value.dtype}.")
    wrong = np.argwhere((value < 0) | (value >= rows))
    if len(wrong):
        where = ", ".join(str(index) for index in wrong[0])
        what = "vocabulary" if tensor.name == "tokens" else "segment table"
        raise GlassformerError(
            f"{tensor.name}[{where}] = {value[tuple(wrong[0])]} is out of range: the {what} has rows 0 to {rows - 1:,}."
        )
    return value.astype(np.int64)


def _mask(program: Program, value: Array) -> Array:
    if value.dtype.kind == "f" or not np.isin(value, (0, 1)).all():  # zeros may also mean 'add nothing': never guessed at
        raise GlassformerError(
            "attend must hold only 0 and 1 (1 = a real token). Floats may mean two things: pass attend == 1, or mask == 0 "
            "where it is an additive mask of 0 and -inf."
        )
    real = value.astype(bool)
    late = np.argwhere(real.any(1) & ~real[:, 0])
    if len(late) and (program.spec.learns_positions or program.spec.position == "sinusoidal"):
        raise GlassformerError(
            f"row {late[0][0]} is padded on the left, so its tokens would get the wrong positions. Pad on the right."
        )
    return real
