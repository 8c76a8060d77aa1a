"""Operations on the input: table look-ups, position tables, patches of an image, neighbouring frames of audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ref, Values, in_full
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Copy, Elementwise, aligned, position_of

KEPT_IN_TRAINING = 0.88  # 15% of the tokens were selected, and 80% of those masked (Lin et al. 2022)


SIDES = ("left", "upper", "right", "lower")  # of a box on a page, in the order of the input `boxes`


@dataclass(frozen=True)
class Lookup(Copy):
    """A row of a table for each id. Inputs: ids, table."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes, inputs[1].axes[1])

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(values[1][values[0]])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        row = int(values[inputs[0].name][inputs[0].at(cell)])
        return Ref(inputs[1], cell | {inputs[1].axes[0].name: row})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[1], names[0])


@dataclass(frozen=True)
class Rescale(Elementwise):
    """Token dropout (ESM-2): zeros for mask tokens; the other tokens are scaled up according to the number of masked ones.

    With m of n tokens masked, the factor is `0.88 · n / (n − m)`, since 12% were masked in training.
    Inputs: vectors, ids and, with padding, which tokens are real.
    """

    masked: int  # the id of the mask token

    def counts(self, values: Sequence[Array]) -> tuple[Array, Array]:
        """The number of tokens of each text, and of masked ones among them."""
        real = values[2].astype(bool) if len(values) == 3 else np.ones(values[1].shape, bool)
        return real.sum(1), (real & (values[1] == self.masked)).sum(1)

    def factor(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        """The factor for each vector."""
        whole, masked = self.counts(values)
        factor = np.where(values[1] == self.masked, 0.0, (KEPT_IN_TRAINING * whole / np.maximum(whole - masked, 1))[:, None])
        return aligned(inputs[1], factor, output)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(values[0] * self.factor(inputs, output, values))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        given = [values[tensor.name] for tensor in inputs]
        if given[1][inputs[1].at(cell)] == self.masked:
            return Constant(0.0, "0")
        whole, masked = (int(count[cell["batch"]]) for count in self.counts(given))
        factor = KEPT_IN_TRAINING * whole / max(whole - masked, 1)
        return Product((Constant(factor, f"{KEPT_IN_TRAINING} · {whole}/{max(whole - masked, 1)}"), Ref(inputs[0], cell)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        factor = formatter.ratio(formatter.product(formatter.number(KEPT_IN_TRAINING), "n"), formatter.minus("n", "m"))
        told = f" (n tokens, m of them masked; 0 where the token is number {self.masked})"
        return formatter.times(factor, names[0]) + formatter.words(told)


@dataclass(frozen=True)
class Rows(Copy):
    """The rows of a table from `offset` on, one for each position."""

    along: Axis
    offset: int = 0

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (self.along, inputs[0].axes[1])

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0][self.offset : self.offset + self.along.size]

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell | {inputs[0].axes[0].name: cell[self.along.name] + self.offset})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[0], f"{self.along.name} + {self.offset}" if self.offset else self.along.name)


@dataclass(frozen=True)
class Sinusoid(Copy):
    """The fixed table of the 2017 paper: `sin(t / 10000^(2i/d))` in even features, the cosine in odd ones."""

    along: Axis
    width: Axis
    base: float = 10000.0

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (self.along, self.width)

    def angle(self, position: int, feature: int) -> float:
        return float(position / self.base ** ((feature - feature % 2) / self.width.size))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        features = np.arange(self.width.size)
        angles = np.arange(self.along.size)[:, None] / self.base ** ((features - features % 2) / self.width.size)
        return np.where(features % 2 == 0, np.sin(angles), np.cos(angles))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        position, feature = cell[self.along.name], cell[self.width.name]
        pair = feature - feature % 2
        text = f"{position} / {in_full(self.base)}^({pair}/{self.width.size})"
        return Call("cos" if feature % 2 else "sin", Constant(self.angle(position, feature), text))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        angle = f"{self.along.name} / {self.base:g}^(2i/{self.width.name})"
        return f"{formatter.call('sin', angle)}, {formatter.call('cos', angle)}" + formatter.words(" in turn")


