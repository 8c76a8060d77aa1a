"""Expression trees, independent of the notation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from glassformer.expressions.numerals import Numeral

Sign = Literal["+", "-"]
# × · * between anything, @ ⊙ between matrices, / // divide; "" is a product without a sign, as in 2d.
Factor = Literal["×", "·", "*", "@", "⊙", "/", "//", ""]


@dataclass(frozen=True)
class Number:
    numeral: Numeral


@dataclass(frozen=True)
class Name:
    """A symbol, or something with an unknown value, such as an unknown function."""

    text: str


@dataclass(frozen=True)
class Negative:
    inner: Node


@dataclass(frozen=True)
class Sum:
    """Terms with their signs, at least two."""

    terms: tuple[tuple[Sign, Node], ...]


@dataclass(frozen=True)
class Product:
    """Factors with the sign before each, at least two; the first sign has no meaning."""

    factors: tuple[tuple[Factor, Node], ...]


@dataclass(frozen=True)
class Power:
    base: Node
    exponent: Node


@dataclass(frozen=True)
class Root:
    inner: Node
    degree: int = 2


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Node, ...]
    base: int | None = None  # of a logarithm
    axis: str = ""  # `rows`, `tokens`, or the number of the axis


@dataclass(frozen=True)
class List:
    """Items between brackets: a vector, a matrix (lists in a list), or the sizes of a shape."""

    items: tuple[Node, ...]
    bracket: str = "["


@dataclass(frozen=True)
class Grid:
    """Rows and columns of a LaTeX matrix."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Sized:
    """A node with its size as a subscript, such as a matrix of dots with 32 × 64 below."""

    inner: Node
    size: Node


@dataclass(frozen=True)
class Transposed:
    inner: Node


@dataclass(frozen=True)
class Percent:
    inner: Node


@dataclass(frozen=True)
class Measured:
    """A number with a unit that has a scale: 4 MB."""

    inner: Node
    unit: str


@dataclass(frozen=True)
class Grouped:
    """Written brackets, which matter only for shapes."""

    inner: Node


@dataclass(frozen=True)
class Space:
    """ℝ with sizes as its exponent."""

    sizes: Node


@dataclass(frozen=True)
class Quantity:
    """A quantity of a model: `params(ffn, layer=0) @ bert-base`; without `model`, of the default model."""

    name: str
    arguments: tuple[Node, ...] = ()
    options: tuple[tuple[str, Node], ...] = ()
    model: str = ""  # the words of a spec: `bert-base d_ff=4096`


@dataclass(frozen=True)
class Converted:
    """A value converted to a unit: `bytes(weights) in MiB`."""

    inner: Node
    unit: str


@dataclass(frozen=True)
class Relation:
    """Sides with signs between them: `a = b`, `a = b = c`, `a < b`."""

    sides: tuple[Node, ...]
    signs: tuple[str, ...]  # = ≈ < > ≤ ≥ ≠


Node = (
    Number | Name | Negative | Sum | Product | Power | Root | Call | List | Grid | Sized | Transposed | Percent | Measured
    | Grouped | Space | Quantity | Converted | Relation
)  # fmt: skip


@dataclass(frozen=True)
class Parsed:
    """A tree, the words in it, and doubts about its meaning."""

    tree: Node
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = field(default=())


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct sub-expressions, in the order in which they were written."""
    return tuple(found for value in vars(node).values() for found in _nodes(value))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the node with `change` applied to its direct sub-expressions; the same object if nothing changes."""

    def changed(value: object) -> object:
        if isinstance(value, Node):
            return change(value)
        if not isinstance(value, tuple):
            return value
        items = tuple(changed(item) for item in value)
        return value if all(one is two for one, two in zip(items, value, strict=True)) else items

    new = {name: changed(value) for name, value in vars(node).items()}
    return node if all(new[name] is value for name, value in vars(node).items()) else type(node)(**new)  # type: ignore[arg-type]


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes below it."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(children(found)))


def names_in(node: Node) -> list[str]:
    """Return the symbols, each once, in order."""
    return list(dict.fromkeys(found.text for found in walk(node) if isinstance(found, Name)))


def numerals_in(node: Node) -> list[Numeral]:
    return [found.numeral for found in walk(node) if isinstance(found, Number)]


def ungrouped(node: Node) -> Node:
    """Return a node without the brackets around it."""
    while isinstance(node, Grouped):
        node = node.inner
    return node
