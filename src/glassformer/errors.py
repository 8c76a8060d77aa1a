"""GlassformerError: a user error in one line that names the field, the value, the rule and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import accumulate
from typing import Any, NoReturn, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


class GlassformerError(ValueError):
    """A user error, in one line: the field, the value, the rule and the way out."""

    code = 2  # exit status of the command line

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UnknownFieldError(GlassformerError):
    """An unknown field name; `known` are the valid names, and `way_out` says where they are listed."""

    def __init__(self, field: str, known: Iterable[str], way_out: str, *, meant: str | None = None) -> None:
        self.field, self.known, self.way_out, self.meant = field, list(known), way_out, meant
        hint = f" Did you mean '{meant}'?" if meant is not None else nearest(field, self.known)
        super().__init__(f"unknown field '{shown(field)}'.{hint} {way_out}")


def shown(value: object, *, limit: int = 60) -> str:
    """Return an untrusted value as text that is safe to print: one line, no control characters, bounded length."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # an integer with too many digits for repr, or an object whose repr fails
        text = f"<{type(value).__name__}>"
    text = "".join(letter if letter.isprintable() else "?" for letter in text[: limit + 1])
    return text if len(text) <= limit else text[:limit] + "…"


def listed(names: Iterable[str], *, limit: int = 120) -> str:
    """Join names with commas; past `limit` characters, stop and say how many more there are."""
    words = list(names)
    lengths = accumulate(len(word) + 2 for word in words)
    shown_words = [word for word, length in zip(words, lengths, strict=True) if length <= limit + 2]
    more = len(words) - len(shown_words)
    return ", ".join(shown_words) + (f" and {more} more" if more else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for the closest known name, or an empty string if none is close."""
    found = close_to(word, known)
    return f" Did you mean '{found}'?" if found is not None else ""


def close_to(word: str, known: Iterable[str]) -> str | None:
    """Return the known name closest to a word, or None if none is close."""
    lowered = {name.lower(): name for name in known}  # so that GELU matches gelu rather than relu
    close = difflib.get_close_matches(shown(word, limit=80).lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


NO_TORCH = "this needs PyTorch, which is not installed: pip install 'glassformer[torch]'."


def without_torch(name: str) -> Callable[..., NoReturn]:
    """Return what stands for a name that needs torch where torch is missing: a call says what to install."""

    def missing(*_arguments: Any, **_options: Any) -> NoReturn:
        raise GlassformerError(NO_TORCH)

    missing.__name__ = missing.__qualname__ = name
    missing.__doc__ = f"Not available: {NO_TORCH}"
    return missing


def needs_torch(function: Function) -> Function:
    """Decorate a function that imports torch: without torch, it raises one line that says what to install."""

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise GlassformerError(NO_TORCH) from None

    return cast(Function, checked)
