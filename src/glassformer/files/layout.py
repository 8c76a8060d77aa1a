"""The layout of a parameter in a file: tensor name and shape, which rows, and whether it is transposed."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

# same: the same order of numbers in another shape ([1, 1, d_model] for a token, [heads · d_k] for a bias).
# transposed: the file has the output axis first ([out, in], a convolution kernel [out, channel, row, column]), we have it last.
Layout = Literal["same", "transposed"]


class Place(NamedTuple):
    """The tensor in a file that holds a parameter: all of it, or rows `rows[0]` up to `rows[1]`."""

    name: str
    shape: tuple[int, ...]
    layout: Layout = "same"
    rows: tuple[int, int] | None = None

    @property
    def part_shape(self) -> tuple[int, ...]:
        """Shape of the rows that belong to this parameter."""
        return self.shape if self.rows is None else (self.rows[1] - self.rows[0], *self.shape[1:])


def from_file(part: Any, place: Place, shape: tuple[int, ...]) -> Any:
    """Return the parameter, in shape `shape`, from its rows in the file (a NumPy array or a torch tensor)."""
    if place.layout == "transposed":
        part = part.reshape(part.shape[0], math.prod(part.shape[1:])).T
    return part.reshape(shape)


def to_file(value: Any, place: Place) -> Any:
    """Return the rows that store a parameter in the file: the inverse of `from_file`."""
    if place.layout == "transposed":
        rows = place.part_shape[0]
        value = value.reshape(math.prod(place.part_shape[1:]), rows).T
    return value.reshape(place.part_shape)
