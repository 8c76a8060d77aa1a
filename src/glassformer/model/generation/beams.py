"""Beam search: the most probable continuations of each text are followed together; a finished text leaves the batch.

The rules are those of transformers' `generate`: of twice as many candidates as there are beams, those that end a text among the
first half are finished, with their sum of log-probabilities divided by length^penalty; the best of the others continue. A text is
done when it has as many finished beams as the search is wide, and the best beam that goes on, with the penalty of its present
length, is no better than the worst of them (with `early_stop`: as soon as it has so many).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.generation.choosing import NEVER, forced
from glassformer.model.generation.search import Found, Steps
from glassformer.model.generation.settings import Choice

OUT = -1.0e9  # the score of an absent beam


class Beams(NamedTuple):
    """The beams of some texts: [text, beam] scores, and the tokens of each, [text, beam, place]."""

    scores: Tensor
    tokens: Tensor

    @classmethod
    def empty(cls, texts: int, beams: int, most: int, device: torch.device) -> Beams:
        return cls(
            torch.full((texts, beams), OUT, dtype=torch.float32, device=device),
            torch.zeros((texts, beams, most), dtype=torch.int64, device=device),
        )

    def best(self, count: int) -> tuple[Beams, Tensor]:
        """The best of these, and which they are."""
        top, places = self.scores.topk(count, dim=1)
        return Beams(top, self.tokens.gather(1, places[:, :, None].expand(-1, -1, self.tokens.shape[2]))), places


class State(NamedTuple):
    """The state of the search for some texts: one row of each tensor for each text."""

    running: Beams
    finished: Beams
    lengths: Tensor  # of the finished beams, [text, beam]
    done: Tensor  # [text]; what is finished of such a text no longer changes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return (*self.running, *self.finished, self.lengths, self.done)

    @classmethod
    def of(cls, tensors: list[Tensor]) -> State:
        a, b, c, d, lengths, done = tensors
        return cls(Beams(a, b), Beams(c, d), lengths, done)

    def select(self, texts: Tensor) -> State:
        return State.of([one[texts] for one in self.tensors])


class Search:
    """The steps of a search. Nothing here waits for a GPU: after each step the tensors of a state have the same shapes."""

    def __init__(self, choice: Choice, tokens: Tokens, device: torch.device) -> None:
        self.choice, self.special, self.device = choice, tokens, device
        self.most = choice.max_new_tokens
        self.ends = torch.tensor(tokens.ends, dtype=torch.int64, device=device)
        self.banned, self.banned_first = (
            torch.tensor(banned, dtype=torch.int64, device=device) if banned else None
            for banned in (tokens.banned, (*tokens.banned, *tokens.banned_first))
        )
        self.places = torch.arange(self.most, device=device)
        penalties = [(number + 1) ** choice.length_penalty for number in range(self.most)]
        self.penalties = torch.tensor(penalties, dtype=torch.float32, device=device)

    def start(self, texts: int) -> State:
        """The initial state. All beams of a text are equal at first: only one of them is followed."""
        running, finished = (Beams.empty(texts, self.choice.beams, self.most, self.device) for _ in range(2))
        running.scores[:, 0] = 0.0
        done = torch.zeros(texts, dtype=torch.bool, device=self.device)
        return State(running, finished, torch.zeros_like(running.scores, dtype=torch.int64), done)

    def advance(self, state: State, logits_NV: Tensor, number: int, at: Tensor) -> tuple[State, Tensor]:
        """Choose the next beams of each text; return which rows they continue, too.

        `at` is `number`, as a tensor of one element: what is recorded in a CUDA graph for one number serves others.
        """
        texts, beams = state.running.scores.shape
        top, origin, added = self.candidates(state, logits_NV, number)
        tokens = state.running.tokens.gather(1, origin[:, :, None].expand(-1, -1, self.most))
        candidates = Beams(top, torch.where(self.places == at, added[:, :, None], tokens))
        last = number == self.most - 1
        hits = torch.ones_like(added, dtype=torch.bool) if last else (added[:, :, None] == self.ends).any(2)
        penalty = self.penalties.index_select(0, at)
        finished, lengths = self.finish(state, candidates, hits, at, penalty)
        running, places = Beams(top + hits * OUT, candidates.tokens).best(beams)
        done = state.done | self.done(running, finished, penalty) if not last else torch.ones_like(state.done)
        rows = (torch.arange(texts, device=self.device)[:, None] * beams + origin.gather(1, places)).flatten()
        return State(running, finished, lengths, done), rows

    def candidates(self, state: State, logits_NV: Tensor, number: int) -> tuple[Tensor, Tensor, Tensor]:
        """The best continuations of each text: their scores, the beams that they extend and the tokens that they add."""
        texts, beams = state.running.scores.shape
        wide = (1 + max(len(self.special.ends), 1)) * beams
        if (must := forced(self.special, number, self.most)) is not None:
            top_NW = torch.full((len(logits_NV), 1), 0.0, device=self.device)
            tokens_NW = torch.full_like(top_NW, must, dtype=torch.int64)
        else:
            logs_NV = logits_NV.float().log_softmax(1)
            if (banned := self.banned_first if number == 0 else self.banned) is not None:
                logs_NV.index_fill_(1, banned, NEVER)
            top_NW, tokens_NW = logs_NV.topk(min(wide, logs_NV.shape[1]), dim=1)
        each = top_NW.shape[1]
        sums = (top_NW.view(texts, beams, each) + state.running.scores[:, :, None]).flatten(1)
        top, places = sums.topk(min(wide, sums.shape[1]), dim=1)
        return top, places // each, tokens_NW.view(texts, -1).gather(1, places)

    def finish(self, state: State, candidates: Beams, hits: Tensor, at: Tensor, penalty: Tensor) -> tuple[Beams, Tensor]:
        """Record finished beams among the best candidates, if they are better than earlier finished ones."""
        top, beams = candidates.scores, self.choice.beams
        first = torch.arange(top.shape[1], device=self.device) < beams
        scores = top / penalty + ~(hits & first & ~state.done[:, None]) * OUT
        both = zip(state.finished, Beams(scores, candidates.tokens), strict=True)
        finished, places = Beams(*(torch.cat(pair, dim=1) for pair in both)).best(beams)
        return finished, torch.cat((state.lengths, (at + 1).expand(top.shape)), dim=1).gather(1, places)

    def done(self, running: Beams, finished: Beams, penalty: Tensor) -> Tensor:
        """Whether each text is finished."""
        full = (finished.scores > OUT / 2).all(1)
        if self.choice.early_stop:
            return full
        return full & (running.scores[:, 0] / penalty <= finished.scores.min(1).values)

    def found(self, row: list[int], length: int, score: float) -> Found:
        """The best beam of a text, with the places that it may have had."""
        ended = row[length - 1] in self.special.ends
        return Found(row[: length - 1 if ended else length], ended, score)

    def best(self, state: State) -> list[Found]:
        """The best beam of each text."""
        finished = state.finished
        parts = (one[:, 0].tolist() for one in (finished.tokens, state.lengths, finished.scores))
        return [self.found(*one) for one in zip(*parts, strict=True)]


def beam_search(steps: Steps, logits_BV: Tensor, choice: Choice, tokens: Tokens) -> list[Found]:
    """The best beam of each text; `steps` has one row for each text, whose logits are given."""
    texts, beams = len(logits_BV), choice.beams
    search = Search(choice, tokens, logits_BV.device)
    state, numbers = search.start(texts), torch.arange(texts)
    found: dict[int, Found] = {}
    first = torch.arange(texts, device=logits_BV.device).repeat_interleave(beams)
    logits_NV = logits_BV[first]
    for number in range(choice.max_new_tokens):
        state, rows = search.advance(state, logits_NV, number, search.places[number : number + 1])
        done = state.done.cpu()
        if done.any():
            found.update(zip(numbers[done].tolist(), search.best(state.select(state.done)), strict=True))
            if done.all():
                break
            rows, state, numbers = rows.view(-1, beams)[~state.done].flatten(), state.select(~state.done), numbers[~done]
        steps.select(first[rows] if number == 0 else rows)
        logits_NV = steps.step(state.running.tokens[:, :, number].flatten())
    return [found[text] for text in range(texts)]
