"""Beam search: the most probable continuations of each text are followed together; a text that is done leaves the batch.

The rules are those of transformers' `generate`: of twice as many candidates as there are beams, those that end a text among the
first half are finished, with their sum of log-probabilities divided by length^penalty; the best of the others go on. A text is
done when it has as many finished beams as the search is wide, and the best beam that goes on, with the penalty of its present
length, is no better than the worst of them (with `early_stop`: as soon as it has so many).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.generation.choosing import forced, restrict
from glassformer.model.generation.search import Found, Steps
from glassformer.model.generation.settings import Choice

OUT = -1.0e9  # the score of a beam that is not there


@dataclass
class Beams:
    """The beams of some texts: [text, beam] scores, and the tokens of each, [text, beam, place]."""

    scores: Tensor
    tokens: Tensor

    @classmethod
    def empty(cls, texts: int, beams: int, most: int, device: torch.device) -> Beams:
        return cls(
            torch.full((texts, beams), OUT, dtype=torch.float32, device=device),
            torch.zeros((texts, beams, most), dtype=torch.int64, device=device),
        )

    def best(self, scores: Tensor, tokens: Tensor, count: int) -> tuple[Beams, Tensor]:
        """The best of candidates, and which they are."""
        top, places = scores.topk(count, dim=1)
        return Beams(top, tokens.gather(1, places[:, :, None].expand(-1, -1, tokens.shape[2]))), places

    def select(self, texts: Tensor) -> Beams:
        return Beams(self.scores[texts], self.tokens[texts])


class Search:
    """The search for all texts of a batch."""

    def __init__(self, texts: int, choice: Choice, tokens: Tokens, device: torch.device) -> None:
        self.choice, self.special = choice, tokens
        self.ends = torch.tensor(tokens.ends, dtype=torch.int64, device=device)
        most = choice.max_new_tokens
        self.running = Beams.empty(texts, choice.beams, most, device)
        self.running.scores[:, 0] = 0.0  # all beams of a text are alike at first: one of them is followed
        self.finished = Beams.empty(texts, choice.beams, most, device)
        self.lengths = torch.zeros((texts, choice.beams), dtype=torch.int64, device=device)
        self.numbers = torch.arange(texts, device=device)
        self.found: dict[int, Found] = {}

    def candidates(self, logits_NV: Tensor, number: int) -> tuple[Tensor, Tensor, Tensor]:
        """The best continuations of each text: their scores, the beams that they continue and the tokens that they add."""
        texts, beams = self.running.scores.shape
        vocab = logits_NV.shape[1]
        wide = (1 + max(len(self.special.ends), 1)) * beams
        if (must := forced(self.special, number, self.choice.max_new_tokens)) is not None:
            top_NW = torch.full((len(logits_NV), 1), 0.0, device=logits_NV.device)
            tokens_NW = torch.full_like(top_NW, must, dtype=torch.int64)
        else:
            logs_NV = logits_NV.float().log_softmax(1)
            restrict(logs_NV, self.special, number, self.choice.max_new_tokens)
            top_NW, tokens_NW = logs_NV.topk(min(wide, vocab), dim=1)
        each = top_NW.shape[1]
        sums = (top_NW.view(texts, beams, each) + self.running.scores[:, :, None]).flatten(1)
        top, places = sums.topk(min(wide, sums.shape[1]), dim=1)
        return top, places // each, tokens_NW.view(texts, -1).gather(1, places)

    def advance(self, logits_NV: Tensor, number: int) -> Tensor:
        """Choose the next beams of each text; return which rows go on, in their new order."""
        choice = self.choice
        texts, beams = self.running.scores.shape
        top, origin, added = self.candidates(logits_NV, number)
        tokens = self.running.tokens.gather(1, origin[:, :, None].expand(-1, -1, choice.max_new_tokens))
        tokens[:, :, number] = added
        hits = torch.isin(added, self.ends)
        if number == choice.max_new_tokens - 1:
            hits = torch.ones_like(hits)
        self.finish(top, tokens, hits, number)
        self.running, places = self.running.best(top + hits * OUT, tokens, beams)
        rows = (torch.arange(texts, device=origin.device)[:, None] * beams + origin.gather(1, places)).flatten()
        done = self.done(number)
        if number == choice.max_new_tokens - 1:
            done = torch.ones_like(done)
        if not done.any():
            return rows
        self.leave(done)
        return rows.view(texts, beams)[~done].flatten()

    def finish(self, top: Tensor, tokens: Tensor, hits: Tensor, number: int) -> None:
        """Take over what ends among the best candidates, where it is better than what has ended before."""
        beams = self.choice.beams
        first = torch.arange(top.shape[1], device=top.device) < beams
        scores = top / ((number + 1) ** self.choice.length_penalty) + ~(hits & first) * OUT
        together = torch.cat((self.finished.scores, scores), dim=1)
        lengths = torch.cat((self.lengths, torch.full_like(top, number + 1, dtype=torch.int64)), dim=1)
        self.finished, places = self.finished.best(together, torch.cat((self.finished.tokens, tokens), dim=1), beams)
        self.lengths = lengths.gather(1, places)

    def done(self, number: int) -> Tensor:
        """Whether each text is done."""
        full = (self.finished.scores > OUT / 2).all(1)
        if self.choice.early_stop:
            return full
        best = self.running.scores[:, 0] / ((number + 1) ** self.choice.length_penalty)
        return full & (best <= self.finished.scores.min(1).values)

    def leave(self, done: Tensor) -> None:
        """Write down the best beam of the texts that are done, and go on with the others."""
        texts = done.nonzero()[:, 0]
        best = self.finished.tokens[texts, 0].tolist()
        lengths, scores = self.lengths[texts, 0].tolist(), self.finished.scores[texts, 0].tolist()
        for text, row, length, score in zip(self.numbers[texts].tolist(), best, lengths, scores, strict=True):
            ended = row[length - 1] in self.special.ends
            self.found[text] = Found(row[: length - 1 if ended else length], ended, score)
        kept = (~done).nonzero()[:, 0]
        self.running, self.finished = self.running.select(kept), self.finished.select(kept)
        self.lengths, self.numbers = self.lengths[kept], self.numbers[kept]


def beam_search(steps: Steps, logits_BV: Tensor, choice: Choice, tokens: Tokens) -> list[Found]:
    """The best beam of each text; `steps` has one row for each text, whose logits are given."""
    texts = len(logits_BV)
    search = Search(texts, choice, tokens, logits_BV.device)
    rows = torch.arange(texts, device=logits_BV.device).repeat_interleave(choice.beams)
    logits_NV = logits_BV[rows]
    for number in range(choice.max_new_tokens):
        going = search.advance(logits_NV, number)
        if not len(going):
            break
        steps.select(rows[going] if number == 0 else going)
        logits_NV = steps.step(search.running.tokens[:, :, number].flatten())
    return [search.found[text] for text in range(texts)]
