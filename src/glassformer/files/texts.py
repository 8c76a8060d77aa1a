"""Checks of untrusted texts, and a model's tokenizer.json through the optional `tokenizers` package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from glassformer.arguments import as_list
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.files.weight_files import inside

TOKENIZER = "tokenizer.json"
MOST_BYTES = 64_000_000
MOST_CHARACTERS = 1_000_000
OLDER_TOKENIZERS = ("vocab.txt", "vocab.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model")

Text: TypeAlias = str | tuple[str, str]  # a tuple is a pair of texts, for models with segments
Context: TypeAlias = Literal["row", "word"]  # whether a word is tagged in its row or alone
Result = TypeVar("Result")


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a model folder, with its own truncation and padding disabled."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise GlassformerError(
            "text needs the tokenizers package: pip install 'glassformer[text]', or give tokens=… as ids."
        ) from None
    if not (folder / TOKENIZER).exists():
        older = next((name for name in OLDER_TOKENIZERS if (folder / name).exists()), None)
        hint = f" {older} alone is not supported: convert it to {TOKENIZER} with transformers' AutoTokenizer." if older else ""
        raise GlassformerError(
            f"{TOKENIZER} is missing in {path_text(folder)}: text cannot be tokenized.{hint} "
            "Add the file, or give tokens=… as ids."
        )
    path = inside(folder, TOKENIZER, source="the model folder")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise GlassformerError(f"{TOKENIZER} has {size:,} bytes; at most {MOST_BYTES:,} are allowed. It was not read.")
    tokenizer = guarded(f"{TOKENIZER} cannot be used", lambda: Tokenizer.from_file(str(path)), way_out=NOT_THE_FILE)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encodable(text: str) -> bool:
    """Return whether a text has no unpaired surrogates, which are not characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


NOT_THE_FILE = " Use the file that was published with the model."


def guarded(what: str, call: Callable[[], Result], *, way_out: str = "") -> Result:
    """Call the tokenizers package; turn its errors, and its panics, which are not `Exception`s, into one line."""
    try:
        return call()
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise GlassformerError(f"{what}: {shown(str(error) or type(error).__name__, limit=160)}.{way_out}") from None


def cut_into_tokens(tokenizer: Any, one: Text, name: str, *, most: int | None = None) -> Any:
    """Tokenize a text, with special tokens; `most` truncates it to that many tokens (special tokens are kept)."""

    def call() -> Any:
        if most is not None:
            tokenizer.enable_truncation(max_length=most)
        return tokenizer.encode(one) if isinstance(one, str) else tokenizer.encode(*one)

    try:
        return guarded(f"{name} cannot be tokenized", call)
    finally:
        tokenizer.no_truncation()


def checked_texts(text: Text | Sequence[Text]) -> list[Text]:
    """Return one text or several as a checked list."""
    texts: list[Text] = [text] if isinstance(text, str | tuple) else as_list(text)
    if not texts:
        raise GlassformerError("text is an empty list: give one text or more.")
    for number, one in enumerate(texts):
        check_text(one, f"text {number}")
    return texts


def check_text(one: Any, name: str) -> None:
    """Refuse what is not a text or a pair of texts, is too long, or contains lone surrogates."""
    parts = one if isinstance(one, tuple) else (one,)
    if not all(isinstance(part, str) for part in parts) or len(parts) > 2 or not parts:
        raise GlassformerError(f"{name} must be a text or a pair of texts, found {shown(one)}.")
    for part in parts:
        if len(part) > MOST_CHARACTERS:
            raise GlassformerError(f"{name} has {len(part):,} characters; at most {MOST_CHARACTERS:,} are allowed.")
        try:
            part.encode("utf-8")
        except UnicodeEncodeError as error:
            letter = ord(part[error.start])
            raise GlassformerError(f"{name} has an invalid character (U+{letter:04X}) at position {error.start}.") from None


def check_vocabulary(tokenizer: Any, encoding: Any, name: str, vocab: int | None) -> None:
    """Refuse a token without a row in the model's embedding table."""
    highest = max(encoding.ids, default=0)
    if vocab is not None and highest >= vocab:
        word = tokenizer.id_to_token(highest) or ""
        raise GlassformerError(
            f'{name}: token "{shown(word)}" has id {highest}, but the ids of this model are 0 to {vocab - 1:,}. '
            f"{TOKENIZER} ({tokenizer.get_vocab_size():,} tokens) belongs to another model."
        )
