"""Checks of inputs: ids in range, masks of zeros and ones, finite numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.program import Program, Tensor
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec

IDS = {"tokens": "vocab", "target": "vocab", "segments": "segment"}  # input -> the axis that its ids index


def checked_inputs(program: Program, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Array]]:
    """Yield each input of the program as a checked array; by default, segments and boxes are 0 and all tokens are real."""
    wanted = {tensor.name: tensor for tensor in program.inputs}
    for name in inputs:
        if name not in wanted:
            raise GlassformerError(f"this program has no input '{shown(name)}'. Inputs: {', '.join(wanted)}.")
    for name, tensor in wanted.items():
        if name in inputs:
            value = numbers_in(name, inputs[name])
        elif name in ("segments", "boxes"):
            value = np.zeros(tensor.shape, dtype=np.int64)
        elif tensor.role == "attend":
            value = np.ones(tensor.shape, dtype=bool)
        else:
            raise GlassformerError(f"the input {name} is missing: expected shape {list(tensor.shape)}.")
        yield name, _checked(program, tensor, value)


def numbers_in(name: str, value: Any) -> Array:
    """Convert a value to an array of numbers."""
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
        raise GlassformerError(f"{tensor.name} has shape {list(value.shape)}, expected {list(tensor.shape)} ({axes}).")
    if tensor.name in IDS and len(tensor.axes) == 2:
        return checked_ids(program, tensor, value)
    if tensor.name == "boxes":
        return _boxes(stack_of(program, tensor).page or 0, value)
    if tensor.role == "attend":
        return _mask(program, tensor, value)
    wrong = np.argwhere(~np.isfinite(value))
    if len(wrong):
        where = ", ".join(str(index) for index in wrong[0])
        raise GlassformerError(f"{tensor.name}[{where}] is {value[tuple(wrong[0])]}: every input must be a finite number.")
    return value.astype(np.float64)


def checked_ids(program: Program, tensor: Tensor, value: Array) -> Array:
    """Check that ids are whole numbers with a row in their table."""
    spec = stack_of(program, tensor)
    rows = {"vocab": spec.vocab, "segment": spec.segments}[IDS[tensor.name]] or 0
    if value.dtype.kind not in "iu":
        raise GlassformerError(f"{tensor.name} must be whole numbers, got {value.dtype}.")
    wrong = np.argwhere((value < 0) | (value >= rows))
    if len(wrong):
        where = ", ".join(str(index) for index in wrong[0])
        what = "segment table" if tensor.name == "segments" else "vocabulary"
        raise GlassformerError(
            f"{tensor.name}[{where}] = {value[tuple(wrong[0])]} is out of range: the {what} has rows 0 to {rows - 1:,}."
        )
    return value.astype(np.int64)


def _boxes(rows: int, value: Array) -> Array:
    """Check that boxes are whole numbers on the page, with their left and upper sides first."""
    if value.dtype.kind not in "iu":
        raise GlassformerError(f"boxes must be whole numbers, got {value.dtype}.")
    inside = ((value >= 0) & (value < rows)).all(-1)
    wrong = np.argwhere(~inside | (value[..., 2] < value[..., 0]) | (value[..., 3] < value[..., 1]))
    if len(wrong):
        where = ", ".join(str(index) for index in wrong[0])
        raise GlassformerError(
            f"boxes[{where}] = {value[tuple(wrong[0])].tolist()} is not a box [left, upper, right, lower] of coordinates "
            "from 0 to "
            f"{rows - 1:,}."
        )
    return value.astype(np.int64)


def stack_of(program: Program, tensor: Tensor) -> EncoderSpec:
    """The spec of the stack that reads an input."""
    reads = (step.block for step in program.steps if any(tensor.name == one.name for one in step.inputs))
    return program.spec_of(next(reads, tensor.block))


def _mask(program: Program, tensor: Tensor, value: Array) -> Array:
    if value.dtype.kind == "f" or not np.isin(value, (0, 1)).all():  # float zeros could mean an additive mask
        raise GlassformerError(
            f"{tensor.name} must contain only 0 and 1 (1 = a real token), not floats, which are ambiguous: pass attend == 1, or "
            "mask == 0 for an additive mask of 0 and -inf."
        )
    real = value.astype(bool)
    late = np.argwhere(real.any(1) & ~real[:, 0])
    spec = stack_of(program, tensor)
    if len(late) and spec.counts_from_start:
        raise GlassformerError(
            f"row {late[0][0]} is padded on the left, so its tokens would get the wrong positions. Pad on the right."
        )
    return real
