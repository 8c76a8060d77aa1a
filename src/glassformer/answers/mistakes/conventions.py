"""Usual conventions of a count: what people leave out on purpose, and say so (or should)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from glassformer.answers.mistakes.pieces import Piece, Pieces

# What a count may leave out as a matter of convention. W_O belongs here only beside the biases ("weights of Q, K, V and the
# feed-forward block alone"): a count with every bias but without W_O has forgotten it.
GROUPS: dict[str, Callable[[Piece], bool]] = {
    "biases": lambda piece: piece.kind == "bias",
    "norms": lambda piece: piece.kind == "norm",
    "pooler": lambda piece: piece.part == "pooler",
    "head": lambda piece: piece.part == "head",
    "embeddings": lambda piece: piece.part == "embeddings",
    "output": lambda piece: piece.symbol in ("W_O", "b_O"),
}


def groups_in(pieces: Pieces) -> list[str]:
    """The groups that would leave something out, and something over."""
    return [name for name, belongs in GROUPS.items() if 0 < sum(map(belongs, pieces)) < len(pieces)]


def usual(words: tuple[str, ...], pieces: Pieces) -> bool:
    """Whether leaving these out together is a convention: W_O is, beside the biases of a whole layer, not of attention alone."""
    return "output" not in words or ("biases" in words and any(piece.symbol == "W_1" for piece in pieces))


def left_out_ways(pieces: Pieces) -> Iterator[tuple[tuple[str, ...], Pieces]]:
    """Every usual way to leave groups out, fewest first, with the pieces that stay."""
    names = groups_in(pieces)
    for size in range(1, len(names) + 1):
        for words in combinations(names, size):
            kept = tuple([piece for piece in pieces if not any(GROUPS[word](piece) for word in words)])
            if kept and usual(words, pieces):
                yield words, kept


def totals_by_convention(pieces: Pieces) -> Iterator[tuple[tuple[str, ...], int]]:
    """The total under each usual convention, nothing left out first (sums are shared: mistakes try this thousands of times)."""
    names = [name for name, belongs in GROUPS.items() if any(map(belongs, pieces))]
    atoms: dict[frozenset[str], int] = {}
    for piece in pieces:
        key = frozenset([name for name in names if GROUPS[name](piece)])
        atoms[key] = atoms.get(key, 0) + piece.size
    for size in range(len(names) + 1):
        for words in combinations(names, size):
            if usual(words, pieces):
                chosen = set(words)
                yield words, sum([amount for key, amount in atoms.items() if not key & chosen])
