"""Numbered and ambiguous keys: x_1, W_Q1, [[head]], the v of an additive alignment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.by_hand.words import KEYS, Kind, key_of, squashed

# x_1, q2, W_Q1, W_1^Q, b_K2: letters and a number, in either order.
NUMBERED = re.compile(r"(x|y|h|q|k|v|wq|wk|wv|bq|bk|bv)(\d{1,3})|(w)(\d{1,3})([qkv])")
HEAD = re.compile(r"heads?\d{1,2}")
NAMES = {"x": "X", "y": "memory", "h": "memory", "q": "Q", "k": "K", "v": "V"}
HEADED = ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V", "Q", "K", "V")


def bare(key: str) -> str:
    """A spelling without its number: `wq` of `W_Q1` and of `W_1^Q`."""
    plain = squashed(key)
    if HEAD.fullmatch(plain):
        return "heads"
    found = NUMBERED.fullmatch(plain)
    return plain if found is None else found[1] or found[3] + found[5]


def gathered(document: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """The document with numbered keys combined into one, and separately given heads combined."""
    if kind not in ("attention", "encoder_layer"):
        return _numbered({str(key): value for key, value in document.items()}, only="x")
    found = _numbered(_heads({_plain_query(str(key), value): value for key, value in document.items()}))
    alignment = next((v for k, v in found.items() if key_of(k, {"alignment": KEYS["attention"]["alignment"]})), "")
    if isinstance(alignment, str) and squashed(alignment) in ("additive", "bahdanau", "concat", "mlp"):
        return _additive(found)
    return found


def _plain_query(key: str, value: Any) -> str:
    """`query` names a token; if it contains numbers, they are the query itself."""
    return "Q" if squashed(key) == "query" and isinstance(value, list | Mapping) else key


def _heads(document: dict[str, Any]) -> dict[str, Any]:
    """`[[head]]` tables, or `[head_1]`, `[head_2]`: the same key of each head makes one list."""
    tables: list[Mapping[str, Any]] = []
    kept: dict[str, Any] = {}
    for key, value in document.items():
        plain = squashed(key)
        if plain in ("head", "heads") and isinstance(value, list) and value and all(isinstance(i, Mapping) for i in value):
            tables += value
        elif HEAD.fullmatch(plain) and isinstance(value, Mapping):
            tables.append(value)
        else:
            kept[key] = value
    keys = {name: KEYS["attention"][name] for name in HEADED}
    for number, table in enumerate(tables):
        for word, value in table.items():
            name = key_of(word, keys)
            if name is None:
                raise GlassformerError(f"head {number + 1} has no '{shown(word)}': it takes {', '.join(HEADED)}.")
            kept.setdefault(name, []).append(value)
    for name in HEADED if tables else ():
        if name in kept and len(kept[name]) != len(tables):
            raise GlassformerError(f"{name} is given for {len(kept[name])} of {len(tables)} heads: every head needs one.")
    return kept


def _numbered(document: dict[str, Any], only: str | None = None) -> dict[str, Any]:
    """x_1, x_2, … as the rows of X; W_Q1, W_Q2, … as the heads of W_Q."""
    kept: dict[str, Any] = {}
    parts: dict[str, dict[int, Any]] = {}
    for key, value in document.items():
        found = NUMBERED.fullmatch(squashed(key))
        if found is None or not isinstance(value, list | Mapping) or (only and found[1] != only):
            kept[key] = value
            continue
        letters, number = (found[1], found[2]) if found[1] else (found[3] + found[5], found[4])
        name = NAMES.get(letters) or f"{letters[0].upper() if letters[0] == 'w' else letters[0]}_{letters[1].upper()}"
        if int(number) in parts.setdefault(name, {}):
            raise GlassformerError(f"'{shown(key)}' is given twice.")
        parts[name][int(number)] = value
    for name, numbered in parts.items():
        numbers = sorted(numbered)
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
            raise GlassformerError(f"{name} is numbered {', '.join(map(str, numbers))}: one is missing.")
        if any(squashed(key) == squashed(name) for key in kept):
            raise GlassformerError(f"{name} is given whole and in numbered parts: write one of them.")
        kept[name] = [numbered[number] for number in numbers]
    return kept


def _additive(document: dict[str, Any]) -> dict[str, Any]:
    """In v · tanh(W_1 q + W_2 k) the letters mean other things: W_1 is not a feed-forward matrix, and v is not a value."""
    plain = {key: squashed(key) for key in document}
    direct = not {"x", "inputs", "embeddings"} & set(plain.values())
    first, second = ("w1", "wq") if direct else ("w1", ""), ("w2", "ua", "u", "wk") if direct else ("w2", "ua", "u")
    has_second = bool(set(second) & set(plain.values()))
    renamed: dict[str, Any] = {}
    for key, value in document.items():
        vector = isinstance(value, list) and bool(value) and not isinstance(value[0], list)
        lower = key == "v" and vector and ("V" in document or "va" not in plain.values())
        if lower or (plain[key] in ("wv", "va", "wva") and vector):
            renamed["v_a"] = value
        elif plain[key] in first or (plain[key] in ("wa", "w") and has_second):
            renamed["W_a1"] = value
        elif plain[key] in second:
            renamed["W_a2"] = value
        elif plain[key] in ("b", "ba", "b1"):
            renamed["b_a"] = value
        else:
            renamed[key] = value
    return renamed
