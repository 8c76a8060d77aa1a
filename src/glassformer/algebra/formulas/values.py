"""Values of expressions: axes, what each axis counts, the inputs they come from, and their role in attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from glassformer.algebra.formulas.form import sides
from glassformer.algebra.formulas.sizes import Size
from glassformer.errors import GlassformerError
from glassformer.expressions.tree import Call, Node, Product

Kind: TypeAlias = Literal["tokens", "features"]
Role: TypeAlias = Literal["queries", "keys", "values"]
Roles: TypeAlias = tuple[Role | None, Role | None]
Source: TypeAlias = Literal["number", "weight", "data"]

OTHER: dict[Kind, Kind] = {"tokens": "features", "features": "tokens"}
ROLE_WORDS: dict[str, Role] = {
    **dict.fromkeys(("q", "query", "queries"), "queries"),
    **dict.fromkeys(("k", "key", "keys"), "keys"),
    **dict.fromkeys(("v", "value", "values"), "values"),
}
WEIGHT_BASES = frozenset({"W", "w", "Theta", "theta"})
BIAS_BASES = frozenset({"b", "bias", "beta", "gamma"})
DATA_BASES = frozenset("XYZHQKVxyzqkv")


@dataclass(frozen=True)
class Axis:
    """An axis: its size, and the label under which the `AxisBook` stores its kind."""

    size: Size
    label: int


class AxisBook:
    """A union-find over axis labels, with the kind of each axis if it is known."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._kinds: list[Kind | None] = []

    def new(self, size: Size, kind: Kind | None = None) -> Axis:
        self._parents.append(len(self._parents))
        self._kinds.append(kind)
        return Axis(size, len(self._parents) - 1)

    def root(self, axis: Axis) -> int:
        label = axis.label
        while self._parents[label] != label:
            self._parents[label] = self._parents[self._parents[label]]
            label = self._parents[label]
        return label

    def kind(self, axis: Axis) -> Kind | None:
        return self._kinds[self.root(axis)]

    def kinds(self, axes: tuple[Axis, ...]) -> tuple[Kind | None, ...]:
        return tuple(self.kind(axis) for axis in axes)

    def mark(self, axis: Axis, kind: Kind) -> None:
        """Set the kind of an axis if it is not known yet."""
        self._kinds[self.root(axis)] = self.kind(axis) or kind

    def merge(self, left: Axis, right: Axis) -> bool:
        """Merge two axes; return False, without a change, if one is tokens and the other features."""
        a, b = self.root(left), self.root(right)
        known = {self._kinds[a], self._kinds[b]} - {None}
        if len(known) == 2:
            return False
        self._parents[b] = a
        self._kinds[a] = next(iter(known), None)
        return True


@dataclass(frozen=True)
class Scalar:
    """A number: `base` to the power of `exponent`; `base` is None if it is unknown."""

    base: Size | None = None
    exponent: Fraction = Fraction(1)


@dataclass(frozen=True)
class Scale:
    """A number that a matrix was divided by, and its node in the formula."""

    by: Scalar
    node: Node


@dataclass(frozen=True)
class Pair:
    """A product of two data matrices: attention scores, if a softmax follows."""

    node: Product
    left: Value
    right: Value
    roles: Roles  # roles of the rows and the columns
    clash: bool  # whether tokens were multiplied with features
    flipped: bool = False  # whether it was transposed afterwards
    several: bool = False  # whether it is a sum of several such products

    def transposed(self) -> Pair:
        return replace(self, roles=self.roles[::-1], flipped=not self.flipped)

    def of(self, role: Role) -> tuple[Node, Value] | None:
        """Return the factor with the queries or the keys."""
        roles = self.roles[::-1] if self.flipped else self.roles
        found = zip(sides(self.node), (self.left, self.right), roles, strict=True)
        return next(((node, value) for node, value, one in found if one == role), None)


