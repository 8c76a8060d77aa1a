"""The lens: what the head makes of the hidden states at each depth, with the norm that belongs to that depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from glassformer.arguments import whole
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.files.texts import Text
from glassformer.insight.grid import Grid
from glassformer.insight.silencing import finish
from glassformer.insight.targets import given
from glassformer.model.core import Padded
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.spec import MASKED_HEADS, TOKEN_HEADS
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel


class Guess(NamedTuple):
    """A class or a token, and its probability."""

    label: str
    probability: float


class Answer(NamedTuple):
    """What the model would answer at one depth: the best guesses, at one position where the head reads every token."""

    depth: str
    position: int | None
    guesses: tuple[Guess, ...]


@dataclass(frozen=True, repr=False)
class Lens(Viewed):
    """The answers at every depth, from the embeddings to the last layer."""

    model: str
    tokens: tuple[str, ...]
    answers: tuple[Answer, ...]

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<Lens of {self.model}: {len(self.depths)} depths>"

    @property
    def depths(self) -> list[str]:
        """The names of the depths, from the embeddings upward."""
        return list(dict.fromkeys(answer.depth for answer in self.answers))

    @property
    def positions(self) -> list[int | None]:
        """The positions that the head reads; [None] for one answer for the whole input."""
        return list(dict.fromkeys(answer.position for answer in self.answers))

    def to_dict(self) -> dict[str, Any]:
        """Return the answers as a JSON document."""
        answers = [one._asdict() | {"guesses": [guess._asdict() for guess in one.guesses]} for one in self.answers]
        return {"model": self.model, "tokens": self.tokens, "answers": answers}

    def grids(self) -> list[Grid]:
        """Depths, the last on top; in each cell the best guess, or the probability of each class."""
        rows = self.depths[::-1]
        found = {(answer.depth, answer.position): answer.guesses for answer in self.answers}
        title = f"What each layer of {self.model} would answer"
        if self.positions == [None]:
            labels = [guess.label for guess in found[rows[0], None]]
            shares = [{guess.label: guess.probability for guess in found[row, None]} for row in rows]
            values = [[share.get(label, 0.0) for label in labels] for share in shares]
            texts = [[f"{value:.2f}" for value in line] for line in values]
            return [Grid(title, rows, labels, values, "probability", signed=False, texts=texts)]
        columns = [f"{self.tokens[position or 0]}" for position in self.positions]
        best = [[found[row, position][0] for position in self.positions] for row in rows]
        values, texts = [[one.probability for one in line] for line in best], [[one.label for one in line] for line in best]
        return [Grid(title, rows, columns, values, "probability", signed=False, texts=texts)]


def lens(model: LoadedModel, text: Text, *, guesses: int = 5) -> Lens:
    """Read the hidden states of every depth through final norm, pooler and head.

    Where norms stand after the residual sums, what a layer gives is normalised by its own norm already; where they stand before
    the sub-layers, the final norm computes the statistics of each depth itself. Nothing is folded.
    """
    guesses, spec = whole("guesses", guesses, least=1, most=100), model.spec
    if model.encoder.head is None or spec.head == "project":
        raise GlassformerError(
            f"{model.folder.path.name} has no head that answers: name a classifier, tagger or masked-token model."
        )
    with evaluating(every_module(model.encoder)), torch.no_grad():
        read = given(model, text)
        hidden = model.encoder(read.ids, segments=read.segments, return_hidden=True).hidden
        answers: list[Answer] = []
        for depth, x_BTD in zip(depth_names(spec.layers), hidden, strict=True):
            logits = finish(model.encoder, x_BTD, Padded()).logits
            assert logits is not None
            shares = logits[0].float().softmax(-1)
            if spec.head in (*MASKED_HEADS, *TOKEN_HEADS):
                answers += [Answer(depth, place, _best(model, row, guesses)) for place, row in enumerate(shares)]
            else:
                answers.append(Answer(depth, None, _best(model, shares, guesses)))
    return Lens(path_text(model.folder.path), tuple(read.tokens), tuple(answers))


def depth_names(layers: int) -> list[str]:
    """`embeddings`, `layer 0`, `layer 1`, …"""
    return ["embeddings", *(f"layer {number}" for number in range(layers))]


def _best(model: LoadedModel, shares: Tensor, count: int) -> tuple[Guess, ...]:
    top = shares.topk(min(count, shares.shape[0]))
    masked = model.spec.head in MASKED_HEADS
    names = [str(model.tokenizer.id_to_token(i)) if masked else model.labels[i] for i in top.indices.tolist()]
    return tuple(Guess(*one) for one in zip(names, top.values.tolist(), strict=True))
