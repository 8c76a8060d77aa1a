"""Rotary positions: queries and keys are rotated by their position in a sequence or in an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Constant, Expression, Product, Ref, Sum, Values, in_full, minus
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise, aligned


@dataclass(frozen=True)
class Rotate(Elementwise):
    """Rotary positions: features i and i + d/2 turn together by the angle `position / base^(2i / d) / divisor`.

    d is `width`; further features are not rotated. With `adjacent`, features 2i and 2i + 1 turn by this angle.
    """

    along: str  # the axis of positions
    base: float
    _: KW_ONLY
    divisor: float = 1.0
    width: int | None = None  # number of rotated features; all if not given
    adjacent: bool = False  # whether pairs are neighbours
    amplitude: float = 1.0  # of sines and cosines

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 3 * (output.size // output.axes[-1].size) * self._rotated(output)

    def _rotated(self, output: Tensor) -> int:
        return output.axes[-1].size if self.width is None else self.width

    def angles(self, length: int, width: int) -> Array:
        """The angle of each position and each pair of features."""
        return np.arange(length)[:, None] / self.divisor * self.base ** (-2 * np.arange(width // 2) / width)

    def waves(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> tuple[Array, Array]:
        """Cosine and sine of the angle of each rotated feature, shaped like the output."""
        width, length = self._rotated(output), output.axis(self.along)
        angles = self.angles(length.size, width)
        angles = np.repeat(angles, 2, axis=1) if self.adjacent else np.tile(angles, 2)
        table, part = Tensor("angle", (length, Axis("rotated", width))), (*output.axes[:-1], Axis("rotated", width))
        cosine, sine = (aligned(table, self.amplitude * wave(angles), Tensor("part", part)) for wave in (np.cos, np.sin))
        return cosine, sine

    def angle_text(self, position: int, pair: int, width: int) -> str:
        """The formula of one angle."""
        text = angle_text(position, self.base, 2 * pair, width)
        return text if self.divisor == 1 else f"{text} / {in_full(self.divisor)}"

    def quarter(self, x: Array) -> Array:
        """Each pair of features rotated by a right angle: (a, b) becomes (−b, a)."""
        if self.adjacent:
            return np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate([-second, first], axis=-1)

    def partner(self, feature: int, width: int) -> tuple[int, int, float]:
        """The index of a feature's pair, the other feature of the pair, and the sign of the sine."""
        if self.adjacent:
            return feature // 2, feature ^ 1, 1.0 if feature % 2 else -1.0
        half = width // 2
        return feature % half, (feature + half) % width, -1.0 if feature < half else 1.0

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        cosine, sine = self.waves(inputs, output, values)
        before, rest = np.split(values[0], [cosine.shape[-1]], axis=-1)
        rotated = before * cosine + self.quarter(before) * sine
        return np.asarray(np.concatenate([rotated, rest], axis=-1) if rest.shape[-1] else rotated)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        name, width = output.axes[-1].name, self._rotated(output)
        feature, position = cell[name], cell[self.along]
        if feature >= width:
            return Ref(inputs[0], cell)
        pair, other, sign = self.partner(feature, width)
        angle = float(self.angles(output.axis(self.along).size, width)[position, pair])
        partner = Ref(inputs[0], cell | {name: other})
        text = self.angle_text(position, pair, width)
        grown = "" if self.amplitude == 1 else f"{in_full(self.amplitude)} · "
        cosine = Constant(self.amplitude * math.cos(angle), f"{grown}cos({text})")
        sine = Constant(self.amplitude * sign * math.sin(angle), f"{'−' if sign < 0 else ''}{grown}sin({text})")
        return Sum((Product((Ref(inputs[0], cell), cosine)), Product((partner, sine))))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        width = output.axes[-1].name if self.width is None else str(self.width)
        divided = "" if self.divisor == 1 else f" / {self.divisor:.4g}"
        rotated = formatter.call("rotate", names[0], f"{self.along} / {self.base:g}^(2i/{width}){divided}")
        told = [f"the first {self.width} features of each head"] if self.width is not None else []
        told += ["features 2i and 2i + 1 together"] if self.adjacent else []
        return rotated + formatter.words(f" ({'; '.join(told)})") if told else rotated


def angle_text(position: float, base: float, pair: int, width: int) -> str:
    """`2 / 10000^(2/8)`: the formula of an angle, since its rounded value would be a different angle at large positions."""
    return in_full(position) if pair == 0 else f"{in_full(position)} / {in_full(base)}^({pair}/{width})"


