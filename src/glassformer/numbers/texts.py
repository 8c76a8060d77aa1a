"""Tokenizing texts into padded batches; nothing is truncated silently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.errors import GlassformerError
from glassformer.files.texts import Text, check_vocabulary, checked_texts, cut_into_tokens
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec

WORD_STARTS = ("", "Ġ", "▁")  # how vocabularies write the first token of a word


class Batch(NamedTuple):
    """Tokenized texts, padded on the right to one length, with the words of each."""

    tokens: Array
    segments: Array
    attend: Array | None  # None if no text is padded
    words: list[list[str]]


def encode(tokenizer: Any, text: Text | Sequence[Text], spec: EncoderSpec, *, padding: int = 0, truncate: bool = False) -> Batch:
    """Tokenize one text or several. Texts longer than the model's positions are truncated with `truncate`, else refused."""
    encodings = []
    for number, one in enumerate(checked_texts(text)):
        encoding = cut_into_tokens(tokenizer, one, f"text {number}")
        if all(encoding.special_tokens_mask):
            special = f" To run them ({' '.join(encoding.tokens)}), give tokens={encoding.ids}." if encoding.ids else ""
            raise GlassformerError(f"text {number} is empty: it has only special tokens.{special}")
        if spec.longest is not None and len(encoding.ids) > spec.longest:
            if not truncate:
                raise GlassformerError(
                    f"text {number} has {len(encoding.ids):,} tokens, but this model has {spec.longest:,} positions. "
                    f"Split the text, or truncate it with truncate=True (drops the last {len(encoding.ids) - spec.longest:,})."
                )
            encoding = cut_into_tokens(tokenizer, one, f"text {number}", most=spec.longest)
        check_vocabulary(tokenizer, encoding, f"text {number}", spec.vocab)
        encodings.append(encoding)
    return _padded(tokenizer, encodings, spec, padding)


def encode_target(tokenizer: Any, text: Text | Sequence[Text], spec: EncoderSpec, special: Tokens) -> Batch:
    """Tokenize the decoder input of an encoder-decoder: the start token, then the words.

    The end token is left out: every position then predicts the next token, as in training.
    """
    if not special.start:
        raise GlassformerError(
            "the model has no decoder_start_token_id, the start token of a target: add it to generation_config.json, or "
            "give target_tokens, which are used unchanged."
        )
    rows = []
    for number, one in enumerate(checked_texts(text)):
        name = f"target {number}"
        encoding = cut_into_tokens(tokenizer, one, name)
        real = zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        ids = [
            *special.start,
            *([special.first] if special.first is not None else []),
            *(id_ for id_, added in real if not added),
        ]
        if spec.longest is not None and len(ids) > spec.longest:
            raise GlassformerError(
                f"{name} has {len(ids):,} tokens including the start token, but the decoder has {spec.longest:,} positions. "
                "Shorten it."
            )
        if encoding.ids:
            check_vocabulary(tokenizer, encoding, name, spec.vocab)
        rows.append(ids)
    shape = (len(rows), max(map(len, rows)))
    tokens, attend = np.full(shape, special.padding), np.zeros(shape, dtype=bool)
    for place, ids in enumerate(rows):
        tokens[place, : len(ids)], attend[place, : len(ids)] = ids, True
    return Batch(tokens, np.zeros(shape, dtype=int), None if attend.all() else attend, words_of(tokenizer, tokens))


def words_of(tokenizer: Any, tokens: Array) -> list[list[str]]:
    """Return the word of each token id."""
    return [[tokenizer.id_to_token(int(token)) or f"[{int(token)}]" for token in row] for row in tokens]


def vocabulary_of(tokenizer: Any) -> Callable[[str], int | None]:
    """Return a function that finds the id of a token, or of a word that is one token."""

    def find(word: str) -> int | None:
        known = (tokenizer.token_to_id(f"{start}{word}") for start in WORD_STARTS)
        return next((int(number) for number in known if number is not None), None)

    return find


def token_named(tokenizer: Any, token: int) -> str:
    """A token as the tokenizer writes it if that is unambiguous, else its number: #17."""
    word = tokenizer.id_to_token(token)
    plain = isinstance(word, str) and word == word.strip() and "=" not in word and vocabulary_of(tokenizer)(word) == token
    return word if plain else f"#{token}"


def _padded(tokenizer: Any, encodings: list[Any], spec: EncoderSpec, padding: int) -> Batch:
    lengths = [len(encoding.ids) for encoding in encodings]
    shape = (len(encodings), max(lengths))
    tokens, segments, attend = np.full(shape, padding), np.zeros(shape, dtype=int), np.zeros(shape, dtype=bool)
    for row, encoding in enumerate(encodings):
        tokens[row, : lengths[row]] = encoding.ids
        if (spec.segments or 0) > 1:
            segments[row, : lengths[row]] = encoding.type_ids
        attend[row, : lengths[row]] = True
    filler = tokenizer.id_to_token(padding) or "[PAD]"
    words = [list(encoding.tokens) + [filler] * (shape[1] - len(encoding.ids)) for encoding in encodings]
    return Batch(tokens, segments, None if attend.all() else attend, words)
