"""The special tokens of a generating model: start and end tokens, and suppressed tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.checkpoints.search_settings import not_implemented, suggested
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.weight_files import inside

FILE = "generation_config.json"


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The special tokens of a model, and the suppressed tokens."""

    ends: tuple[int, ...] = ()  # tokens that end a text
    padding: int = 0
    banned: tuple[int, ...] = ()  # never chosen
    banned_first: tuple[int, ...] = ()  # never chosen as the first token
    first: int | None = None  # always chosen first
    last: int | None = None  # always chosen as the last token
    start: tuple[int, ...] = ()  # start token of the decoder of an encoder-decoder
    not_applied: tuple[str, ...] = ()  # keys of the file that are not implemented
    suggested: Mapping[str, Any] = field(default_factory=dict)  # the search that the file asks for, as our options


def read_tokens(folder: Path, config: Mapping[str, Any], vocab: int) -> Tokens:
    """The special tokens of a model folder, from generation_config.json and, for missing keys, from config.json."""
    given = read_document(inside(folder, FILE, source="the model folder")) if (folder / FILE).is_file() else {}
    said = {**{key: value for key, value in config.items() if value is not None}}
    said |= {key: value for key, value in given.items() if value is not None}

    def ids(key: str) -> tuple[int, ...]:
        value = said.get(key)
        value = value if isinstance(value, list) else [] if value is None else [value]
        wrong = [one for one in value if type(one) is not int or not 0 <= one < vocab]
        if wrong:
            raise GlassformerError(
                f"{key} = {shown(wrong[0])} is not allowed: it must be a token of the vocabulary, 0 to {vocab - 1}."
            )
        return tuple(value)

    def one(key: str) -> int | None:
        found = ids(key)
        return found[-1] if found else None

    words = said.get("bad_words_ids")
    words = words if isinstance(words, list) else []
    single = tuple(word[0] for word in words if isinstance(word, list) and len(word) == 1 and type(word[0]) is int)
    ends, padding = ids("eos_token_id"), one("pad_token_id")
    return Tokens(
        ends=ends,
        padding=padding if padding is not None else ends[0] if ends else 0,
        banned=tuple(sorted({*(word for word in single if 0 <= word < vocab), *ids("suppress_tokens")})),
        banned_first=ids("begin_suppress_tokens"),
        first=one("forced_bos_token_id"),
        last=one("forced_eos_token_id"),
        start=tuple(one for one in (one("decoder_start_token_id"),) if one is not None),
        not_applied=not_implemented(said),
        suggested=suggested(said),
    )
