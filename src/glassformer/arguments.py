"""Checks of arguments from Python callers: booleans, whole numbers, choices, strings, paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError, nearest, shown

LONGEST_PATH = 4096  # bytes; no common system takes more


def yes_no(name: str, value: Any) -> bool:
    """Return a boolean; 0, 1 and NumPy booleans are accepted. Strings are refused, since bool("no") is True."""
    if isinstance(value, bool) or (isinstance(value, Integral) and value in (0, 1)) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} must be True or False.")


def is_whole(value: Any) -> bool:
    """Whether a value is an integer (Python or NumPy), not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a real number (Python or NumPy), not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def as_list(value: Any) -> list[Any]:
    """Return the items of an iterable, or a list with the value itself."""
    try:
        return list(value)
    except TypeError:
        return [value]


def in_order(value: Any) -> bool:
    """Whether a value is a sequence (but not a string) or a one-dimensional array."""
    return (isinstance(value, Sequence) and not isinstance(value, str | bytes)) or getattr(value, "ndim", None) == 1


def require(kind: type, value: Any, wanted: str) -> None:
    """Refuse a value of another type; the message starts with `wanted`, which says what to give."""
    if not isinstance(value, kind):
        found = shown(value) if isinstance(value, str | int | float | None) else shown(type(value).__name__)
        raise GlassformerError(f"{wanted}, found {found}.")


def whole(name: str, value: Any, *, least: int = 0, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        to = "" if most is None else f" to {most:,}"
        raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} must be a whole number from {least:,}{to}.")
    return int(value)


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a string that is one of the known ones."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        near = nearest(value, words) if isinstance(value, str) else ""
        raise GlassformerError(f"{name}={shown(value)} is not known.{near} One of {', '.join(words)}.")
    return value


def text(name: str, value: Any) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise GlassformerError(
            f"{name}={shown(value)} is not allowed: {name} must be a string, found {shown(type(value).__name__)}."
        )
    return value


def words(name: str, value: Any) -> list[str]:
    """Words: in one text with commas between them, or one by one."""
    given = value.split(",") if isinstance(value, str) else value
    if not in_order(given) or not all(isinstance(word, str) for word in given):
        raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} is words, such as 'one,two' or ['one', 'two'].")
    return [word.strip() for word in given if word.strip()]


def path(name: str, value: Any) -> Path:
    """Return a path. An empty one is refused: it would mean the current folder."""
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(found, str) or not found.strip() or not _is_valid(found):
        given = value if found is None else found
        raise GlassformerError(f"{name}={shown(given)} is not allowed: {name} must be a path, such as 'folder/name' or Path(…).")
    return Path(found)


def _is_valid(name: str) -> bool:
    """Whether a file can have this name."""
    try:
        return "\0" not in name and len(os.fsencode(name)) <= LONGEST_PATH
    except UnicodeEncodeError:
        return False
