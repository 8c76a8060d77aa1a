"""The signs, commands and words of arithmetic, each with its sign in the grammar; read from vocabulary.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

_DATA = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))


def _spelt(table: Mapping[str, str]) -> dict[str, str]:
    """Return every spelling with its sign in the grammar."""
    return {spelling: sign for sign, spellings in table.items() for spelling in spellings.split()}


def _words(name: str) -> frozenset[str]:
    return frozenset(_DATA["words"][name].split())


OPERATORS, RELATIONS, BRACKETS = (_spelt(_DATA[name]) for name in ("operators", "relations", "brackets"))
FUNCTIONS, GREEK = _spelt(_DATA["functions"]), _spelt(_DATA["greek"])


def function_called(word: str) -> str:
    """Return the function that a word names, ignoring case; but `LN` is LayerNorm, and `ln` the logarithm."""
    return "layernorm" if word == "LN" else FUNCTIONS.get(word.lower(), "")


WORD_OPERATORS, WORD_RELATIONS = _spelt(_DATA["word_operators"]), _spelt(_DATA["word_relations"])
OTHER_RELATIONS = "<>≤≥≠≪≫∝∉⊂⊆≲≳"  # not checked, but they separate two expressions
OPENING, CLOSING = "([{⌊⌈⟨", ")]}⌋⌉⟩"
PARTNER = dict(zip(CLOSING, OPENING, strict=True))
SUPERSCRIPTS = {**{sign: str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "-", "⁺": "", "ᵀ": "T"}
CONSTANT_SIGNS: dict[str, tuple[Literal["function", "command", "name"], str]] = {
    "√": ("function", "sqrt"), "ℝ": ("command", "reals"), "∑": ("command", "sum"), "∞": ("name", "∞"), "⊤": ("name", "T"),
}  # fmt: skip

TEX_SIGNS = {name: (kind, sign) for kind, table in _DATA["tex"].items() for name, sign in _spelt(table).items()}
TEX_SPACES, TEX_TEXT, TEX_STYLES, TEX_LETTERS = map(_words, ("tex_spaces", "tex_text", "tex_styles", "tex_letters"))
TEX_ACCENTS, TEX_PASSED, TEX_SKIPPED = map(_words, ("tex_accents", "tex_passed", "tex_skipped"))
TEX_FRACTIONS, TEX_SUMS, FORMULAS, MATRICES = map(_words, ("tex_fractions", "tex_sums", "formulas", "matrices"))

BARE_FUNCTIONS, AXES, ABOUT, COUNTED = map(_words, ("bare_functions", "axes", "about", "counted"))
AXIS_KEYS = frozenset(("axis", "dim", "over"))
BYTES: dict[str, tuple[int, int]] = {
    unit: (int(tens), int(twos))
    for powers, units in _DATA["units"].items()
    for unit in units.split()
    for tens, twos in [powers.split()]
}
CONVERTIBLE = _words("convertible") | frozenset(BYTES)
TURNING, AFTER, LINKING, STARTING = map(_words, ("turning", "after", "linking", "starting"))