@dataclass(frozen=True)
class RotateScaled(Rotate):
    """Rotary positions with angles scaled for longer texts: each pair of features has its own divisor."""

    rule: str
    divisors: tuple[float, ...]

    def angles(self, length: int, width: int) -> Array:
        return super().angles(length, width) / np.array(self.divisors)

    def angle_text(self, position: int, pair: int, width: int) -> str:
        text, divisor = angle_text(position, self.base, 2 * pair, width), self.divisors[pair]
        return text if divisor == 1 else f"{text} / {in_full(divisor)}"

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return super().write(inputs, output, names, formatter) + formatter.words(f" (angles scaled: {self.rule})")


@dataclass(frozen=True)
class RotateByLength(Rotate):
    """Rotary positions with angles that depend on the length of the text. They are counted and described, not computed."""

    rule: str

    def angles(self, length: int, width: int) -> Array:
        raise angles_missing(self.rule)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return super().write(inputs, output, names, formatter) + formatter.words(f" (angles scaled: {self.rule})")


def angles_missing(rule: str) -> GlassformerError:
    """The error for numbers of a model whose angles are not implemented."""
    return GlassformerError(
        f"rotary_scaling={rule} is not implemented: only counts, shapes, cost and equations are available. "
        "Set rotary_scaling=none to compute with unscaled angles."
    )


@dataclass(frozen=True)
class RotateByPatch(Rotate):
    """Rotary positions in an image (DINOv3): half of the pairs are rotated by the row of a patch, half by its column.

    Coordinates along a side run from −1 to 1; the angle is `2π · centre / base^(4i / d_k)`, with the centre of the patch.
    Tokens before the patches are not rotated.
    """

    grid: tuple[int, int]  # rows and columns of patches
    before: int  # class tokens and registers

    def angles(self, length: int, width: int) -> Array:
        places = np.indices(self.grid).reshape(2, -1).T  # row and column of each patch
        centres = (2 * places + 1) / np.array(self.grid) - 1
        speeds = 2 * np.pi * self.base ** (-4 * np.arange(width // 4) / width)
        angles = (centres[:, :, None] * speeds).reshape(len(places), width // 2)
        return np.concatenate([np.zeros((self.before, width // 2)), angles])

    def angle_text(self, position: int, pair: int, width: int) -> str:
        if position < self.before:
            return "0"
        side, number = divmod(pair, width // 4)
        place = divmod(position - self.before, self.grid[1])[side]
        centre = f"2 · π · ({2 * place + 1}/{self.grid[side]} − 1)"
        return centre if number == 0 else f"{centre} / {in_full(self.base)}^({4 * number}/{width})"

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        turn = formatter.product("2", formatter.symbol("pi"), f"centre({self.along})")
        angle = f"{turn} / {self.base:g}^(4i/{output.axes[-1].name})"
        return formatter.call("rotate", names[0], angle) + formatter.words(" (rows, then columns; patches alone)")


@dataclass(frozen=True)
class RotateByTable(Rotate):
    """Rotary positions whose sines and cosines come from a table (RoFormer). Inputs: x, and a row of waves for each position.

    The first half of a row are the sines of all pairs, the second half their cosines.
    """

    def waves(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> tuple[Array, Array]:
        sine, cosine = (np.repeat(part, 2, axis=-1) if self.adjacent else np.tile(part, 2) for part in np.split(values[1], 2, -1))
        table = Tensor("wave", (inputs[1].axes[0], output.axes[-1]))
        return aligned(table, cosine, output), aligned(table, sine, output)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        name, width = output.axes[-1].name, output.axes[-1].size
        pair, other, sign = self.partner(cell[name], width)
        position, wave = {self.along: cell[self.along]}, inputs[1].axes[-1].name
        sine, cosine = (Ref(inputs[1], position | {wave: place}) for place in (pair, pair + width // 2))
        turned = Product((Ref(inputs[0], cell | {name: other}), sine))
        return Sum((Product((Ref(inputs[0], cell), cosine)), turned if sign > 0 else minus(turned)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        told = " (features 2i and 2i + 1 together)" if self.adjacent else ""
        return formatter.call("rotate", *names) + formatter.words(told)


def rotary_table(rows: int, width: int) -> Array:
    """The sines of all pairs of features side by side, then their cosines, for models that store them."""
    angles = Rotate("position", 10_000.0).angles(rows, width)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
