"""Operations of a sequence that is pooled between layers: pairs, distances between what is left, and back to full length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Ratio, Ref, Sum, Values, in_full
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Copy, Elementwise

CLASS_SEGMENT = 2  # a token of this segment belongs to all


def _pairs(length: int) -> list[tuple[int, ...]]:
    """The tokens of each pair: the first token twice, then two by two without the last, of which one may be left."""
    row = [0, *range(length - 1)]
    return [tuple(row[i : i + 2]) for i in range(0, length, 2)]


@dataclass(frozen=True)
class PoolPairs(Elementwise):
    """Means of two tokens each. The first token is unchanged, and the last is left out."""

    short: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axes[0], self.short, *inputs[0].axes[2:])

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return inputs[0].size

    def pairs(self, inputs: Sequence[Tensor]) -> list[tuple[int, ...]]:
        """The tokens of each pair."""
        return _pairs(inputs[0].axes[1].size)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.stack([values[0][:, list(pair)].mean(1) for pair in _pairs(inputs[0].axes[1].size)], axis=1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        name, pair = self.short.name, _pairs(inputs[0].axes[1].size)[cell[self.short.name]]
        cells = Sum(tuple(Ref(inputs[0], cell | {name: place}) for place in pair))
        return Ratio(cells, Constant(float(len(pair)), str(len(pair))))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("mean", names[0]) + formatter.words(" of pairs, the first token with itself")


@dataclass(frozen=True)
class SkipPairs(Copy):
    """One number of each pair, its last: the segment of what stands for two tokens."""

    short: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axes[0], self.short)

    def places(self, inputs: Sequence[Tensor]) -> list[int]:
        """The position of each."""
        return [pair[0] for pair in _pairs(inputs[0].axes[1].size)]

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0][:, self.places(inputs)]

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell | {inputs[0].axes[1].name: self.places(inputs)[cell[self.short.name]]})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return names[0] + formatter.words(" of the first of each pair")


@dataclass(frozen=True)
class PoolReal(Copy):
    """The pairs of two real tokens."""

    short: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axes[0], self.short)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.stack([values[0][:, list(pair)].all(1) for pair in _pairs(inputs[0].axes[1].size)], axis=1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        pair = _pairs(inputs[0].axes[1].size)[cell[self.short.name]]
        real = values[inputs[0].name][cell["batch"]]
        return Ref(inputs[0], cell | {inputs[0].axes[1].name: min(pair, key=lambda place: bool(real[place]))})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return names[0] + formatter.words(" for both tokens of a pair")


@dataclass(frozen=True)
class Distances(Copy):
    """Waves of distances, from the largest downward: sines in the first half of the features, cosines in the second."""

    along: Axis
    width: Axis
    first: int
    step: int
    base: float = 10000.0

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (self.along, self.width)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        half = self.width.size // 2
        distances = self.first - self.step * np.arange(self.along.size)
        angles = distances[:, None] / self.base ** (np.arange(half) / half)
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        half, feature = self.width.size // 2, cell[self.width.name]
        distance, place = self.first - self.step * cell[self.along.name], feature % half
        text = f"{distance} / {in_full(self.base)}^({place}/{half})"
        return Call("cos" if feature >= half else "sin", Constant(float(distance / self.base ** (place / half)), text))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        angle = f"({self.first} − {self.step} {self.along.name}) / {self.base:g}^(2i/{self.width.name})"
        return f"{formatter.call('sin', angle)}, {formatter.call('cos', angle)}" + formatter.words(" side by side")


@dataclass(frozen=True)
class PickShifted(Copy):
    """Of the product with every distance, the one with that of each pair of tokens; 0 where one of them is the first token."""

    query: Axis
    key: Axis
    shift: int  # keys from one query to the next

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes[:-1], self.key)

    def place(self, query: int, key: int) -> int:
        """The row of the distance from a query to a key."""
        return self.shift * (self.query.size - query) + key

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        rows = self.shift * (self.query.size - np.arange(self.query.size))[:, None] + np.arange(self.key.size)
        found = np.take_along_axis(values[0], np.broadcast_to(rows, (*values[0].shape[:2], *rows.shape)), axis=-1)
        found[:, :, 0], found[:, :, :, 0] = 0.0, 0.0
        return found

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        query, key = cell[self.query.name], cell[self.key.name]
        if not query or not key:
            return Constant(0.0, "0")
        return Ref(inputs[0], cell | {inputs[0].axes[-1].name: self.place(query, key)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        index = f"{self.shift} ({self.query.size} − {self.query.name}) + {self.key.name}"
        return formatter.indexed(names[0], index) + formatter.words(" (0 for the first token)")


@dataclass(frozen=True)
class PickSegment(Copy):
    """Of two products, the one for tokens of two segments or of one. Inputs: products, segments of queries, and of keys."""

    key: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes[:-1], self.key)

    def same(self, queries: Array, keys: Array) -> Array:
        """Which pairs are of one segment; the class token is in every one."""
        classes = (queries == CLASS_SEGMENT)[:, :, None] | (keys == CLASS_SEGMENT)[:, None]
        return np.asarray(classes | (queries[:, :, None] == keys[:, None]))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        same = self.same(values[1], values[2])[:, None]
        found = np.where(same, values[0][..., 1:], values[0][..., :1])
        found[:, :, 0], found[:, :, :, 0] = 0.0, 0.0
        return found

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        query, key = cell[inputs[1].axes[1].name], cell[self.key.name]
        if not query or not key:
            return Constant(0.0, "0")
        same = self.same(values[inputs[1].name], values[inputs[2].name])[cell["batch"], query, key]
        return Ref(inputs[0], cell | {inputs[0].axes[-1].name: int(same)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[0], "same segment") + formatter.words(" (0 for the first token)")


@dataclass(frozen=True)
class Spread(Copy):
    """Each token after the first is repeated to restore the length before pooling; zeros where tokens are missing."""

    whole: Axis
    times: int

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axes[0], self.whole, *inputs[0].axes[2:])

    def place(self, position: int) -> int:
        """The pooled token of a position."""
        return 0 if position == 0 or self.times == 1 else 1 + (position - 1) // self.times

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        if self.times == 1:
            return values[0]
        places = [self.place(position) for position in range(self.whole.size)]
        padded = np.concatenate([values[0], np.zeros_like(values[0][:, :1])], axis=1)
        return padded[:, np.minimum(places, values[0].shape[1])]

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        position = cell[self.whole.name]
        place = position if self.times == 1 else self.place(position)
        if place >= inputs[0].axes[1].size:
            return Constant(0.0, "0")
        return Ref(inputs[0], cell | {self.whole.name: place})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("spread", names[0]) + formatter.words(f" (each {self.times} times, the first once)")
