"""What a caller in Python hands in, checked at the door: a yes or no, a whole number, one of a few words, a text, a path."""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from glassformer.spec.errors import GlassformerError, nearest, shown

LONGEST_PATH = 4096  # bytes; no common system takes more


def yes_no(name: str, value: Any) -> bool:
    """True or False; also 1 and 0, and NumPy's own. The word 'no' is true to Python, and so it is refused."""
    if isinstance(value, bool) or (isinstance(value, Integral) and value in (0, 1)) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} is True or False.")


def is_whole(value: Any) -> bool:
    """Whether something is a whole number; NumPy's are, and True is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether something is a real number, NumPy's among them."""
    return isinstance(value, Real) and not isinstance(value, bool)


def listing(value: Any) -> list[Any]:
    """What a list holds, or the thing itself where it is none: for a message that names what was found there."""
    try:
        return list(value)
    except TypeError:
        return [value]


def require(kind: type, value: Any, wanted: str) -> None:
    """Refuse what is of another kind: `wanted` says what is, and the way to it."""
    if not isinstance(value, kind):
        found = shown(value) if isinstance(value, str | int | float | None) else shown(type(value).__name__)
        raise GlassformerError(f"{wanted}, found {found}.")


def whole(name: str, value: Any, *, least: int = 0, most: int | None = None) -> int:
    """A whole number from `least` to `most`."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        to = "" if most is None else f" to {most:,}"
        raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} is a whole number from {least:,}{to}.")
    return int(value)


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """One of a few words."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        near = nearest(value, words) if isinstance(value, str) else ""
        raise GlassformerError(f"{name}={shown(value)} is not known.{near} One of {', '.join(words)}.")
    return value


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} is a text, found {shown(type(value).__name__)}.")
    return value


def path(name: str, value: Any) -> Path:
    """A path. An empty one would be the current folder, which nobody means."""
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(found, str) or not found.strip() or not _can_be_named(found):
        given = value if found is None else found
        raise GlassformerError(f"{name}={shown(given)} is not allowed: {name} is a path, such as 'folder/name' or Path(…).")
    return Path(found)


def _can_be_named(name: str) -> bool:
    """Whether a file can have this name at all."""
    try:
        return "\0" not in name and len(os.fsencode(name)) <= LONGEST_PATH
    except UnicodeEncodeError:
        return False
