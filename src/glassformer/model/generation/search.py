"""Greedy choice and sampling: one token at a time for each row; a row that has ended leaves the batch."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from glassformer.model.generation.choosing import Draws, forced, restrict, sampled
from glassformer.model.generation.settings import Choice, Tokens


class Steps(Protocol):
    """A model that reads one more token for each row; see `Decoding`."""

    def step(self, tokens_B: Tensor) -> Tensor: ...
    def select(self, rows_B: Tensor) -> None: ...


class Found(NamedTuple):
    """The new tokens of one text, without the one that ended it."""

    tokens: list[int]
    ended: bool  # by a token that ends texts; otherwise no more were allowed
    score: float  # the sum of the tokens' log-probabilities, that of the end included; of a beam, after the length penalty


def one_by_one(steps: Steps, logits_BV: Tensor, choice: Choice, tokens: Tokens, draws: Draws | None) -> list[Found]:
    """Continue each row greedily, or by drawing."""
    rows = len(logits_BV)
    device = logits_BV.device
    chosen_TB = torch.empty((choice.max_new_tokens, rows), dtype=torch.int64, device=device)
    sums_B = torch.zeros(rows, dtype=torch.float64, device=device)
    lengths = [choice.max_new_tokens] * rows
    ends = torch.tensor(tokens.ends, dtype=torch.int64, device=device)
    going = torch.arange(rows, device=device)
    for number in range(choice.max_new_tokens):
        normal_B = logits_BV.logsumexp(1)
        restrict(logits_BV, tokens, number, choice.max_new_tokens)
        if draws is None:
            next_B = logits_BV.argmax(1)
        else:
            next_B = sampled(logits_BV, choice, draws.uniform_BT[:, number])
        if forced(tokens, number, choice.max_new_tokens) is None:
            sums_B[going] += (logits_BV.gather(1, next_B[:, None])[:, 0] - normal_B).double()
        chosen_TB[number, going] = next_B
        if number == choice.max_new_tokens - 1:
            ended_B = torch.isin(next_B, ends)
        elif (ended_B := torch.isin(next_B, ends)).any():
            kept = (~ended_B).nonzero()[:, 0]
            for row in going[ended_B].tolist():
                lengths[row] = number
            if not len(kept):
                break
            going, next_B = going[kept], next_B[kept]
            steps.select(kept)
            if draws is not None:
                draws.select(kept)
        if number < choice.max_new_tokens - 1:
            logits_BV = steps.step(next_B)
    else:
        for row in going[ended_B].tolist():
            lengths[row] = choice.max_new_tokens - 1
    written, sums = chosen_TB.T.tolist(), sums_B.tolist()
    return [
        Found(row[:length], length < choice.max_new_tokens, total)
        for row, length, total in zip(written, lengths, sums, strict=True)
    ]
