"""A trap: a formula that fits and means something else; what each says is data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from glassformer.algebra.formulas.form import Changes
from glassformer.algebra.formulas.writing import written
from glassformer.expressions.tree import Node

_DATA: dict[str, dict[str, str]] = tomllib.loads(files(__package__).joinpath("traps.toml").read_text(encoding="utf-8"))

# Code -> what it is, in one line: the list that the docs and the tests go by.
TRAPS = {code: texts["what"] for code, texts in _DATA.items()}


@dataclass(frozen=True)
class Trap:
    """What was written and what it means; `changes` are the places to replace, `about` the scores it is about."""

    code: str
    sentence: str
    changes: Changes | None = None
    about: object = None
    claim: bool = False  # not the formula is wrong, but what was said of it


def trap(code: str, changes: Changes | None, about: Node | None = None, form: str = "sentence", **fields: Any) -> Trap:
    """A trap with its sentence filled in; a field may be a part of the formula, or None for nothing."""
    texts = {name: written(value) if isinstance(value, Node) else value or "" for name, value in fields.items()}
    return Trap(code, " ".join(_DATA[code][form].format(**texts).split()), changes, about)
