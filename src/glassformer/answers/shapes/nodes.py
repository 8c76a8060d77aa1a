"""A formula as a tree: names, products, transposes, functions, and statements made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar

from glassformer.spec import GlassformerError

DEEPEST = 120  # products and sums lean to the left: as many terms in a row

Direction: TypeAlias = Literal["beside", "below"]


@dataclass(frozen=True, eq=False)
class Node:
    """An expression. Two nodes are the same only if they are one and the same place of the formula."""

    depth: int = field(init=False, default=1, repr=False)

    def __post_init__(self) -> None:
        depth = 1 + max((inner.depth for inner in self.inner), default=0)
        if depth > DEEPEST:
            raise GlassformerError(f"the formula is nested too deeply: {DEEPEST} operations inside each other at most.")
        object.__setattr__(self, "depth", depth)

    @property
    def inner(self) -> tuple[Node, ...]:
        """The expressions that this one is made of."""
        found: list[Node] = []
        for entry in fields(self):
            value = getattr(self, entry.name, None)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [item for item in value if isinstance(item, Node)]
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Name(Node):
    """`W_Q`. The key is what names are compared by: `W^Q`, `W_{Q}` and `W_Q` are one name."""

    key: str
    base: str
    indexes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Number(Node):
    value: Fraction


@dataclass(frozen=True, eq=False)
class Transposed(Node):
    of: Node


@dataclass(frozen=True, eq=False)
class Product(Node):
    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Elementwise(Node):
    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Sum(Node):
    left: Node
    right: Node
    sign: Literal["+", "-"] = "+"


@dataclass(frozen=True, eq=False)
class Negative(Node):
    of: Node


@dataclass(frozen=True, eq=False)
class Quotient(Node):
    above: Node
    below: Node


@dataclass(frozen=True, eq=False)
class Power(Node):
    of: Node
    exponent: Fraction


@dataclass(frozen=True, eq=False)
class Call(Node):
    """`softmax(…, rows)`: a function, its arguments and the axis as it was written."""

    function: str
    arguments: tuple[Node, ...]
    axis: str | None = None


@dataclass(frozen=True, eq=False)
class Joined(Node):
    """`[A, B]` beside each other, `[A; B]` below each other, `concat(A, B)` as it makes sense; `until` is after the dots."""

    parts: tuple[Node, ...]
    direction: Direction | None = None
    until: Node | None = None
    axis: str | None = None


@dataclass(frozen=True, eq=False)
class OneHead(Node):
    """The part of a matrix of all heads that belongs to one of them."""

    of: Node


@dataclass(frozen=True)
class Statement:
    """`name = body`, `name(arguments) = body`, or a body alone; `claim` is the shape that was written behind it."""

    body: Node
    name: Name | None = None
    parameters: tuple[Name, ...] | None = None
    claim: str | None = None


def key_of(base: str, indexes: tuple[str, ...]) -> str:
    """What a name is compared by: the order of its indexes does not matter."""
    return "_".join([base, *sorted(indexes)])


def name(base: str, *indexes: str) -> Name:
    return Name(key_of(base, indexes), base, indexes)


def swapped(node: Node, changes: Mapping[Node, Node]) -> Node:
    """The tree with some of its places replaced."""
    if node in changes:
        return changes[node]
    return rebuilt(node, lambda inner: swapped(inner, changes))


Some = TypeVar("Some", bound=Node)


def rebuilt(node: Some, change: Callable[[Node], Node]) -> Some:
    """The node with `change` applied to each expression inside it; the very same node where nothing changes."""
    new: dict[str, object] = {}
    for entry in fields(node):
        if not entry.init:
            continue
        value = getattr(node, entry.name)
        if isinstance(value, Node):
            changed: object = change(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Node):
            items = tuple(change(item) for item in value)
            changed = value if all(a is b for a, b in zip(items, value, strict=True)) else items
        else:
            continue
        if changed is not value:
            new[entry.name] = changed
    return replace(node, **new) if new else node  # type: ignore[arg-type]
