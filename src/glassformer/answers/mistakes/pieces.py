"""A count as pieces: products of labelled factors, which a mistake drops, adds or changes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from glassformer.algebra.ledger import Count
from glassformer.spec import EncoderSpec


@dataclass(frozen=True)
class Piece:
    """One product of the sum: `layers · d_model · head · d_k` for W_Q of all layers."""

    name: str  # of the ledger line: layers.*.attention.W_Q
    kind: str
    factors: tuple[tuple[str, int], ...]

    @property
    def symbol(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def part(self) -> str:
        return self.name.partition(".")[0]

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
        """The factor called `old` replaced."""
        return replace(self, factors=tuple([(label, size) if factor[0] == old else factor for factor in self.factors]))

    def times(self, label: str, size: int) -> Piece:
        return replace(self, factors=((label, size), *self.factors))


Pieces = tuple[Piece, ...]


def pieces_of(count: Count) -> Pieces:
    """The ledger's lines as products; alike layers are a factor `layers`."""
    found = []
    for line in count.lines:
        axes = tuple((axis.name, axis.size) for axis in line.rows[0].axes)
        layered = line.name.startswith("layers.*.")
        found.append(Piece(line.name, line.rows[0].kind, (("layers", line.times), *axes) if layered else axes))
    return tuple(found)


def total(pieces: Pieces) -> int:
    """The sum that the pieces make."""
    return sum([piece.size for piece in pieces])


@dataclass(frozen=True)
class Setting:
    """What a rewrite may look at besides the pieces."""

    spec: EncoderSpec
    batch: int
    t: int | None
