"""Named axes, and tensors over them."""

from __future__ import annotations

import math
import re
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Cell = dict[str, int]  # which element: {"t": 1, "head": 0, "d_v": 3}
Floats = NDArray[np.float64]
HEADS = ("head", "kv_head")  # heads of queries, and of keys and values where there are fewer of those
IN_LAYER = re.compile(r"^layers\.(\d+)\.")


def layer_of(name: str) -> int | None:
    """The layer that a tensor belongs to, by its name; None for what is in no layer, or in all of them."""
    found = IN_LAYER.match(name)
    return int(found[1]) if found else None


class Axis(NamedTuple):
    """A named size: `Axis("d_model", 768)`."""

    name: str
    size: int

    def renamed(self, name: str) -> Axis:
        return Axis(name, self.size)


class Tensor(NamedTuple):
    """A named array over named axes. The same value may be read under other axis names (`t` seen as keys is `s`)."""

    name: str
    axes: tuple[Axis, ...]

    @property
    def size(self) -> int:
        return math.prod([axis.size for axis in self.axes])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple([axis.size for axis in self.axes])

    @property
    def formula(self) -> str:
        return " · ".join(axis.name for axis in self.axes) or "1"

    @property
    def symbol(self) -> str:
        """The last word of the name: `W_Q` of `layers.0.attention.W_Q`."""
        return self.name.rpartition(".")[2]

    def at(self, cell: Cell) -> tuple[int, ...]:
        """The index of `cell`; axes that this tensor has not are ignored, so one cell serves inputs and output alike."""
        return tuple([cell[axis.name] for axis in self.axes])

    def seen(self, **names: str) -> Tensor:
        """The same value under other axis names: `x.seen(t="s")`."""
        return Tensor(self.name, tuple([axis.renamed(names[axis.name]) if axis.name in names else axis for axis in self.axes]))

    def axis(self, name: str) -> Axis:
        return next(axis for axis in self.axes if axis.name == name)


ParameterKind = Literal["weight", "bias", "norm", "table", "token", "scale"]


class Parameter(NamedTuple):
    """A learned tensor, its kind, and whether it is stored but never trained."""

    tensor: Tensor
    kind: ParameterKind
    frozen: bool = False

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def size(self) -> int:
        return self.tensor.size