@dataclass(frozen=True)
class HalfSinusoid(Copy):
    """Waves as tensor2tensor and fairseq compute them: all sines first, then all cosines (M2M100).

    With h = d/2 features in each half, feature i has the angle `(t + offset) / 10000^(i/(h − 1))`.
    """

    along: Axis
    width: Axis
    offset: int = 0
    base: float = 10000.0

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (self.along, self.width)

    @property
    def half(self) -> int:
        return self.width.size // 2

    @property
    def slowest(self) -> int:
        """The index of the feature whose angle is divided by the base; a single wave has the position as its angle."""
        return max(self.half - 1, 1)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        speeds = self.base ** (-np.arange(self.half) / self.slowest)
        angles = (np.arange(self.along.size) + self.offset)[:, None] * speeds
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        position, feature = cell[self.along.name] + self.offset, cell[self.width.name]
        wave, number = divmod(feature, self.half)
        text = f"{position} / {in_full(self.base)}^({number}/{self.slowest})"
        angle = float(position * self.base ** (-number / self.slowest))
        return Call("cos" if wave else "sin", Constant(angle, text))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        place = f"({self.along.name} + {self.offset})" if self.offset else self.along.name
        angle = f"{place} / {self.base:g}^(i/{self.slowest})"
        return f"{formatter.call('sin', angle)}, {formatter.call('cos', angle)}" + formatter.words(" side by side")


