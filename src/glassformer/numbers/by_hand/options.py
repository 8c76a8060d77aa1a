"""The choices in a problem file, read and checked: scale, heads, temperature, eps, labels and the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.by_hand import words
from glassformer.numbers.by_hand.surd import Surd, parse_surd
from glassformer.numbers.by_hand.words import choice_of, squashed

MOST_HEADS = 64
MOST_POSITIONS = 1024
MINUS_SIGNS = ("-", "−")  # squashing a word drops them
SCALES = {"dk": "d_k", "d": "d_k", "dmodel": "d_model", "none": "none", "no": "none", "off": "none"}


def read_option(name: str, value: Any) -> Any:
    """The value of a choice, in its one form."""
    if name in CHOICES:
        return choice_of(name, value, CHOICES[name])
    return READERS[name](name, value) if name in READERS else value


def whole(name: str, value: Any, least: int = 1, most: int = 1_000_000) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise GlassformerError(f"{name} = {shown(value)} is not allowed: expected a whole number from {least} to {most:,}.")
    return value


def positive(name: str, value: Any, *, zero: bool = False) -> Surd:
    """A positive number (or zero, if `zero`), exactly."""
    found: Surd | None = None
    if isinstance(value, str):
        found = parse_surd(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and (value == 0 or 1e-15 <= value <= 1e15):
        found = Surd.of(Fraction(repr(value)))
    if found is None or float(found) < 0 or (float(found) == 0 and not zero):
        wanted = "from 0" if zero else "above 0"
        raise GlassformerError(f"{name} = {shown(value)} is not allowed: expected a number {wanted}, at most 1e15.")
    return found


def truth(name: str, value: Any) -> bool:
    """true or false."""
    if isinstance(value, bool):
        return value
    if squashed(str(value)) in ("yes", "true", "1", "on"):
        return True
    if squashed(str(value)) in ("no", "false", "0", "off", "none"):
        return False
    raise GlassformerError(f"{name} = {shown(value)} is not allowed: expected true or false.")


def _scale(name: str, value: Any) -> str | Surd:
    """`d_k`, `d_model` or `none` (the root is meant), or the number that the scores are divided by."""
    if isinstance(value, bool):
        return "d_k" if value else "none"
    if isinstance(value, str):
        plain = re.fullmatch("(?:1?(?:√|sqrt))?([a-z]+)", squashed(value)) if value.strip()[:1] not in MINUS_SIGNS else None
        named = SCALES.get(plain[1]) if plain is not None else None
        if named is not None:
            return named
        if parse_surd(value) is None:
            raise GlassformerError(
                f"{name} '{shown(value)}' is not known: d_k, d_model (their roots are meant), none, or the number to divide by."
            )
    return positive(name, value)


def _names(name: str, value: Any) -> tuple[str, ...]:
    parts = value.split() if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str | int) for part in parts) or not 1 <= len(parts) <= 1024:
        raise GlassformerError(f'{name} = {shown(value)}: expected a list of words, as in ["flying", "arrows"].')
    return tuple(shown(str(part), limit=30) for part in parts)


def _query(name: str, value: Any) -> str | int:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise GlassformerError(f"{name} = {shown(value)}: expected the name of a token, or its number, counted from 1.")


def _positions(name: str, value: Any) -> tuple[float, ...] | float:
    """Positions as a list; a single whole number is kept, since its meaning depends on the key."""
    if isinstance(value, list) and value and len(value) <= MOST_POSITIONS:
        return tuple(_position(name, item) for item in value)
    return _position(name, value)


def _position(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e9:
        raise GlassformerError(f"{name}: {shown(value)} is not a position: expected a number from 0.")
    return value


def _pairs(name: str, value: Any) -> tuple[tuple[int, int], ...]:
    """Cells of the position table: `[[2, 1], [3, 0]]`, or one `[2, 1]`."""
    several = [value] if isinstance(value, list) and value and not isinstance(value[0], list) else value
    if not isinstance(several, list) or not 1 <= len(several) <= MOST_POSITIONS:
        raise GlassformerError(f"{name} = {shown(value)}: expected pairs of position and feature, as in [[2, 1], [3, 0]].")
    for pair in several:
        if not isinstance(pair, list) or len(pair) != 2:
            raise GlassformerError(f"{name}: {shown(pair)} is not a pair of position and feature, both counted from 0.")
    return tuple((whole(name, pair[0], 0, 10**9), whole(name, pair[1], 0, 10**6)) for pair in several)


CHOICES: dict[str, words.Choices] = {
    "convention": words.CONVENTIONS,
    "apply": words.APPLIES,
    "alignment": words.ALIGNMENTS,
    "distribution": words.DISTRIBUTIONS,
    "variance": words.VARIANCES,
    "eps_place": words.EPS_PLACES,
    "activation": words.ACTIVATIONS,
    "norm": words.NORM_PLACES,
    "norm_kind": words.NORM_KINDS,
    "layout": words.LAYOUTS,
    "pairs": words.PAIRS,
}

READERS: dict[str, Callable[[str, Any], Any]] = {
    "heads": lambda name, value: whole(name, value, 1, MOST_HEADS),
    "d_k": whole,
    "d_model": whole,
    "feature": lambda name, value: whole(name, value, 0),
    "temperature": positive,
    "base": positive,
    "eps": lambda name, value: positive(name, value, zero=True),
    "scale": _scale,
    "embedding_scale": lambda name, value: value if value in ("none", "sqrt_d_model") else _scale(name, value),
    "causal": truth,
    "residual": truth,
    "tokens": _names,
    "memory_tokens": _names,
    "query": _query,
    "positions": _positions,
    "position": _positions,
    "digits": lambda name, value: whole(name, value, 0, 15),
    "d_v": whole,
    "d_ff": whole,
    "entries": _pairs,
}
