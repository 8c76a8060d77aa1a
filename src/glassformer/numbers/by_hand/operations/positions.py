"""Sinusoidal and rotary positions at any positions, in any of the usual arrangements."""

# ruff: noqa: ARG002 - all operations have the same methods, and not each uses all arguments.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ref, Sum, Values, in_full
from glassformer.program.formatter import Formatter, LatexFormatter
from glassformer.program.operations.base import Copy, Elementwise
from glassformer.program.operations.rotations import angle_text

Layout = Literal["interleaved", "halves"]


@dataclass(frozen=True)
class _Waves(Copy):
    """sin(p / base^(2i/d)) and its cosine: in turn, or the sines in the first half of the features."""

    width: int
    base: float
    layout: Layout

    def wave(self, position: float, feature: int) -> tuple[str, float, str]:
        """Function, angle and how the angle is written."""
        half = -(-self.width // 2)
        pair, odd = divmod(feature, 2) if self.layout == "interleaved" else (feature % half, feature // half)
        angle = position / self.base ** (2 * pair / self.width)
        return ("cos" if odd else "sin"), angle, f"{in_full(position)} / {in_full(self.base)}^({2 * pair}/{self.width})"

    def number(self, position: float, feature: int) -> float:
        function, angle, _ = self.wave(position, feature)
        return math.sin(angle) if function == "sin" else math.cos(angle)

    def expression(self, position: float, feature: int) -> Expression:
        function, angle, text = self.wave(position, feature)
        return Call(function, Constant(angle, text))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        if isinstance(formatter, LatexFormatter):
            angle = rf"\mathrm{{pos}} / {formatter.number(self.base)}^{{2i/d}}"
        else:
            angle = f"pos / {self.base:g}^(2i/d)"
        where = (" in features 2i", " in features 2i+1")
        if self.layout == "halves":
            where = (" in the first half", " in the second half")
        sine = f"{formatter.call('sin', angle)}{formatter.words(where[0] + ', ')}"
        return f"{sine}{formatter.call('cos', angle)}{formatter.words(where[1])}"


@dataclass(frozen=True)
class PositionTable(_Waves):
    """The rows of the table for some positions."""

    positions: tuple[float, ...]
    along: str = "t"

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (Axis(self.along, len(self.positions)), Axis("d_model", self.width))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.array([[self.number(p, feature) for feature in range(self.width)] for p in self.positions])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return self.expression(self.positions[cell[self.along]], cell["d_model"])


@dataclass(frozen=True)
class PositionEntries(_Waves):
    """Single entries PE(position, feature) of the table."""

    pairs: tuple[tuple[int, int], ...]

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (Axis("entry", len(self.pairs)),)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.array([self.number(*pair) for pair in self.pairs])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return self.expression(*self.pairs[cell["entry"]])


@dataclass(frozen=True)
class Turn(Elementwise):
    """Rotary positions: pairs of features rotated by position / base^(2i/d). Pairs: adjacent features, or i and i + d/2."""

    positions: tuple[float, ...]
    base: float
    pairs: Literal["neighbours", "halves"]
    along: str | None = None

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 3 * output.size

    def _pair(self, feature: int, width: int) -> tuple[int, int, int]:
        """Number of the pair, the partner's feature, and the sign of the sine."""
        if self.pairs == "neighbours":
            return feature // 2, feature ^ 1, -1 if feature % 2 == 0 else 1
        half = width // 2
        return feature % half, (feature + half) % width, -1 if feature < half else 1

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        width = output.axes[-1].size
        numbers, partners, signs = zip(*(self._pair(feature, width) for feature in range(width)), strict=True)
        angles = np.array(self.positions)[:, None] / self.base ** (2 * np.array(numbers) / width)
        angles = angles if self.along else angles[0]
        return np.asarray(values[0] * np.cos(angles) + np.array(signs) * values[0][..., list(partners)] * np.sin(angles))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        name, width = output.axes[-1]
        number, partner, sign = self._pair(cell[name], width)
        position = self.positions[cell[self.along] if self.along else 0]
        angle = position / self.base ** (2 * number / width)
        written = Constant(angle, angle_text(position, self.base, 2 * number, width))
        sine = Call("sin", written)
        other = Ref(inputs[0], cell | {name: partner})
        turned = Product((other, sine)) if sign > 0 else Product((Constant(-1.0, "−1"), Product((other, sine))))
        return Sum((Product((Ref(inputs[0], cell), Call("cos", written))), turned))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call("rotate", names[0]) + formatter.words(
            f": each pair (a, b) becomes (a cos − b sin, b cos + a sin), {self.pairs}"
        )
