"""The trace of a formula's evaluation: rows, products, concatenations, claims, and the mismatch that stopped it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from glassformer.algebra.formulas.form import Places, sides
from glassformer.algebra.formulas.formula import Statement
from glassformer.algebra.formulas.sizes import Size
from glassformer.algebra.formulas.values import Axis, AxisBook, Roles, Value, Weights
from glassformer.expressions.tree import Node, Product, Sum

RowKind: TypeAlias = Literal["given", "product", "step", "result", "failed"]
Side: TypeAlias = Literal["left", "right"]
PLACES = ("rows", "columns")


@dataclass(frozen=True)
class Row:
    """A sub-expression with its text, operands and axes."""

    text: str
    latex: str
    kind: RowKind
    axes: tuple[Axis, ...]
    operands: tuple[tuple[Size, ...], ...] = ()
    roles: Roles = (None, None)  # roles of rows and columns of scores and attention weights


@dataclass(frozen=True)
class Projection:
    """Data multiplied by a weight; `clash` if the product sums over the tokens instead of the features."""

    node: Product
    data: Value
    weight: Value
    side: Side  # the side of the weight
    clash: bool

    @property
    def weight_node(self) -> Node:
        return sides(self.node)[self.side == "right"]

    @property
    def data_node(self) -> Node:
        return sides(self.node)[self.side == "left"]


@dataclass(frozen=True)
class Attending:
    """Attention weights multiplied by values."""

    node: Product
    weights: Weights
    values: Value
    side: Side  # the side of the values
    clash: bool = False
    from_queries: bool = False  # whether the values come from the queries' tokens while the keys come from others

    @property
    def values_node(self) -> Node:
        return sides(self.node)[self.side == "right"]


@dataclass(frozen=True)
class Joining:
    """A concatenation of matrices."""

    node: Node
    parts: tuple[Value, ...]
    axis: int
    chosen: bool  # whether the formula specifies the axis


@dataclass(frozen=True)
class Adding:
    """A sum of matrices in which a token axis meets a feature axis."""

    node: Sum
    left: Value
    right: Value


@dataclass(frozen=True)
class Claim:
    """A stated shape that differs from the one that the formula gives."""

    statement: Statement
    said: tuple[Size, ...]
    value: Value


Event: TypeAlias = Projection | Attending | Joining | Adding | Claim


def shape_text(sizes: tuple[Size, ...]) -> str:
    """Return a shape as text: `768 × 6`, `(d_k + d_v) × t`."""
    return " × ".join(str(size) if len(size.terms) == 1 else f"({size})" for size in sizes)


def counted(size: Size, word: str) -> str:
    """Return a count with its noun: `6 columns`, `1 row`."""
    return f"{size} {word}" if size.number == 1 else f"{size} {word}s"


class MismatchError(Exception):
    """A product, sum or concatenation whose shapes do not fit."""

    def __init__(self, node: Node, values: tuple[Value, ...], why: str) -> None:
        super().__init__(why)
        self.node, self.values, self.why = node, values, why


@dataclass
class Trace:
    """Everything recorded while a formula is evaluated, in order."""

    book: AxisBook = field(default_factory=AxisBook)
    known: dict[str, Size] = field(default_factory=dict)  # values of symbols, given or inferred
    rows: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    softmaxes: list[Weights] = field(default_factory=list)
    conditions: dict[str, None] = field(default_factory=dict)  # sizes that must be equal: `h·d_v = d`
    remarks: list[str] = field(default_factory=list)
    trusted: Places[bool] = field(default_factory=Places)  # scores that were generated, not written by the user
    given: dict[str, tuple[str, Value]] = field(default_factory=dict)  # the text as written, and its value
    failed: MismatchError | None = None
    left_out: list[Statement] = field(default_factory=list)
    result: Value | None = None
    operands: Places[tuple[tuple[Size, ...], ...]] = field(default_factory=Places)  # of products
    products: int = 0

    def sizes(self, axes: tuple[Axis, ...]) -> tuple[Size, ...]:
        """Return the sizes of axes with all known symbols substituted."""
        return tuple(axis.size.put_in(self.known) for axis in axes)

    def shape(self, axes: tuple[Axis, ...]) -> str:
        """Return the shape of axes as text: `768 × 6`."""
        return shape_text(self.sizes(axes))
