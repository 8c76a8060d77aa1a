"""Named axes, and tensors over them."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.program.roles import ENCODER, Block, Role

Array = NDArray[Any]
Cell = dict[str, int]  # the index of an element by axis: {"t": 1, "head": 0, "d_v": 3}
Floats = NDArray[np.float64]
HEADS = ("head", "kv_head")  # query heads, and key/value heads if there are fewer of them


class Axis(NamedTuple):
    """A named size: `Axis("d_model", 768)`."""

    name: str
    size: int

    def renamed(self, name: str) -> Axis:
        return Axis(name, self.size)


class Tensor(NamedTuple):
    """A named array over named axes. The axes of a value can be renamed (`t` becomes `s` for keys)."""

    name: str
    axes: tuple[Axis, ...]
    symbol: str = ""  # the name without its block: `W_Q` of `layers.0.attention.W_Q`
    block: Block = ENCODER
    role: Role = "other"
    hidden: bool = False  # a hidden state: the input of the first layer, or the output of a layer

    @property
    def any_layer(self) -> str:
        """The name of a parameter in any layer: `layers.*.attention.W_Q`."""
        return f"{self.block.any_layer}.{self.symbol}" if self.block.layer is not None else self.name

    @property
    def size(self) -> int:
        return math.prod([axis.size for axis in self.axes])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple([axis.size for axis in self.axes])

    @property
    def formula(self) -> str:
        return " · ".join(axis.name for axis in self.axes) or "1"

    def is_called(self, words: str) -> bool:
        """Whether the name ends in `words`, as `layers.0.attention.scores` ends in `scores` and in `attention.scores`."""
        return self.name.endswith(f".{words}")

    def is_at(self, place: str) -> bool:
        """Whether `place` is the name of this tensor or of a block around it: `layers.0` or `layers.0.ffn`."""
        return place in (self.name, *(block.name for block in self.block.around))

    def at(self, cell: Cell) -> tuple[int, ...]:
        """The index of `cell`; axes that this tensor lacks are ignored, so that a cell of the output also indexes the inputs."""
        return tuple([cell[axis.name] for axis in self.axes])

    def seen(self, **names: str) -> Tensor:
        """The same value under other axis names: `x.seen(t="s")`."""
        return self._replace(axes=tuple([axis.renamed(names[axis.name]) if axis.name in names else axis for axis in self.axes]))

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
    def block(self) -> Block:
        return self.tensor.block

    @property
    def role(self) -> Role:
        return self.tensor.role

    @property
    def size(self) -> int:
        return self.tensor.size
