"""What the decoder of an encoder-decoder reads, as words or as ids of the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.numbers import Run

MOST_TOKENS = 512  # of a target


@dataclass(frozen=True)
class Target:
    """What a decoder reads, the token that begins every target included; words without ids get ids from a seed."""

    words: tuple[str, ...]
    ids: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return len(self.ids) or len(self.words)


def read_ids(text: str) -> tuple[int, ...]:
    """`0,17,4` of an address."""
    found = [one.strip() for one in text.split(",")] if text else []
    wrong = next((one for one in found if not one.isdecimal() or len(one) > 9), None)
    if wrong is not None:
        raise GlassformerError(f"ids={shown(text)} is not allowed: write token ids with commas, such as 0,17,4.")
    if len(found) > MOST_TOKENS:
        raise GlassformerError(f"ids has {len(found):,} tokens: the lab traces at most {MOST_TOKENS}.")
    return tuple(int(one) for one in found)


def known_words(run: Run) -> dict[int, str]:
    """The word of each id that a source or a target of words has."""
    found: dict[int, str] = {}
    for name, words in (("tokens", run.tokens), ("target", run.target)):
        value: Any = run.values.get(name)
        if words is not None and value is not None and value.ndim == 2:
            found |= {int(token): word for token, word in zip(value[0], words[0], strict=True) if not word.startswith("#")}
    return found
