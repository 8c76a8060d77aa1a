"""What is known of an expression besides its shape: where it came from, and its part in attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from glassformer.answers.shapes.axes import Axis, AxisBook, Role
from glassformer.answers.shapes.nodes import Call, Name, Node, Product
from glassformer.answers.shapes.sizes import Size

Source: TypeAlias = Literal["number", "weight", "data"]

ROLE_WORDS: dict[str, Role] = {
    **dict.fromkeys(("q", "query", "queries"), "queries"),
    **dict.fromkeys(("k", "key", "keys"), "keys"),
    **dict.fromkeys(("v", "value", "values"), "values"),
}
WEIGHT_BASES = frozenset({"W", "w", "Theta", "theta"})
BIAS_BASES = frozenset({"b", "bias", "beta", "gamma"})
DATA_BASES = frozenset({"X", "Y", "Z", "H", "Q", "K", "V", "x", "y", "z", "q", "k", "v"})


@dataclass(frozen=True)
class Scalar:
    """A number as far as it is known: `base` to the power of `exponent`; base None where it is anybody's guess."""

    base: Size | None = None
    exponent: Fraction = Fraction(1)


@dataclass(frozen=True)
class Scale:
    """A number that a matrix was divided by, and the place in the formula where its base is written."""

    by: Scalar
    node: Node


@dataclass(frozen=True)
class Pair:
    """Two matrices of tokens multiplied: the scores of an attention, if a softmax comes next."""

    node: Product
    left: Value
    right: Value
    roles: tuple[Role | None, Role | None]  # who stands along the rows, who along the columns
    clash: bool  # tokens were summed against features
    flipped: bool = False  # transposed since
    several: bool = False  # a sum of several such products

    def transposed(self) -> Pair:
        return replace(self, roles=self.roles[::-1], flipped=not self.flipped)

    def of(self, role: Role) -> tuple[Node, Value] | None:
        """The factor that holds the queries or the keys."""
        roles = self.roles[::-1] if self.flipped else self.roles
        sides = ((self.node.left, self.left), (self.node.right, self.right))
        return next((side for side, found in zip(sides, roles, strict=True) if found == role), None)


@dataclass(frozen=True)
class Weights:
    """Scores after a softmax; `over` is the axis along which the weights sum to 1, where the formula says so."""

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
    """An expression's shape and past. A vector that was given by its length alone is `loose`: it lies as it is needed."""

    axes: tuple[Axis, ...]
    source: Source
    scalar: Scalar | None = None
    loose: bool = False
    role: Role | None = None
    origins: frozenset[str] = frozenset()  # the given data that it was made of
    scales: tuple[Scale, ...] = ()
    pair: Pair | None = None
    weights: Weights | None = None
    attended: int | None = None  # an attention's output: the axis of its queries

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
        """Which of the two axes counts tokens, where that is certain."""
        kinds = book.kinds(self.axes)
        if len(kinds) != 2 or kinds[0] == kinds[1]:
            return None
        return kinds.index("tokens") if "tokens" in kinds else 1 - kinds.index("features")


def number(base: Size | None = None, exponent: Fraction = Fraction(1)) -> Value:
    return Value((), "number", Scalar(base, exponent))


def role_of(name: Name) -> Role | None:
    """Q, `K_1`, `W_Q`, `W_{q,1}`, `Wq`: whose letter a name bears."""
    if name.base.rstrip("'").lower() in ROLE_WORDS:
        return ROLE_WORDS[name.base.rstrip("'").lower()]
    if not is_parameter(name):
        return None
    words = [*name.indexes, name.base[1:] if name.base[0] in "Wwb" else ""]
    found = {ROLE_WORDS[word.lower().strip("0123456789")] for word in words if word.lower().strip("0123456789") in ROLE_WORDS}
    return found.pop() if len(found) == 1 else None


def is_output_weight(name: Name) -> bool:
    return is_parameter(name) and any(word in ("O", "o", "0", "out", "output") for word in (*name.indexes, name.base[1:]))


def is_bias(name: Name) -> bool:
    return name.base in BIAS_BASES or (name.base[0] == "b" and name.base[1:].lower() in ROLE_WORDS)


def is_parameter(name: Name) -> bool:
    """Weights and biases, told by the letters that everybody uses for them."""
    return name.base in WEIGHT_BASES or is_bias(name) or (name.base[0] in "Ww" and name.base[1:].lower() in {*ROLE_WORDS, "o"})
