"""Traps: formulas that fit but mean something else; their texts are in traps.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from glassformer.algebra.formulas.form import Changes
from glassformer.algebra.formulas.writing import written
from glassformer.expressions.tree import Node

_DATA: dict[str, dict[str, str]] = tomllib.loads(files(__package__).joinpath("traps.toml").read_text(encoding="utf-8"))

# Code -> a one-line description; the docs and tests use this list.
TRAPS = {code: texts["what"] for code, texts in _DATA.items()}


@dataclass(frozen=True)
class Trap:
    """A trap that was found: its code and sentence; `changes` corrects the formula, `about` is the node of the scores."""

    code: str
    sentence: str
    changes: Changes | None = None
    about: object = None
    claim: bool = False  # whether a stated shape is wrong, not the formula


def trap(code: str, changes: Changes | None, about: Node | None = None, form: str = "sentence", **fields: Any) -> Trap:
    """Create a trap and fill in its sentence; a field may be a node of the formula, or None for an empty string."""
    texts = {name: written(value) if isinstance(value, Node) else value or "" for name, value in fields.items()}
    return Trap(code, " ".join(_DATA[code][form].format(**texts).split()), changes, about)
