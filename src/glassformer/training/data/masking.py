"""Masking for masked-token training (Devlin et al. 2018, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassformer.training.data.chance import below, bits, uniform

IGNORE = -100  # the ignore_index of torch's cross_entropy


@dataclass(frozen=True)
class Masking:
    """15% of the tokens are predicted: 80% of them are masked, 10% replaced by a random token, 10% unchanged."""

    mask_id: int
    ordinary_ids: NDArray[np.int64]  # candidates for random tokens
    share: float = 0.15
    hidden: float = 0.8
    other: float = 0.1

    def asked(self, maskable: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many tokens to predict in texts with `maskable` tokens: the share, rounded, at least one."""
        return np.minimum(maskable, np.maximum(1, np.floor(self.share * maskable + 0.5).astype(np.int64)))

    def apply(
        self, tokens: NDArray[np.int64], maskable: NDArray[np.bool_], ids: NDArray[np.int64], seed: int, epoch: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return masked tokens and labels. Each row depends only on (seed, epoch, its id), not on its batch."""
        rows, places = maskable.nonzero()  # row by row
        keys = (epoch, ids[rows], places)
        order = np.lexsort((bits(seed, "masked", *keys) >> np.uint64(1), rows))
        counts = maskable.sum(axis=1)
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)  # in the row, of each in `order`
        chosen = order[rank < np.repeat(self.asked(counts), counts)]
        rows, places = rows[chosen], places[chosen]
        keys = (epoch, ids[rows], places)
        fate, true = uniform(seed, "fate", *keys), tokens[rows, places]
        others = self.ordinary_ids[below(len(self.ordinary_ids), seed, "other", *keys)]
        seen, labels = tokens.copy(), np.full_like(tokens, IGNORE)
        seen[rows, places] = np.where(fate < self.hidden, self.mask_id, np.where(fate < self.hidden + self.other, others, true))
        labels[rows, places] = true
        return seen, labels
