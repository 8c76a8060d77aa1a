"""Operations on attention scores: relative bias, masks, softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Ratio, Ref, Sum, Values, minus
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Copy, Elementwise, aligned, position_of
from glassformer.program.operations.lookups import SIDES

NOTHING_SEEN = "0 (all keys are masked: by convention the weights of such a row are 0)"


class _BiasByBucket(Copy):
    """A learned number per head for each (query, key) pair, selected by a table of buckets."""

    query: Axis
    key: Axis

    @property
    def rule_text(self) -> str:
        """Describes how the row is chosen."""
        raise NotImplementedError

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[0].axes[1], self.query, self.key)

    def buckets(self, rows: int) -> Array:
        """The row of the table for each (query, key) pair."""
        raise NotImplementedError

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.moveaxis(values[0][self.buckets(inputs[0].axes[0].size)], -1, 0)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        bucket = self.buckets(inputs[0].axes[0].size)[cell[self.query.name], cell[self.key.name]]
        return Ref(inputs[0], cell | {inputs[0].axes[0].name: int(bucket)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[0], self.rule_text)


@dataclass(frozen=True)
class RelativeBias(_BiasByBucket):
    """Bias by distance: small distances each have a bucket, large ones share logarithmically (T5, MPNet)."""

    distance: int
    query: Axis
    key: Axis
    backward: bool = False  # all buckets are for earlier keys, as in causal attention

    @property
    def rule_text(self) -> str:
        return f"bucket({self.key.name} − {self.query.name})"

    def buckets(self, rows: int) -> Array:
        relative = np.arange(self.key.size)[None, :] - np.arange(self.query.size)[:, None]
        if self.backward:
            relative = np.minimum(relative, 0)
        return buckets_of(relative, rows, self.distance, backward=self.backward)


def buckets_of(relative: Array, rows: int, distance: int, *, backward: bool = False) -> Array:
    """The bucket of each distance: small ones have one each, large ones share."""
    half = rows if backward else rows // 2  # half of the buckets are for earlier keys, half for later ones
    exact = max(half // 2, 1)
    away = np.abs(relative)
    if half <= exact:  # too few buckets to share any
        return np.where(relative > 0, half, 0) + np.minimum(away, half - 1)
    with np.errstate(divide="ignore"):
        # float32 on purpose: the published models round here, and rounding decides the bucket.
        steps = np.log(away.astype(np.float32) / np.float32(exact)) / np.float32(math.log(distance / exact))
    far = exact + np.minimum(steps * np.float32(half - exact), half).clip(0).astype(int)
    return np.where(relative > 0, half, 0) + np.where(away < exact, away, np.minimum(far, half - 1))


@dataclass(frozen=True)
class BoxBias(Copy):
    """Bias by the distance between one side of two tokens' boxes on a page. Inputs: table, boxes."""

    side: int
    distance: int
    query: Axis
    key: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (inputs[1].axes[0], inputs[0].axes[1], self.query, self.key)

    def buckets(self, inputs: Sequence[Tensor], boxes: Array) -> Array:
        """The row of the table for each text and pair of tokens."""
        places = boxes[..., self.side].astype(int)
        return buckets_of(places[:, None, :] - places[:, :, None], inputs[0].axes[0].size, self.distance)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.moveaxis(values[0][self.buckets(inputs, values[1])], -1, 1)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        row = self.buckets(inputs, values[inputs[1].name])[cell["batch"], cell[self.query.name], cell[self.key.name]]
        return Ref(inputs[0], cell | {inputs[0].axes[0].name: int(row)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        side = SIDES[self.side]
        return formatter.indexed(names[0], f"bucket({side} of {self.key.name} − {side} of {self.query.name})")


@dataclass(frozen=True)
class LinearBias(Copy):
    """ALiBi for encoders (Press et al. 2022): `−slope · |t − s|`, with a slope for each head. It has no input.

    With 2^n heads, head h has the slope 2^(−8(h+1)/2^n); further heads take every other slope for twice as many heads.
    """

    head: Axis
    query: Axis
    key: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (self.head, self.query, self.key)

    @property
    def exponents(self) -> list[float]:
        """For each head, e in the slope 2^−e."""
        whole = 1 << (self.head.size.bit_length() - 1)
        between = [8 * (h + 0.5) / whole for h in range(whole)]
        return [8 * (h + 1) / whole for h in range(whole)] + between[: self.head.size - whole]

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        away = np.abs(np.arange(self.query.size)[:, None] - np.arange(self.key.size))
        return -(2.0 ** -np.array(self.exponents))[:, None, None] * away

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        exponent = self.exponents[cell[self.head.name]]
        near, far = sorted((cell[self.query.name], cell[self.key.name]))
        return minus(Ratio(Constant(float(far - near), f"({far} − {near})"), Constant(2.0**exponent, f"2^{exponent:g}")))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        away = formatter.minus(self.query.name, self.key.name)
        return formatter.times("-slope", f"|{away}|") + formatter.words(" (a slope for each head)")


@dataclass(frozen=True)
class PickByDistance(Copy):
    """Select, from the products with every row of a relative table, the one for the distance of each (query, key) pair (DeBERTa).

    Rows are in the order of t − s, with 0 in the middle: small distances have one row each, large ones share logarithmically.
    """

    distance: int
    query: Axis
    key: Axis

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*inputs[0].axes[:-2], self.query, self.key)

    def buckets(self, rows: int) -> Array:
        """The row of the table for each (query, key) pair."""
        ahead = np.arange(self.query.size)[:, None] - np.arange(self.key.size)[None, :]
        half = rows // 2
        return np.clip(np.sign(ahead) * self.steps(np.abs(ahead), half) + half, 0, rows - 1)

    def steps(self, away: Array, half: int) -> Array:
        """The offset of a row from the middle of the table; half of the rows on each side are for single distances."""
        near = half // 2
        if self.distance == half:  # every distance has its own row
            return away
        # float32 on purpose: the published models round here, and rounding decides the bucket.
        share = np.log(np.maximum(away, near).astype(np.float32) / np.float32(near))
        share = share / np.log(np.float32((self.distance - 1) / near)) * np.float32(near - 1)
        return np.where(away <= near, away, np.ceil(share).astype(int) + near)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        side, bucket = inputs[0].axes[-2:]
        rows = self.buckets(bucket.size)
        if side.name == self.key.name:  # products of keys: one row for each key, not for each query
            return np.swapaxes(_picked(values[0], rows.T), -1, -2)
        return _picked(values[0], rows)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        bucket = inputs[0].axes[-1]
        row = self.buckets(bucket.size)[cell[self.query.name], cell[self.key.name]]
        return Ref(inputs[0], cell | {bucket.name: int(row)})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        side = inputs[0].axes[-2].name
        return formatter.indexed(names[0], f"{side}, bucket({self.query.name} − {self.key.name})")


def _picked(values: Array, rows: Array) -> Array:
    """Select from the last axis the entry numbered by `rows`, for each entry of the previous axis."""
    return np.take_along_axis(values, np.broadcast_to(rows, (*values.shape[:-2], *rows.shape)), axis=-1)


@dataclass(frozen=True)
class PatchBias(_BiasByBucket):
    """Bias by the offset between two patches, with three further rows for the class token (BEiT)."""

    grid: tuple[int, int]
    query: Axis
    key: Axis

    @property
    def rule_text(self) -> str:
        return f"offset({self.key.name} − {self.query.name})"

    def buckets(self, rows: int) -> Array:
        down, across = (axis.ravel() for axis in np.indices(self.grid))
        offsets = (down[:, None] - down[None, :] + self.grid[0] - 1) * (2 * self.grid[1] - 1)
        offsets = offsets + across[:, None] - across[None, :] + self.grid[1] - 1
        table = np.empty((len(down) + 1, len(down) + 1), dtype=int)
        table[1:, 1:] = offsets
        table[0, :], table[:, 0], table[0, 0] = rows - 3, rows - 2, rows - 1
        return table


@dataclass(frozen=True)
class Mask(Copy):
    """−∞ where a query may not attend to a key: padding (a second input, True = attend), a causal rule, a local window."""

    causal: bool = False
    window: int | None = None
    first: bool = False  # whether the first position is global: no window applies to it

    def rule(self, query: int, key: int) -> bool:
        """Whether position `query` may attend to position `key`, ignoring padding."""
        if self.first and 0 in (query, key):
            return True
        return not (self.causal and key > query) and (self.window is None or abs(query - key) <= self.window // 2)

    def visible(self, queries: int, keys: int) -> Array:
        """`rule` for all pairs at once."""
        away = np.arange(keys)[None, :] - np.arange(queries)[:, None]
        seen = np.ones((queries, keys), dtype=bool)
        if self.causal:
            seen &= away <= 0
        if self.window is not None:
            seen &= np.abs(away) <= self.window // 2
        if self.first:
            seen[0] = seen[:, 0] = True
        return seen

    def pairs(self, queries: int, keys: int) -> int:
        """The number of (query, key) pairs that the rule allows: those that a kernel that skips masked pairs computes."""
        if self.first:
            return int(self.visible(queries, keys).sum())
        reach = queries + keys if self.window is None else self.window // 2
        ends = ((max(0, q - reach), min(keys - 1, q + reach, q if self.causal else keys)) for q in range(queries))
        return sum(max(0, last - first + 1) for first, last in ends)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        t, s = output.axes[-2:]
        seen = self.visible(t.size, s.size)
        if len(inputs) == 2:
            seen = seen & aligned(inputs[1], values[1], output)
        return np.where(seen, values[0], -np.inf)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        t, s = output.axes[-2:]
        padded = len(inputs) == 2 and not values[inputs[1].name][inputs[1].at(cell)]
        if padded or not self.rule(cell[t.name], cell[s.name]):
            return Constant(-math.inf, "−∞ (padding)" if padded else "−∞ (masked)")
        return Ref(inputs[0], cell)

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        t, s = (axis.name for axis in output.axes[-2:])
        rules = [f"{s} > {t}"] if self.causal else []
        rules += [f"|{t} − {s}| > {self.window // 2}"] if self.window is not None else []
        rules[-1:] = [f"{rules[-1]} and neither is the first"] if self.first else rules[-1:]
        rules += ["s is padding"] if len(inputs) == 2 else []
        return formatter.call("mask", names[0]) + formatter.words(f" (−∞ where {' or '.join(rules)})")


@dataclass(frozen=True)
class MaskAroundQuestions(Mask):
    """A local window with global tokens of a question. It is counted and described, but not computed."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        raise GlassformerError(
            "global_attention=question is not implemented: only counts, shapes, cost and equations are available. "
            "Set global_attention=stored to compute without global tokens."
        )

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return super().write(inputs, output, names, formatter) + formatter.words(" (not at tokens of the question)")


@dataclass(frozen=True)
class LeaveOutQuestion(Copy):
    """Logits of answers, without those of the question's tokens (BigBird). It is counted and described, but not computed."""

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return inputs[0].axes

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        raise GlassformerError(
            "head_block=true leaves out the tokens of a question, which is not implemented: only counts, shapes, cost and "
            "equations are available. Leave it out, or read the model's class without a head."
        )

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        raise NotImplementedError  # evaluate raises, so there are no cells to explain

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return names[0] + formatter.words(" (not at tokens of the question)")


@dataclass(frozen=True)
class Softmax(Elementwise):
    """Non-negative weights that sum to one along `over`; a row that is masked entirely gives zeros."""

    over: str

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 5 * output.size  # maximum, subtract, exponential, sum, divide

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return (output,)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        axis = position_of(output, self.over)
        highest = values[0].max(axis, keepdims=True)
        powers = np.exp(values[0] - np.where(np.isfinite(highest), highest, 0))
        total = powers.sum(axis, keepdims=True)
        return np.asarray(powers / np.where(total == 0, 1, total))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        cells = [cell | {self.over: i} for i in range(output.axis(self.over).size)]
        refs = [Ref(inputs[0], at) for at in cells]
        if all(ref.evaluate(values) == -math.inf for ref in refs):
            return Constant(0.0, NOTHING_SEEN)
        largest = max(refs, key=lambda ref: ref.evaluate(values))
        highest = largest.evaluate(values)
        # The largest score is subtracted, as in every implementation, to avoid overflow: the quotient is the same.
        shift = () if abs(highest) <= 30 or not math.isfinite(highest) else (minus(largest),)
        powers = [Call("exp", Sum((ref, *shift)) if shift else ref) for ref in refs]
        return Ratio(powers[cell[self.over]], Sum(tuple(powers)))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        where = " along each row," if formatter.convention == "rows" else " down each column,"
        return formatter.call("softmax", names[0]) + formatter.words(where) + formatter.over(self.over)
