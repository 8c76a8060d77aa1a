"""The target of an analysis on the PyTorch model: a class logit, a masked-token logit, or the difference of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from glassformer.errors import GlassformerError, shown
from glassformer.files.texts import Text
from glassformer.model.encoder import Output
from glassformer.numbers.contributions.quantities import Quantity, class_index, mask_position, token_index
from glassformer.numbers.texts import vocabulary_of
from glassformer.spec import MASKED_HEADS, TOKEN_HEADS

if TYPE_CHECKING:
    from glassformer.model import LoadedModel


class Given(NamedTuple):
    """One text as model input."""

    tokens: list[str]
    words: list[int | None]  # the word of each token; None for special tokens
    ids: Tensor  # [1, t]
    segments: Tensor | None


def given(model: LoadedModel, text: Text) -> Given:
    """Tokenize one text."""
    (window,) = model._windows([text], {}, letters=True)
    device = model.encoder.here.device
    encoding = window.encodings[0]
    segments = window.segments[0][None].to(device) if window.segments is not None else None
    special = encoding.special_tokens_mask
    words = [None if special[i] else word for i, word in enumerate(encoding.word_ids)]
    return Given(list(encoding.tokens), words, window.ids[0][None].long().to(device), segments)


class Target(NamedTuple):
    """Σ sign · logit over one or two classes or tokens, at one position if the head reads every token."""

    label: str
    numbers: tuple[int, ...]
    position: int | None

    def of(self, output: Output) -> Tensor:
        """The number for each row of a batch, [batch]."""
        if output.logits is None:
            raise GlassformerError("this model has no head, so it has no logits.")
        logits = output.logits if self.position is None else output.logits[:, self.position]
        values = [sign * logits[:, number] for number, sign in zip(self.numbers, (1.0, -1.0), strict=False)]
        return torch.stack(values).sum(0)


def target(model: LoadedModel, text: Given, of: str | None) -> Target:
    """The target of `class=A against=B` or `token=WORD` for this text; by default the prediction."""
    spec = model.spec
    if model.encoder.head is None:
        raise GlassformerError(
            f"{model.folder.path.name} has no head, so it has no logits: name a classifier or a masked-token model."
        )
    wanted = Quantity.of(of) if of is not None else None
    masked, by_token = spec.head in MASKED_HEADS, spec.head in (*MASKED_HEADS, *TOKEN_HEADS)
    if wanted is not None and wanted.kind != ("token" if masked else "class"):
        raise GlassformerError(f"{shown(of)} does not fit head={spec.head}: give {'token=WORD' if masked else 'class=LABEL'}.")
    position = _position(wanted, text, masked=masked) if by_token else None
    if wanted is None:
        output = model.encoder(text.ids, segments=text.segments)
        row = output.logits[0] if position is None else output.logits[0, position]
        number = int(row.argmax())
        name = str(model.tokenizer.id_to_token(number)) if masked else model.labels[number]
        names, numbers = [name], [number]
    else:
        names = [name for name in (wanted.what, wanted.against) if name is not None]
        find = vocabulary_of(model.tokenizer) if masked else None
        numbers = [token_index(name, find) if find is not None else class_index(name, model.labels) for name in names]
    label = " − ".join(f"logit of '{shown(name)}'" for name in names)
    return Target(label + (f" at position {position}" if position is not None else ""), tuple(numbers), position)


def _position(wanted: Quantity | None, text: Given, *, masked: bool) -> int:
    place = wanted.cell.get("t") if wanted is not None else None
    if place is None:
        if not masked:
            raise GlassformerError("this head predicts a class for each token: give its position, 'class=LABEL t=POSITION'.")
        return mask_position(text.tokens)
    if not 0 <= place < len(text.tokens):
        raise GlassformerError(f"t={place} is out of range: the text has tokens 0 to {len(text.tokens) - 1}.")
    return place