@dataclass(frozen=True)
class Weights:
    """Scores after a softmax; `over` is the axis along which the weights sum to 1, if the formula specifies it."""

    node: Call
    pair: Pair
    over: int | None
    axes: tuple[Axis, ...]
    scales: tuple[Scale, ...]

    def transposed(self) -> Weights:
        over = None if self.over is None else 1 - self.over
        return replace(self, pair=self.pair.transposed(), over=over, axes=self.axes[::-1])


@dataclass(frozen=True)
class Value:
    """The shape and history of an expression. A vector given only by its length is `loose`: a row or a column as needed."""

    axes: tuple[Axis, ...]
    source: Source
    scalar: Scalar | None = None
    loose: bool = False
    role: Role | None = None
    origins: frozenset[str] = frozenset()  # the given data that it was computed from
    scales: tuple[Scale, ...] = ()
    pair: Pair | None = None
    weights: Weights | None = None
    attended: int | None = None  # for an attention output: the axis of the queries

    @property
    def sizes(self) -> tuple[Size, ...]:
        return tuple(axis.size for axis in self.axes)

    def transposed(self) -> Value:
        return replace(
            self,
            axes=self.axes[::-1],
            loose=False,
            pair=self.pair and self.pair.transposed(),
            weights=self.weights and self.weights.transposed(),
            attended=None if self.attended is None else 1 - self.attended,
        )

    def tokens_axis(self, book: AxisBook) -> int | None:
        """Return the axis that counts tokens, if that is certain."""
        kinds = book.kinds(self.axes)
        if len(kinds) != 2 or kinds[0] == kinds[1]:
            return None
        return kinds.index("tokens") if "tokens" in kinds else 1 - kinds.index("features")


def number(base: Size | None = None, exponent: Fraction = Fraction(1)) -> Value:
    return Value((), "number", Scalar(base, exponent))


def raised(value: Value, exponent: Fraction) -> Value:
    if value.axes or value.scalar is None:
        return replace(value, pair=None, weights=None)
    return number(value.scalar.base, value.scalar.exponent * exponent)


def numbers(left: Value, right: Value, *, divide: bool) -> Value:
    """Multiply or divide two numbers, if the result can be represented."""
    a, b = left.scalar, right.scalar
    if a is None or b is None or a.base is None or b.base is None:
        return number()
    if divide and not b.base.terms:
        raise GlassformerError("the formula divides by zero.")
    if a.base == Size.of(1) and divide:
        return number(b.base, -b.exponent)
    if a.exponent == b.exponent and (not divide or len(b.base.terms) == 1):
        return number(a.base / b.base if divide else a.base * b.base, a.exponent)
    return number()


def role_of(name: str) -> Role | None:
    """Return the role that a name indicates: Q, `K_1`, `W_Q`, `W_{q,1}`, `Wq`."""
    base, *indexes = name.lower().split("_")
    if base.rstrip("'") in ROLE_WORDS:
        return ROLE_WORDS[base.rstrip("'")]
    if not is_parameter(name):
        return None
    words = {word.strip("0123456789") for word in (*indexes, base[1:] if base[0] in "wb" else "")}
    found = {ROLE_WORDS[word] for word in words if word in ROLE_WORDS}
    return found.pop() if len(found) == 1 else None


def is_output_weight(name: str) -> bool:
    base, *indexes = name.split("_")
    return is_parameter(name) and any(word in ("O", "o", "0", "out", "output") for word in (*indexes, base[1:]))


def is_bias(name: str) -> bool:
    base = name.partition("_")[0]
    return base in BIAS_BASES or (base[0] == "b" and base[1:].lower() in ROLE_WORDS)


def is_parameter(name: str) -> bool:
    """Return whether a name is a weight or a bias, by the usual letters."""
    base = name.partition("_")[0]
    return base in WEIGHT_BASES or is_bias(name) or (base[0] in "Ww" and base[1:].lower() in {*ROLE_WORDS, "o"})
