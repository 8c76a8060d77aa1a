"""How a parameter lies in a file: a tensor's name and shape, which of its rows, and whether it is turned."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

# same: the numbers in the same order, under another shape ([1, 1, d_model] for a token, [heads · d_k] for a bias).
# transposed: the file maps rows to columns ([out, in], a convolution's kernel [out, channel, row, column]), we columns to rows.
Layout = Literal["same", "transposed"]


class Place(NamedTuple):
    """A tensor of a file that holds a parameter: all of it, or the rows from `rows[0]` up to `rows[1]`."""

    name: str
    shape: tuple[int, ...]
    layout: Layout = "same"
    rows: tuple[int, int] | None = None

    @property
    def part_shape(self) -> tuple[int, ...]:
        """The shape of the rows that are this parameter's."""
        return self.shape if self.rows is None else (self.rows[1] - self.rows[0], *self.shape[1:])


def from_file(part: Any, place: Place, shape: tuple[int, ...]) -> Any:
    """The parameter, of shape `shape`, from its rows in the file (a NumPy array or a torch tensor)."""
    if place.layout == "transposed":
        part = part.reshape(part.shape[0], math.prod(part.shape[1:])).T
    return part.reshape(shape)


def to_file(value: Any, place: Place) -> Any:
    """The rows of the file that hold a parameter: what `from_file` undoes."""
    if place.layout == "transposed":
        rows = place.part_shape[0]
        value = value.reshape(math.prod(place.part_shape[1:]), rows).T
    return value.reshape(place.part_shape)
