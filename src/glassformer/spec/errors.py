"""The one family of errors: a user's mistake, said in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import accumulate


class GlassformerError(ValueError):
    """A user's mistake: the field, the value, the rule and the way out, in one line."""

    code = 2  # that the command line exits with

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UnknownFieldError(GlassformerError):
    """A word before `=` that is no field; `known`: those that are, and `way_out`: where they are listed."""

    def __init__(self, field: str, known: Iterable[str], way_out: str, *, meant: str | None = None) -> None:
        self.field, self.known, self.way_out, self.meant = field, list(known), way_out, meant
        hint = f" Did you mean '{meant}'?" if meant is not None else nearest(field, self.known)
        super().__init__(f"unknown field '{shown(field)}'.{hint} {way_out}")


def shown(value: object, *, limit: int = 60) -> str:
    """A foreign value made safe to print: one line, no control characters, bounded length."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # a whole number of more digits than Python writes out, or an object that cannot speak for itself
        text = f"<{type(value).__name__}>"
    text = "".join(letter if letter.isprintable() else "?" for letter in text[: limit + 1])
    return text if len(text) <= limit else text[:limit] + "…"


def listed(names: Iterable[str], *, limit: int = 120) -> str:
    """`a, b, c`, or the first of them and how many more there are: a message stays one line that can be read."""
    words = list(names)
    lengths = accumulate(len(word) + 2 for word in words)
    shown_words = [word for word, length in zip(words, lengths, strict=True) if length <= limit + 2]
    more = len(words) - len(shown_words)
    return ", ".join(shown_words) + (f" and {more} more" if more else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or the empty string where nothing is near."""
    found = close_to(word, known)
    return f" Did you mean '{found}'?" if found is not None else ""


def close_to(word: str, known: Iterable[str]) -> str | None:
    """The name that is nearest to a word, where one is near."""
    lowered = {name.lower(): name for name in known}  # GELU is gelu in capitals, not relu with two letters changed
    close = difflib.get_close_matches(shown(word, limit=80).lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[close[0]] if close else None
