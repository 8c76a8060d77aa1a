"""The layout of a parameter in a file: tensor name and shape, which part of the tensor, and whether it is transposed."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

# same: the same order of numbers in another shape ([1, 1, d_model] for a token, [heads · d_k] for a bias).
# transposed: the file has the output axis first ([out, in], a convolution kernel [out, channel, row, column]), we have it last.
Layout = Literal["same", "transposed"]


class Place(NamedTuple):
    """The tensor in a file that holds a parameter: all of it, or rows `rows[0]` up to `rows[1]`.

    Rows are counted along `axis`, within each of its `groups` equal pieces: GPT-2 stores queries, keys and values as
    consecutive columns, GPT-NeoX separately for each head.
    """

    name: str
    shape: tuple[int, ...]
    layout: Layout = "same"
    rows: tuple[int, int] | None = None
    axis: int = 0
    groups: int = 1
    channels: int = 1  # of patches whose rows are stored pixel by pixel, with the channels of a pixel side by side (SigLIP 2)

    @property
    def part_shape(self) -> tuple[int, ...]:
        """Shape of the part that belongs to this parameter."""
        if self.rows is None:
            return self.shape
        return (*self.shape[: self.axis], self.groups * (self.rows[1] - self.rows[0]), *self.shape[self.axis + 1 :])

    @property
    def runs(self) -> tuple[range, int]:
        """The location of the part in the tensor: the start and length of each run of consecutive numbers."""
        count = math.prod(self.shape)
        if self.rows is None:
            return range(0, 1), count
        times = math.prod(self.shape[: self.axis]) * self.groups
        stride = count // max(times, 1)
        inner = stride // max(self.shape[self.axis] // self.groups, 1)
        first = self.rows[0] * inner
        return range(first, first + times * stride, max(stride, 1)), (self.rows[1] - self.rows[0]) * inner

    def stored_index(self, index: list[int]) -> list[int]:
        """The index of a number of the part in the whole tensor."""
        if self.rows is None:
            return index
        size, wide = self.rows[1] - self.rows[0], self.shape[self.axis] // self.groups
        group, inside = divmod(index[self.axis], size)
        return [*index[: self.axis], group * wide + self.rows[0] + inside, *index[self.axis + 1 :]]


def part_of(whole: Any, place: Place) -> Any:
    """Return the part of a whole tensor (a NumPy array or a torch tensor) that belongs to a parameter, as a view if possible."""
    if place.rows is None:
        return whole
    before, after = place.shape[: place.axis], place.shape[place.axis + 1 :]
    grouped = whole.reshape(math.prod(before), place.groups, place.shape[place.axis] // place.groups, math.prod(after))
    return grouped[:, :, place.rows[0] : place.rows[1]].reshape(place.part_shape)


def put_part(whole: Any, place: Place, part: Any) -> None:
    """Write the part of a parameter into a whole tensor."""
    before, after = math.prod(place.shape[: place.axis]), math.prod(place.shape[place.axis + 1 :])
    grouped = whole.reshape(before, place.groups, place.shape[place.axis] // place.groups, after)
    start, stop = place.rows or (0, grouped.shape[2])
    grouped[:, :, start:stop] = part.reshape(before, place.groups, stop - start, after)


def from_file(part: Any, place: Place, shape: tuple[int, ...]) -> Any:
    """Return the parameter, in shape `shape`, from its part of the file (a NumPy array or a torch tensor)."""
    if place.layout == "transposed":
        part = part.reshape(part.shape[0], math.prod(part.shape[1:]))
        if place.channels > 1:
            part = part.reshape(part.shape[0], -1, place.channels).swapaxes(1, 2).reshape(part.shape)
        part = part.T
    return part.reshape(shape)


def to_file(value: Any, place: Place) -> Any:
    """Return the part that stores a parameter in the file: the inverse of `from_file`."""
    if place.layout == "transposed":
        rows = place.part_shape[0]
        value = value.reshape(math.prod(place.part_shape[1:]), rows).T
        if place.channels > 1:
            value = value.reshape(rows, place.channels, -1).swapaxes(1, 2)
    return value.reshape(place.part_shape)
