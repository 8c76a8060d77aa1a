"""A count as a sum of pieces: products of labelled factors, which a mistake drops, adds or changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from glassformer.algebra.ledger import Count
from glassformer.program.roles import Block
from glassformer.spec import EncoderSpec


@dataclass(frozen=True)
class Piece:
    """One product of the sum: `layers · d_model · head · d_k` for W_Q of all layers."""

    block: Block
    symbol: str
    kind: str
    factors: tuple[tuple[str, int], ...]
    bias_of: str = ""  # the name of the matrix that a bias belongs to

    @property
    def name(self) -> str:
        """The name of the ledger line: `layers.*.attention.W_Q`."""
        return f"{self.block.any_layer}.{self.symbol}"

    @property
    def part(self) -> str:
        return self.block.part

    @property
    def size(self) -> int:
        return math.prod([size for _, size in self.factors])

    @property
    def formula(self) -> str:
        return " · ".join(label for label, _ in self.factors) or "1"

    @property
    def numbers(self) -> str:
        return " · ".join(f"{size}" for _, size in self.factors) or "1"

    def without(self, *labels: str) -> Piece:
        return replace(self, factors=tuple([factor for factor in self.factors if factor[0] not in labels]))

    def with_factor(self, old: str, label: str, size: int) -> Piece:
        """Return the piece with the factor `old` replaced."""
        return replace(self, factors=tuple([(label, size) if factor[0] == old else factor for factor in self.factors]))

    def times(self, label: str, size: int) -> Piece:
        return replace(self, factors=((label, size), *self.factors))


Pieces = tuple[Piece, ...]
Changes = Iterator[tuple[str, Pieces]]  # what was done, and the pieces it leaves


def changed(pieces: Pieces, change: Callable[[Piece], Piece | None]) -> Pieces:
    """Return the pieces after a change of each; None leaves a piece out."""
    return tuple([new for piece in pieces if (new := change(piece)) is not None])


def dropped(pieces: Pieces, *symbols: str) -> Pieces:
    return changed(pieces, lambda p: None if p.symbol in symbols else p)


def pieces_of(count: Count) -> Pieces:
    """Return the lines of a ledger as products; identical layers become a factor `layers`."""
    found = []
    for line in count.lines:
        row = line.rows[0]
        axes = tuple((axis.name, axis.size) for axis in row.axes)
        factors = (("layers", line.times), *axes) if row.layer is not None else axes
        matrix = row.bias_of.any_layer if row.bias_of else ""
        found.append(Piece(row.tensor.block, row.tensor.symbol, row.kind, factors, matrix))
    return tuple(found)


def total(pieces: Pieces) -> int:
    """Return the sum of the pieces."""
    return sum([piece.size for piece in pieces])


@dataclass(frozen=True)
class Setting:
    """What a rewrite may use in addition to the pieces."""

    spec: EncoderSpec
    batch: int
    t: int | None
