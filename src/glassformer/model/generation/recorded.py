"""Beam search through any function of token rows, with the hypotheses that were kept after each token."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.generation.beams import beam_search
from glassformer.model.generation.search import Found
from glassformer.model.generation.settings import Choice

Logs: TypeAlias = Callable[
    [list[list[int]]], NDArray[np.float64]
]  # rows of tokens -> log-probabilities of the next, [row, vocab]


class Hypothesis(NamedTuple):
    """Some tokens, including those that begin every text, and the sum of the log-probabilities of the others."""

    tokens: list[int]
    score: float


class RecordedSteps:
    """Steps of a search (`search.Steps`) that read every row again after each token, and record what was kept."""

    def __init__(self, logs: Logs, start: list[int]) -> None:
        self.ask = logs
        self.rows = [start]
        self.scores = np.zeros(1)
        self.logs = logs(self.rows)
        self.kept: list[list[Hypothesis]] = []  # after each token, best first

    @property
    def logits(self) -> Tensor:
        """The logits that the search chooses from."""
        return torch.from_numpy(self.logs.copy())

    def select(self, rows_B: Tensor) -> None:
        """Keep these rows, in this order; a row may be taken more than once."""
        places = rows_B.tolist()
        self.rows = [self.rows[place] for place in places]
        self.scores, self.logs = self.scores[places], self.logs[places]

    def step(self, tokens_B: Tensor) -> Tensor:
        """Read one more token for each row; return the next logits."""
        tokens = tokens_B.tolist()
        self.scores = self.scores + self.logs[np.arange(len(tokens)), tokens]
        self.rows = [[*row, token] for row, token in zip(self.rows, tokens, strict=True)]
        found = [Hypothesis(row, score) for row, score in zip(self.rows, self.scores.tolist(), strict=True)]
        self.kept.append(sorted(found, key=lambda one: -one.score))
        self.logs = self.ask(self.rows)
        return self.logits


def recorded_search(logs: Logs, start: list[int], choice: Choice, tokens: Tokens) -> tuple[Found, list[list[Hypothesis]]]:
    """The best continuation of `start`, and what was kept after each token."""
    steps = RecordedSteps(logs, start)
    (best,) = beam_search(steps, steps.logits, choice, tokens)
    return best, steps.kept
