"""The next token: which tokens are allowed, and which of them is chosen."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.generation.settings import Choice

NEVER = -torch.inf


def forced(tokens: Tokens, number: int, most: int) -> int | None:
    """The token that must be chosen as the `number`-th new one, where `most` are allowed."""
    if number == most - 1 and tokens.last is not None:
        return tokens.last
    return tokens.first if number == 0 else None


def restrict(scores_BV: Tensor, tokens: Tokens, number: int, most: int) -> None:
    """Set the scores of tokens that may not be chosen to −∞, in place; only a forced token has the score 0."""
    must = forced(tokens, number, most)
    if must is not None:
        scores_BV.fill_(NEVER)
        scores_BV[:, must] = 0.0
        return
    banned = [*tokens.banned, *(tokens.banned_first if number == 0 else ())]
    if banned:
        scores_BV[:, banned] = NEVER


class Draws:
    """Random numbers for sampling: each text has its own, so that it does not matter which other texts are in its batch."""

    def __init__(self, seed: int, numbers: list[int], most: int) -> None:
        # Not torch.Generator: on a CPU it reads 32 bits of its seed.
        own = [np.random.SeedSequence(seed, spawn_key=(number,)) for number in numbers]
        drawn = [np.random.default_rng(one).random(most) for one in own]
        self.uniform_BT = torch.from_numpy(np.stack(drawn))

    def select(self, rows_B: Tensor) -> None:
        """Keep these rows."""
        self.uniform_BT = self.uniform_BT[rows_B.cpu()]


def sampled(logits_BV: Tensor, choice: Choice, uniform_B: Tensor) -> Tensor:
    """Draw a token from `softmax(logits / temperature)` of the tokens that top_k and top_p leave.

    top_p keeps the most probable tokens up to the first with which their sum reaches it.
    """
    scores_BV = logits_BV.double() / (choice.temperature or 1.0)
    kept = min(choice.top_k or scores_BV.shape[1], scores_BV.shape[1])
    top_BV, tokens_BV = scores_BV.topk(kept, dim=1)
    p_BV = top_BV.softmax(1)
    if choice.top_p is not None:
        before_BV = p_BV.cumsum(1) - p_BV
        p_BV = p_BV.masked_fill(before_BV >= choice.top_p, 0.0)
    upto_BV = p_BV.cumsum(1)
    place_B = torch.searchsorted(upto_BV, uniform_B.to(upto_BV.device)[:, None] * upto_BV[:, -1:], right=True)
    last_B1 = (p_BV > 0).sum(1, keepdim=True) - 1
    return tokens_BV.gather(1, place_B.minimum(last_B1))[:, 0]
