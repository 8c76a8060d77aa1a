"""Usual conventions of a count: groups of parameters that are often left out on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from glassformer.answers.mistakes.pieces import Piece, Pieces

# Groups that a count may leave out by convention. Leaving out W_O is a convention only together with the biases ("only the
# weights of Q, K, V and the feed-forward block"); a count with all biases but without W_O is a mistake.
GROUPS: dict[str, Callable[[Piece], bool]] = {
    "biases": lambda piece: piece.kind == "bias",
    "norms": lambda piece: piece.kind == "norm",
    "pooler": lambda piece: piece.part == "pooler",
    "head": lambda piece: piece.part == "head",
    "embeddings": lambda piece: piece.part == "embeddings",
    "output": lambda piece: piece.symbol in ("W_O", "b_O"),
}


def groups_in(pieces: Pieces) -> list[str]:
    """Return the groups that contain some, but not all, of the pieces."""
    return [name for name, belongs in GROUPS.items() if 0 < sum(map(belongs, pieces)) < len(pieces)]


def usual(words: tuple[str, ...], pieces: Pieces) -> bool:
    """Return whether leaving these out is a convention; W_O only together with the biases, for a whole layer."""
    return "output" not in words or ("biases" in words and any(piece.symbol == "W_1" for piece in pieces))


def left_out_ways(pieces: Pieces) -> Iterator[tuple[tuple[str, ...], Pieces]]:
    """Yield every usual way to leave groups out, fewest first, with the remaining pieces."""
    names = groups_in(pieces)
    for size in range(1, len(names) + 1):
        for words in combinations(names, size):
            kept = tuple([piece for piece in pieces if not any(GROUPS[word](piece) for word in words)])
            if kept and usual(words, pieces):
                yield words, kept


def totals_by_convention(pieces: Pieces) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the total under each usual convention, the full count first. Sums are shared, since this runs thousands of times."""
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
