"""How a continuation is chosen: greedy, by beam search or by sampling, how long it may be, and which tokens end it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.arguments import whole, yes_no
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.weight_files import inside

FILE = "generation_config.json"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the caller asked for."""

    max_new_tokens: int = 64
    beams: int = 1
    length_penalty: float = 1.0  # scores of finished beams are divided by length^this
    early_stop: bool = False  # whether a search ends with as many finished beams as it is wide
    temperature: float | None = None  # any of these three asks for sampling
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        whole("max_new_tokens", self.max_new_tokens, least=1)
        whole("beams", self.beams, least=1)
        whole("seed", self.seed, least=0)
        yes_no("early_stop", self.early_stop)
        if self.top_k is not None:
            whole("top_k", self.top_k, least=1)
        if self.temperature is not None and not (_is_number(self.temperature) and 0 < self.temperature < float("inf")):
            raise GlassformerError(f"temperature={shown(self.temperature)} is not allowed: it must be above 0, such as 0.7.")
        if self.top_p is not None and not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise GlassformerError(f"top_p={shown(self.top_p)} is not allowed: it must be above 0 and at most 1, such as 0.9.")
        if not (_is_number(self.length_penalty) and abs(self.length_penalty) < float("inf")):
            raise GlassformerError(f"length_penalty={shown(self.length_penalty)} is not allowed: it must be a number, such as 1.")
        if self.samples and self.beams > 1:
            raise GlassformerError(
                f"beams={self.beams} and sampling exclude each other: leave out beams, or temperature, top_k and top_p."
            )

    @property
    def samples(self) -> bool:
        """Whether tokens are drawn at random."""
        return not (self.temperature is self.top_k is self.top_p is None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The special tokens of a model, and those that its files rule out."""

    ends: tuple[int, ...] = ()  # tokens that end a text
    padding: int = 0
    banned: tuple[int, ...] = ()  # never chosen
    banned_first: tuple[int, ...] = ()  # never chosen as the first token
    first: int | None = None  # always chosen first
    last: int | None = None  # always chosen where no more may follow
    start: tuple[int, ...] = ()  # what a decoder with an encoder begins with
    not_applied: tuple[str, ...] = ()  # keys of the file that ask for what is not done here


# Keys that change what is chosen and are not implemented, with the values that change nothing.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "repetition_penalty": (1.0, 1),
    "encoder_repetition_penalty": (1.0, 1),
    "min_length": (0, 1),
    "min_new_tokens": (0,),
    "exponential_decay_length_penalty": (),
    "sequence_bias": (),
    "constraints": (),
    "force_words_ids": (),
    "diversity_penalty": (0.0, 0),
    "guidance_scale": (1.0, 1),
}


def read_tokens(folder: Path, config: Mapping[str, Any], vocab: int) -> Tokens:
    """The special tokens of a model folder: of generation_config.json, and of config.json where that says nothing."""
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
    ignored = [key for key, neutral in NEUTRAL.items() if said.get(key) is not None and said[key] not in neutral]
    if any(not isinstance(word, list) or len(word) != 1 for word in words):
        ignored.append("bad_words_ids of several tokens")
    ends, padding = ids("eos_token_id"), one("pad_token_id")
    return Tokens(
        ends=ends,
        padding=padding if padding is not None else ends[0] if ends else 0,
        banned=tuple(sorted({*(word for word in single if 0 <= word < vocab), *ids("suppress_tokens")})),
        banned_first=ids("begin_suppress_tokens"),
        first=one("forced_bos_token_id"),
        last=one("forced_eos_token_id"),
        start=tuple(one for one in (one("decoder_start_token_id"),) if one is not None),
        not_applied=tuple(ignored),
    )
