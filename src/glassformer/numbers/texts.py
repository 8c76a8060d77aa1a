"""Text into tokens: a model's own tokenizer.json, through the optional `tokenizers` package; nothing is cut in silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.weight_files import inside, path_text

TOKENIZER = "tokenizer.json"
MOST_BYTES = 64_000_000
MOST_CHARACTERS = 1_000_000

Text: TypeAlias = str | tuple[str, str]  # a tuple is a pair of texts, for models with segments
Result = TypeVar("Result")


class Batch(NamedTuple):
    """Texts as the program takes them, padded on the right to one length, with the words of each."""

    tokens: Array
    segments: Array
    attend: Array | None  # None where no text is padded
    words: list[list[str]]


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model folder, with its own habits of cutting and padding switched off."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise GlassformerError(
            "text needs the tokenizers package: pip install 'glassformer[text]', or give tokens=… as numbers."
        ) from None
    if not (folder / TOKENIZER).exists():
        raise GlassformerError(
            f"{TOKENIZER} is missing in {path_text(folder)}: text cannot be cut into tokens. "
            "Add the file, or give tokens=… as numbers."
        )
    path = inside(folder, TOKENIZER, source="the model folder")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise GlassformerError(f"{TOKENIZER} has {size:,} bytes; such a file is at most {MOST_BYTES:,}. It was not read.")
    tokenizer = guarded(f"{TOKENIZER} cannot be used", lambda: Tokenizer.from_file(str(path)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def guarded(what: str, call: Callable[[], Result]) -> Result:
    """Call into the tokenizers package; its errors, and its panics, which are no `Exception`, become one line."""
    try:
        return call()
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise GlassformerError(f"{what}: {shown(str(error) or type(error).__name__, limit=160)}.") from None


def encode(tokenizer: Any, text: Text | Sequence[Text], spec: EncoderSpec, *, padding: int = 0, truncate: bool = False) -> Batch:
    """One text or several as a batch. `truncate` cuts what is longer than the model's positions; otherwise that is an error."""
    encodings = []
    for number, one in enumerate(_checked_texts(text)):
        encoding = _encode(tokenizer, one, number)
        if all(encoding.special_tokens_mask):
            alone = (
                f" Its special tokens alone ({' '.join(encoding.tokens)}) run as tokens={encoding.ids}." if encoding.ids else ""
            )
            raise GlassformerError(f"text {number} is empty: it has no token of its own.{alone}")
        if spec.longest is not None and len(encoding.ids) > spec.longest:
            if not truncate:
                raise GlassformerError(
                    f"text {number} has {len(encoding.ids):,} tokens, this model has {spec.longest:,} positions. Split the text, "
                    f"or cut it with truncate=True (drops the last {len(encoding.ids) - spec.longest:,})."
                )
            encoding = _encode(tokenizer, one, number, most=spec.longest)
        _check_vocabulary(tokenizer, encoding, number, spec)
        encodings.append(encoding)
    return _padded(tokenizer, encodings, spec, padding)


def _encode(tokenizer: Any, one: Text, number: int, *, most: int | None = None) -> Any:
    """A text's tokens, special ones included; with `most`, cut to that many (the special ones stay)."""

    def call() -> Any:
        if most is not None:
            tokenizer.enable_truncation(max_length=most)
        return tokenizer.encode(one) if isinstance(one, str) else tokenizer.encode(*one)

    try:
        return guarded(f"text {number} cannot be cut into tokens", call)
    finally:
        tokenizer.no_truncation()


def words_of(tokenizer: Any, tokens: Array) -> list[list[str]]:
    """The word of each token id."""
    return [[tokenizer.id_to_token(int(token)) or f"[{int(token)}]" for token in row] for row in tokens]


def _checked_texts(text: Text | Sequence[Text]) -> list[Text]:
    texts: list[Text] = [text] if isinstance(text, str | tuple) else list(text)
    if not texts:
        raise GlassformerError("text is an empty list: give one text or more.")
    for number, one in enumerate(texts):
        parts = one if isinstance(one, tuple) else (one,)
        if not all(isinstance(part, str) for part in parts) or len(parts) > 2 or not parts:
            raise GlassformerError(f"text {number} must be a text or a pair of texts, found {shown(one)}.")
        for part in parts:
            if len(part) > MOST_CHARACTERS:
                raise GlassformerError(f"text {number} has {len(part):,} characters; at most {MOST_CHARACTERS:,} are read.")
            for position, letter in enumerate(part):
                if "\ud800" <= letter <= "\udfff":
                    raise GlassformerError(
                        f"text {number} has an invalid character (U+{ord(letter):04X}) at position {position}."
                    )
    return texts


def _check_vocabulary(tokenizer: Any, encoding: Any, number: int, spec: EncoderSpec) -> None:
    highest = max(encoding.ids)
    if spec.vocab is not None and highest >= spec.vocab:
        word = encoding.tokens[encoding.ids.index(highest)]
        raise GlassformerError(
            f'text {number}: token "{shown(word)}" is number {highest}, the model has 0 to {spec.vocab - 1:,}. '
            f"{TOKENIZER} ({tokenizer.get_vocab_size():,} tokens) belongs to another model."
        )


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
