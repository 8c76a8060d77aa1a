"""Figures of predictions in NumPy: correlation of numbers, F1 of several classes per row, ranks of texts that are sought."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
CHUNK = 1024  # anchors that are compared with all texts at once


def pearson(said: Numbers, true: Numbers) -> float:
    """Return the linear correlation; NaN where one side is constant."""
    if len(said) < 2:
        return float("nan")
    x, y = (np.asarray(one, dtype=np.float64) - np.mean(one, dtype=np.float64) for one in (said, true))
    length = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / length) if length > 0 else float("nan")


def spearman(said: Numbers, true: Numbers) -> float:
    """Return the correlation of the ranks."""
    return pearson(ranks(said), ranks(true))


def ranks(values: Numbers) -> Numbers:
    """Return the rank of each value from 1; equal values share the mean of their ranks."""
    _, places, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[places])


class Several(NamedTuple):
    """Counts for each class where several may apply to a row: predicted and true, only predicted, only true."""

    right: Numbers
    extra: Numbers
    missed: Numbers

    @classmethod
    def of(cls, said: Numbers, true: Numbers) -> Several:
        """Count marks [row, class], of bool."""
        return cls((said & true).sum(0), (said & ~true).sum(0), (~said & true).sum(0))

    def micro_f1(self) -> float:
        """Return the F1 over all marks."""
        return float(_f1(*(one.sum() for one in self)))

    def macro_f1(self) -> float:
        """Return the mean F1 over the classes that are true or predicted somewhere."""
        seen = np.stack(self).sum(0) > 0
        return float(np.mean(_f1(*self)[seen])) if seen.any() else float("nan")


def _f1(right: Any, extra: Any, missed: Any) -> Any:
    return 2 * right / np.maximum(2 * right + extra + missed, 1)


def reciprocal_ranks(anchors: Numbers, candidates: Numbers, anchor_texts: Numbers, matches: Numbers, texts: Numbers) -> Numbers:
    """Return 1 / the rank of the best text that belongs to each anchor, among all candidates, by the product of the vectors.

    `anchor_texts`, `matches` (one per anchor) and `texts` (one per candidate) number the texts: equal texts are one candidate.
    All matches of equal anchors belong to each of them; a text that is the anchor itself is left out; ties count against it.
    """
    numbers, first = np.unique(texts, return_index=True)
    places, own = np.searchsorted(numbers, matches), defaultdict(set)
    for anchor, place in zip(anchor_texts.tolist(), places.tolist(), strict=True):
        own[anchor].add(place)
    found = np.empty(len(anchors))
    for start in range(0, len(anchors), CHUNK):
        scores = np.asarray(anchors[start : start + CHUNK] @ candidates[first].T, dtype=np.float64)
        scores[anchor_texts[start : start + CHUNK, None] == numbers] = -np.inf
        for row, anchor in enumerate(anchor_texts[start : start + CHUNK].tolist()):
            right = list(own[anchor])
            best = scores[row, right].max()
            found[start + row] = 1 / (1 + np.count_nonzero(scores[row] >= best) - np.count_nonzero(scores[row, right] >= best))
    return found


def mean_reciprocal_rank(found: Numbers, most: int = 10) -> float:
    """Return the mean of reciprocal ranks, where ranks beyond `most` count as zero."""
    return float(np.where(found * most >= 1 - 1e-9, found, 0.0).mean())