@dataclass(frozen=True)
class Patch(Copy):
    """An image or a video cut into patches, each a row of pixels (channel, then frame of a video, then row, then column).

    `size` is the extent of a patch in frames (of a video), rows and columns; `steps` is the stride. Patches overlap if the
    stride is smaller than the size.
    """

    size: tuple[int, ...]
    along: Axis
    pixel: Axis
    steps: tuple[int, ...]

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axes[0], self.along, self.pixel)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        sides = range(2, 2 + len(self.size))
        value = np.moveaxis(values[0], position_of(inputs[0], "channel"), 1)
        every = np.lib.stride_tricks.sliding_window_view(value, self.size, axis=tuple(sides))
        cut = every[:, :, *(slice(None, None, step) for step in self.steps)]  # batch, channel, patches, inside of a patch
        inside = range(sides.stop, cut.ndim)
        return np.array(cut.transpose(0, *sides, 1, *inside)).reshape(len(cut), self.along.size, self.pixel.size)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        names = ("frame", "row", "column")[-len(self.size) :]
        wholes = [inputs[0].axis(name).size for name in names]
        grid = [(whole - size) // step + 1 for whole, size, step in zip(wholes, self.size, self.steps, strict=True)]
        channel, *inside = np.unravel_index(cell[self.pixel.name], (inputs[0].axis("channel").size, *self.size))
        places = zip(names, np.unravel_index(cell[self.along.name], grid), self.steps, inside, strict=True)
        where = {name: int(patch) * step + int(own) for name, patch, step, own in places}
        return Ref(inputs[0], cell | where | {"channel": int(channel)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        size, step = (" × ".join(map(str, numbers[-2:])) for numbers in (self.size, self.steps))
        frames = f"{self.size[0]} frames of " if len(self.size) > 2 else ""
        steps = f", in steps of {step}" if self.steps != self.size else ""
        return formatter.call("patches", names[0]) + formatter.words(f" of {frames}{size} pixels{steps}")


@dataclass(frozen=True)
class LeaveOut(Copy):
    """Random masking of patches (ViT-MAE). It is counted and described, but not computed."""

    along: Axis
    before: int  # class tokens, which are always kept
    ratio: float

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        batch, _, width = inputs[0].axes
        return (batch, self.along, width)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        raise GlassformerError(
            f"mask_ratio={self.ratio:g} masks patches at random, which is not implemented: only counts, shapes, cost and "
            "equations are available. Set mask_ratio=0 to compute with all patches."
        )

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        raise NotImplementedError  # evaluate raises, so there are no cells to explain

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        kept = self.along.size - self.before
        return formatter.call("kept", names[0]) + formatter.words(f" ({kept} random patches, and the tokens before them)")


@dataclass(frozen=True)
class PutBack(Copy):
    """All tokens again, a learned one in the places of those that were left out at random. Inputs: the others, that one."""

    along: Axis
    ratio: float

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        batch, _, width = inputs[0].axes
        return (batch, self.along, width)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return values[0]  # none was left out: `LeaveOut` refuses to be computed

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return Ref(inputs[0], cell)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        if not self.ratio:
            return names[0]
        return formatter.call("restore", *names) + formatter.words(" (in the places that were left out)")


@dataclass(frozen=True)
class BoxLookup(Copy):
    """A row of a table for one side of each token's box on a page, or for one side minus another. Inputs: boxes, table."""

    side: int
    minus: int | None = None

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes[:-1], inputs[1].axes[1])

    def rows(self, boxes: Array) -> Array:
        """The row for each token."""
        return np.asarray(boxes[..., self.side] - (0 if self.minus is None else boxes[..., self.minus]))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(values[1][self.rows(values[0])])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        row = int(self.rows(values[inputs[0].name])[cell["batch"], cell["t"]])
        return Ref(inputs[1], cell | {inputs[1].axes[0].name: row})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        index = SIDES[self.side] if self.minus is None else formatter.minus(SIDES[self.side], SIDES[self.minus])
        return formatter.indexed(names[1], index)


@dataclass(frozen=True)
class Neighbours(Copy):
    """The receptive field of a convolution: each frame concatenated with its neighbours, with zeros beyond the ends.

    Entry i along `along` begins with frame `stride · i − reach` along `of`. A linear map of the result over features and
    `kernel` is the convolution. With `descending`, the last neighbour comes first.
    """

    of: str
    along: Axis
    kernel: Axis
    stride: int = 1
    reach: int = 0
    descending: bool = False

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        batch, *features = [axis for axis in inputs[0].axes if axis.name != self.of]
        return (batch, self.along, *features, self.kernel)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        frames = np.moveaxis(values[0], position_of(inputs[0], self.of), 1)
        last = self.stride * (self.along.size - 1) + 1  # frames from the first of an entry to the first of the last one
        beyond = max(0, last - 1 + self.kernel.size - self.reach - frames.shape[1])
        padded = np.pad(frames, ((0, 0), (self.reach, beyond), *((0, 0),) * (frames.ndim - 2)))
        shifts = range(self.kernel.size)[:: -1 if self.descending else 1]
        return np.stack([padded[:, shift : shift + last : self.stride] for shift in shifts], axis=-1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        place = cell[self.kernel.name]
        place = self.kernel.size - 1 - place if self.descending else place
        frame = cell[self.along.name] * self.stride + place - self.reach
        if not 0 <= frame < inputs[0].axis(self.of).size:
            return Constant(0.0, "0")
        return Ref(inputs[0], cell | {self.of: frame})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        steps = f", in steps of {self.stride}" if self.stride > 1 else ""
        ends = ", zeros beyond the ends" if self.reach else ""
        order = ", the last first" if self.descending else ""
        told = f" ({self.kernel.size} {'tokens' if self.of == 't' else 'frames'} side by side{order}{steps}{ends})"
        return formatter.call("neighbours", names[0]) + formatter.words(told)


def sinusoidal_grid(grid: tuple[int, int], before: int, width: int) -> Array:
    """The position table of ViT-MAE: sines and cosines of column and row, a quarter of the features each; 0 for class tokens."""
    rows, columns = np.indices(grid).reshape(2, -1)
    speeds = 10000.0 ** (-np.arange(width // 4) / (width // 4))
    angles = [places[:, None] * speeds for places in (columns, rows)]
    table = np.concatenate([wave(angle) for angle in angles for wave in (np.sin, np.cos)], axis=1)
    return np.concatenate([np.zeros((before, width)), table])


def sinusoidal_table(rows: int, width: int) -> Array:
    """The sinusoidal table as numbers, for models that store it."""
    return Sinusoid(Axis("position", rows), Axis("d_model", width)).evaluate((), Tensor("", ()), ())
