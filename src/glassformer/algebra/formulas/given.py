"""Given shapes and sizes: `X=768x6`, `W_Q=d_k x d`, `b=768`, `heads=8`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeAlias

from glassformer.algebra.formulas.names import key_of
from glassformer.algebra.formulas.sizes import Size
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.grammar import Parser
from glassformer.expressions.limits import (
    FORMULA_CHARACTERS,
    LARGEST_SIZE,
    MOST_GIVEN,
    SHAPE_CHARACTERS,
    NotUnderstoodError,
)
from glassformer.expressions.readings import Reading
from glassformer.expressions.settle import settle
from glassformer.expressions.shapes import size_nodes
from glassformer.expressions.tokens import tokens
from glassformer.expressions.tree import Grouped, Name, Node, Number, Product, Sum

Shape: TypeAlias = tuple[Size, ...]
Written: TypeAlias = str | int | Sequence[int | str]

ENTRY = re.compile(r"(?:^|(?<=[\s,;]))([^\W\d][\w^{}()\\']{0,60})\s*=\s*")
BY = re.compile(r"\s[xX]\s|(?<=[0-9)])[xX](?=[0-9A-Za-z(])|(?<=[0-9A-Za-z)])[xX](?=[0-9(])")
LETTERS = re.compile(r"([A-Za-z](?:_[A-Za-z0-9]+)?)x([A-Za-z](?:_[A-Za-z0-9]+)?)")  # dxt, d_kxd
ITEMS = Reading(commas="items")
EXAMPLE = "write it as in X=768x6, W_Q=d_k x d or d_k=64"


@dataclass
class Given:
    """Shapes and numbers by name. A single size is the length of a vector or a number, depending on its use."""

    texts: dict[str, str] = field(default_factory=dict)  # each name as written
    shapes: dict[str, Shape] = field(default_factory=dict)

    def add(self, text: str, shape: Shape) -> None:
        key = key_of(text)
        if self.shapes.get(key, shape) != shape:
            first, second = (" × ".join(map(str, each)) for each in (self.shapes[key], shape))
            raise GlassformerError(f"{text} is given twice: as {first} and as {second}.")
        self.texts[key], self.shapes[key] = text, shape
        if len(self.shapes) > MOST_GIVEN:
            raise GlassformerError(f"more than {MOST_GIVEN} shapes are given: check the formula in parts.")

    @property
    def numbers(self) -> dict[str, Size]:
        """Values of symbols: every name with a single size."""
        return {key: shape[0] for key, shape in self.shapes.items() if len(shape) == 1}


def read_given(shapes: Iterable[str] | Mapping[str, Written]) -> Given:
    """Parse `X=768x6 W_Q=d_k x d heads=8`, as one string or split, or `{"X": (768, 6), "d_k": 64}`."""
    given = Given()
    for word, value in _entries(shapes):
        text = value if isinstance(value, str) else str(value) if isinstance(value, int) else "×".join(map(str, value))
        given.add(read_name(word), read_shape(text, word))
    return given


def _entries(shapes: Iterable[str] | Mapping[str, Written]) -> Iterable[tuple[str, Written]]:
    if isinstance(shapes, Mapping):
        return [(str(word), value) for word, value in shapes.items()]
    text = shapes if isinstance(shapes, str) else " ".join(shapes)
    if len(text) > FORMULA_CHARACTERS:
        raise GlassformerError(f"the shapes have more than {FORMULA_CHARACTERS:,} characters: check the formula in parts.")
    starts = list(ENTRY.finditer(text))
    if text.strip() and (not starts or text[: starts[0].start()].strip(" ,;")):
        raise GlassformerError(f"'{shown(text.strip())}' is not a shape: {EXAMPLE}.")
    ends = [start.start() for start in starts[1:]]
    return [(start[1], text[start.end() : end].strip(" ,;\n\t")) for start, end in zip_longest(starts, ends)]


def read_name(word: str) -> str:
    found = tokens(word, formula=True)
    if [token.kind for token in found] != ["name"]:
        raise GlassformerError(f"'{shown(word)}' is not a name: {EXAMPLE}.")
    return found[0].text


def read_shape(text: str, of: str) -> Shape:
    """Parse sizes separated by `x`, `×`, `\\times` or commas; one size is a vector or a number."""
    inner = BY.sub("×", text.strip())
    letters = LETTERS.fullmatch(inner)
    entry = f"{shown(of)}={shown(text)}"
    try:
        if len(inner) > SHAPE_CHARACTERS:
            raise NotUnderstoodError("too long")
        parser = Parser(settle(tokens(f"({'×'.join(letters.groups()) if letters else inner})", names=True), ITEMS), ITEMS)
        node = parser.expression()
        if parser.token is not None:
            raise parser.unexpected()
        return sizes_of(node, entry)
    except NotUnderstoodError:
        raise GlassformerError(f"{entry} is not a shape: {EXAMPLE}.") from None


def sizes_of(node: Node, entry: str) -> Shape:
    """Return the sizes in a tree such as `(d/S) × m`, `[768, 6]` or ℝ^{768 × 6}."""
    found = tuple(map(_size, size_nodes(node)))
    if len(found) > 2:
        raise GlassformerError(f"{entry} has {len(found)} axes: formulas are about matrices, so omit the batch and head axes.")
    if any(not size.symbols and not (size.number and 1 <= size.number <= LARGEST_SIZE) for size in found):
        raise GlassformerError(f"{entry} is not allowed: a size is a whole number from 1 to {LARGEST_SIZE:,}.")
    return found


def _size(node: Node) -> Size:
    """Return the size of a node: `768`, `d`, `d/S`, `2 d`, `h·d_v`, `(d_k + d_v)`."""
    match node:
        case Number(numeral):
            return Size.of(numeral.value)
        case Name(text) if text not in ("x", "X"):
            return Size.of(key_of(text))
        case Grouped(inner):
            return _size(inner)
        case Sum(terms) if all(sign == "+" for sign, _ in terms):
            total = Size(())
            for _, term in terms:
                total = total + _size(term)
            return total
        case Product(factors) if not all(isinstance(factor, Number) for _, factor in factors):  # 768*6 is not a shape
            size = _size(factors[0][1])
            for sign, factor in factors[1:]:
                size = size / _size(factor) if sign in ("/", "//") else size * _size(factor)
            return size
        case _:
            raise NotUnderstoodError("not a size")
