"""Cleaning raw labels: names of classes, sets of names, numbers."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.files.texts import encodable

LONGEST_LABEL = 200
BETWEEN = "|"  # the names of several classes in one cell
LARGEST = 1e15  # its square is a float32
WAYS: dict[type, str] = {
    float: " If it is a class, write it as text; if it is a number to predict, give task='regress' (--task regress).",
    list: " If several classes apply to a row, give task='multilabel' (--task multilabel).",
}


def is_missing(value: Any) -> bool:
    """Return whether there is no label; spreadsheets and pandas write `nan` for missing values."""
    if isinstance(value, str):
        return value.strip().lower() in ("", "nan")
    return value is None or (isinstance(value, float) and math.isnan(value))


def label_name(value: Any, place: str) -> str | None:
    """Return a label as a name, or None if it is missing."""
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int):
        way = WAYS.get(type(value), "")
        raise GlassformerError(
            f"{place}: a label must be a name or a whole number, found {shown(value)}. Is it the right column?{way}"
        )
    name = unicodedata.normalize("NFC", str(value)).strip()  # composed and decomposed é are the same name
    if len(name) > LONGEST_LABEL or not encodable(name) or not name.isprintable():
        raise GlassformerError(
            f"{place}: '{shown(name)}' is not a valid label: give one line of at most {LONGEST_LABEL} characters."
        )
    return name or None


def class_names(value: Any, place: str) -> tuple[str, ...] | None:
    """Return the names of the classes of a row, sorted, from a list or a text such as `a|b`; None if they are missing.

    An empty list or cell means that no class applies.
    """
    if value is None or isinstance(value, float):
        return None if is_missing(value) else (str(label_name(value, place)),)
    several = value if isinstance(value, list | tuple) else value.split(BETWEEN) if isinstance(value, str) else [value]
    names = [label_name(one, place) for one in several]
    return tuple(sorted({name for name in names if name is not None}))


def number_value(value: Any) -> float | None:
    """Return a label as a number, or None if it is not a finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or (isinstance(value, str) and "_" in value):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) <= LARGEST else None  # excludes NaN
