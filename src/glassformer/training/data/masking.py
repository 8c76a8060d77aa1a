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
        keys = (epoch, ids[:, None], np.arange(tokens.shape[1])[None])
        drawn = np.where(maskable, bits(seed, "masked", *keys) >> np.uint64(1), np.uint64(2**64 - 1))
        place = np.argsort(np.argsort(drawn, axis=1, kind="stable"), axis=1, kind="stable")
        chosen = place < self.asked(maskable.sum(axis=1))[:, None]
        fate = uniform(seed, "fate", *keys)
        others = self.ordinary_ids[below(len(self.ordinary_ids), seed, "other", *keys)]
        seen = np.where(fate < self.hidden, self.mask_id, np.where(fate < self.hidden + self.other, others, tokens))
        return np.where(chosen, seen, tokens), np.where(chosen, tokens, IGNORE)
