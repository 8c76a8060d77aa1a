"""Greedy decoding and sampling: one token at a time for each row; a finished row leaves the batch."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.generation.choosing import Draws, forced, restrict, sampled
from glassformer.model.generation.settings import Choice


class Steps(Protocol):
    """A model that reads one more token for each row; see `Decoding`."""

    def step(self, tokens_B: Tensor) -> Tensor: ...
    def select(self, rows_B: Tensor) -> None: ...


class Found(NamedTuple):
    """The new tokens of one text, without the end token."""

    tokens: list[int]
    ended: bool  # by an end token; otherwise the limit was reached
    score: float  # the sum of the tokens' log-probabilities, including the end token; for a beam, after the length penalty


class Rows:
    """The rows of a batch: the tokens chosen for each, and which rows continue."""

    def __init__(self, rows: int, choice: Choice, tokens: Tokens, device: torch.device) -> None:
        self.most = choice.max_new_tokens
        self.ends_E = torch.tensor(tokens.ends, dtype=torch.int64, device=device)
        self.chosen_TB = torch.empty((self.most, rows), dtype=torch.int64, device=device)
        self.sums_B = torch.zeros(rows, dtype=torch.float64, device=device)
        self.lengths: list[int | None] = [None] * rows  # where a row ended
        self.going = torch.arange(rows, device=device)

    def add(self, next_B: Tensor, gained_B: Tensor, number: int) -> Tensor | None:
        """Record a token for each row; return which rows continue, or None if all do."""
        self.sums_B[self.going] += gained_B.double()
        self.chosen_TB[number, self.going] = next_B
        ended_B = torch.isin(next_B, self.ends_E)
        if not ended_B.any():
            return None
        for row in self.going[ended_B].tolist():
            self.lengths[row] = number
        kept = (~ended_B).nonzero()[:, 0]
        self.going = self.going[kept]
        return kept

    def found(self) -> list[Found]:
        rows = zip(self.chosen_TB.T.tolist(), self.lengths, self.sums_B.tolist(), strict=True)
        return [Found(row[:end], end is not None, total) for row, end, total in rows]


def one_by_one(steps: Steps, logits_BV: Tensor, choice: Choice, tokens: Tokens, draws: Draws | None) -> list[Found]:
    """Continue each row greedily, or by drawing."""
    rows = Rows(len(logits_BV), choice, tokens, logits_BV.device)
    for number in range(choice.max_new_tokens):
        next_B, gained_B = chosen(logits_BV, number, choice, tokens, draws)
        kept = rows.add(next_B, gained_B, number)
        if not len(rows.going) or number == choice.max_new_tokens - 1:
            break
        if kept is not None:
            next_B = next_B[kept]
            steps.select(kept)
            if draws is not None:
                draws.select(kept)
        logits_BV = steps.step(next_B)
    return rows.found()


def chosen(logits_BV: Tensor, number: int, choice: Choice, tokens: Tokens, draws: Draws | None) -> tuple[Tensor, Tensor]:
    """The next token of each row, and its log-probability; that of a forced token is 0."""
    normal_B = logits_BV.logsumexp(1)
    restrict(logits_BV, tokens, number, choice.max_new_tokens)
    next_B = logits_BV.argmax(1) if draws is None else sampled(logits_BV, choice, draws.uniform_BT[:, number])
    if forced(tokens, number, choice.max_new_tokens) is not None:
        return next_B, torch.zeros_like(normal_B)
    return next_B, logits_BV.gather(1, next_B[:, None])[:, 0] - normal_B
