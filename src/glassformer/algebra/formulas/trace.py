"""What is written down while a formula is followed: rows, products, joins, and what stood in the way."""

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
    """A sub-expression: what it is, what it is made of, its axes."""

    text: str
    latex: str
    kind: RowKind
    axes: tuple[Axis, ...]
    operands: tuple[tuple[Size, ...], ...] = ()
    roles: Roles = (None, None)  # along the rows and columns of scores and attention weights


@dataclass(frozen=True)
class Projection:
    """Data multiplied by a weight; `clash` where the weight meets the tokens instead of the features."""

    node: Product
    data: Value
    weight: Value
    side: Side  # where the weight stands
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
    side: Side  # where the values stand
    clash: bool = False
    from_queries: bool = False  # the values come from the tokens of the queries, and the keys from others

    @property
    def values_node(self) -> Node:
        return sides(self.node)[self.side == "right"]


@dataclass(frozen=True)
class Joining:
    """Matrices put beside or below each other."""

    node: Node
    parts: tuple[Value, ...]
    axis: int
    chosen: bool  # the formula says along which axis


@dataclass(frozen=True)
class Adding:
    """A sum in which tokens met features."""

    node: Sum
    left: Value
    right: Value


@dataclass(frozen=True)
class Claim:
    """A shape that was given for something that the formula itself computes, and is another."""

    statement: Statement
    said: tuple[Size, ...]
    value: Value


Event: TypeAlias = Projection | Attending | Joining | Adding | Claim


def shape_text(sizes: tuple[Size, ...]) -> str:
    """`768 × 6`, `(d_k + d_v) × t`."""
    return " × ".join(str(size) if len(size.terms) == 1 else f"({size})" for size in sizes)


def counted(size: Size, word: str) -> str:
    """`6 columns`, `1 row`."""
    return f"{size} {word}" if size.number == 1 else f"{size} {word}s"


class MismatchError(Exception):
    """A product, sum or join whose shapes do not fit."""

    def __init__(self, node: Node, values: tuple[Value, ...], why: str) -> None:
        super().__init__(why)
        self.node, self.values, self.why = node, values, why


@dataclass
class Trace:
    """All of it, in the order of the formula."""

    book: AxisBook = field(default_factory=AxisBook)
    known: dict[str, Size] = field(default_factory=dict)  # values of symbols, given or found on the way
    rows: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    softmaxes: list[Weights] = field(default_factory=list)
    conditions: dict[str, None] = field(default_factory=dict)  # sizes that must be equal: `h·d_v = d`
    remarks: list[str] = field(default_factory=list)
    trusted: Places[bool] = field(default_factory=Places)  # scores that this program wrote, not the reader
    given: dict[str, tuple[str, Value]] = field(default_factory=dict)  # how it was written, and what it is
    failed: MismatchError | None = None
    left_out: list[Statement] = field(default_factory=list)
    result: Value | None = None
    operands: Places[tuple[tuple[Size, ...], ...]] = field(default_factory=Places)  # of products
    products: int = 0

    def sizes(self, axes: tuple[Axis, ...]) -> tuple[Size, ...]:
        """Sizes with all that is known put in."""
        return tuple(axis.size.put_in(self.known) for axis in axes)

    def shape(self, axes: tuple[Axis, ...]) -> str:
        """`768 × 6`."""
        return shape_text(self.sizes(axes))
