"""Which names a formula means: `QK^T` is Q times K^T where Q and K are known, `head_1` is a `head_i`, `Softmax` a function."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest

from glassformer.answers.shapes.nodes import key_of
from glassformer.answers.shapes.scripts import Token

POINTWISE = frozenset("relu gelu silu tanh sigmoid exp log dropout abs layernorm rmsnorm batchnorm norm".split())
REDUCTIONS = frozenset("mean sum max min var std".split())
FUNCTIONS = {
    **{word: word for word in (*POINTWISE, *REDUCTIONS, "softmax", "sqrt", "concat", "hstack", "vstack", "transpose")},
    **{"swish": "silu", "sigma": "sigmoid", "ln": "log", "drop": "dropout", "concatenate": "concat", "cat": "concat"},
    **{"attention": "Attention", "attn": "Attention", "selfattention": "Attention", "scaleddotproductattention": "Attention"},
    **{"multihead": "MultiHead", "mha": "MultiHead", "multiheadattention": "MultiHead"},
}
EXACT = {"LN": "layernorm"}  # where a capital makes the difference: ln is the logarithm
SHOWN = {"relu": "ReLU", "gelu": "GELU", "layernorm": "LayerNorm", "rmsnorm": "RMSNorm", "batchnorm": "BatchNorm"}

RUNNING = frozenset("ijhlsnm")  # index letters that run: head_i stands for head_1, head_2, …
LONGEST_RUN = 24


def function_called(word: str) -> str | None:
    """The function that a word names, whatever its capitals."""
    return EXACT.get(word) or FUNCTIONS.get(word.lower())


class Running:
    """Keys that can be asked for by any index: `head_i` answers for `head_1` and `head_h`."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.keys: set[str] = set()
        self._open: dict[tuple[str, ...], str] = {}  # the base and the indexes that stay -> the key
        for key in keys:
            self.add(key)

    def add(self, key: str) -> None:
        self.keys.add(key)
        base, *indexes = key.split("_")
        for place, index in enumerate(indexes):
            if index in RUNNING:
                self._open.setdefault((base, *indexes[:place], *indexes[place + 1 :]), key)

    def find(self, key: str) -> str | None:
        """The key that is meant: itself, or the one with a running index."""
        if key in self.keys:
            return key
        base, *indexes = key.split("_")
        for place, index in enumerate(indexes):
            if index.isdecimal() or index in RUNNING or re.fullmatch("[A-Z]", index):
                found = self._open.get((base, *indexes[:place], *indexes[place + 1 :]))
                if found is not None:
                    return found
        return None


@dataclass(frozen=True)
class Known:
    """The names that have a shape or a definition, and the functions that the formula itself defines."""

    names: Running
    own_functions: frozenset[str] = frozenset()

    def has(self, base: str, indexes: tuple[str, ...] = ()) -> bool:
        return self.names.find(key_of(base, indexes)) is not None


def resolved(line: list[Token], known: Known) -> list[Token]:
    """The tokens with every name that is several names written together taken apart, and functions marked."""
    found: list[Token] = []
    index: Token | None = None  # a power that is part of the name before it
    for token, after in zip_longest(line, line[1:]):
        if token.kind != "name":
            found += [token] if token is not index else []
            continue
        if after is not None and after.kind == "power" and _is_index(token, after, known):
            index = after
            token = replace(token, indexes=(*token.indexes, after.text.removeprefix("^")))
        called = after is not None and after.kind in "({"
        pieces = taken_apart(token.text, token.indexes, known, loose=token.loose, called=called)
        for base, indexes in pieces or [(token.text, token.indexes)]:
            found.append(replace(token, text=base, indexes=indexes, loose=False))
        if called and not known.has(found[-1].text, found[-1].indexes) and is_function(found[-1].text, known):
            found[-1] = replace(found[-1], kind="function")
    return found


def _is_index(token: Token, power: Token, known: Known) -> bool:
    """`W^1`, where W_1 is known and W is not."""
    index = power.text.removeprefix("^")
    return not known.has(token.text, token.indexes) and known.has(token.text, (*token.indexes, index))


def is_function(word: str, known: Known) -> bool:
    return word in known.own_functions or function_called(word) is not None


Pieces = list[tuple[str, tuple[str, ...]]]


def taken_apart(letters: str, indexes: tuple[str, ...], known: Known, *, loose: bool, called: bool) -> Pieces | None:
    """`XW` with index Q as X, W_Q; and `W_QX`, where the index was written without braces, as W_Q, X."""
    pieces = _letters_apart(letters, indexes, known, called=called)
    if pieces or not (loose and indexes) or len(indexes[-1]) > LONGEST_RUN:
        return pieces
    *before, last = indexes
    for cut in range(len(last) - 1, 0, -1):
        rest = re.fullmatch("([^0-9]+)([0-9]*)", last[cut:])
        first = _letters_apart(letters, (*before, last[:cut]), known, called=False) if rest else None
        if rest and first:
            second = _letters_apart(rest[1], (rest[2],) if rest[2] else (), known, called=called)
            if second:
                return first + second
    return None


def _letters_apart(letters: str, indexes: tuple[str, ...], known: Known, *, called: bool) -> Pieces | None:
    """The fewest known names that the letters are made of, the indexes hanging on the last."""
    if len(letters) > LONGEST_RUN:
        return None
    best: list[Pieces | None] = [None] * len(letters)
    for start in reversed(range(len(letters))):
        last = letters[start:]
        if known.has(last, indexes) or (called and is_function(last, known)):
            best[start] = [(last, indexes)]
            continue
        for end in range(start + 1, len(letters)):
            rest = best[end]
            if rest and known.has(letters[start:end]):
                candidate: Pieces = [(letters[start:end], ()), *rest]
                if best[start] is None or len(candidate) < len(best[start] or []):
                    best[start] = candidate
    return best[0]
