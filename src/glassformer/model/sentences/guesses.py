"""Masked-token predictions: the most likely tokens for each mask, with their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glassformer.errors import GlassformerError
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.sentences.streams import Window, stop

MASKS = ("[MASK]", "<mask>")  # how tokenizers write it
SHOWN = 5  # number of likely tokens returned

Refused = Callable[[int, GlassformerError], None]


class MaskPrediction(NamedTuple):
    """One mask: the index of its token in the text, and the most likely tokens in its place, most likely first."""

    place: int
    guesses: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        likely = [{"token": token, "probability": value} for token, value in self.guesses.items()]
        return {"place": self.place, "guesses": likely}


def mask_of(tokenizer: Any) -> tuple[str, int]:
    """The mask token of a tokenizer: its text and its id."""
    for letters in MASKS:
        if (number := tokenizer.token_to_id(letters)) is not None:
            return letters, int(number)
    raise GlassformerError(f"the tokenizer has no token for a mask ({' or '.join(MASKS)}): it cannot predict masked tokens.")


def guesses(
    encoder: Encoder, window: Window, tokenizer: Any, name: Callable[[int], str], refused: Refused = stop
) -> Iterator[tuple[int, list[MaskPrediction]]]:
    """Yield each text's number and masks, one text at a time: the logits of many tokens at once would fill the memory."""
    letters, mask = mask_of(tokenizer)
    for i, ids in enumerate(window.ids):
        places = (ids == mask).nonzero().flatten()
        if not len(places):
            said = f"{name(window.numbers[i])} has no {letters}: write it where a token is to be guessed."
            refused(window.numbers[i], GlassformerError(said))
            continue
        segments = None if window.segments is None else window.segments[i][None].to(encoder.here.device)
        with torch.inference_mode():
            asked = places.to(encoder.here.device)
            logits = encoder(ids[None].to(encoder.here.device), segments=segments, predict_at=asked).logits
        rows: Tensor = logits.float().softmax(-1).reshape(len(places), -1)
        best = rows.topk(min(SHOWN, rows.shape[-1]))
        found = [
            MaskPrediction(place, {_letters(tokenizer, token): value for token, value in zip(tokens, values, strict=True)})
            for place, tokens, values in zip(places.tolist(), best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        yield window.numbers[i], found


def _letters(tokenizer: Any, token: int) -> str:
    """The text of a token, or its id if the tokenizer has no text for it."""
    found = tokenizer.id_to_token(token)
    return f"token {token}" if found is None else str(found)
