"""Names in a formula: `W_i^Q` is `W^Q_i`, `head_i` matches `head_1`, `QK` is Q times K, `Softmax` is a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glassformer.errors import GlassformerError, shown
from glassformer.expressions import vocabulary
from glassformer.expressions.limits import NAME_INDEXES, NAME_LETTERS
from glassformer.expressions.scanner import Token

REDUCTIONS = frozenset("mean sum max min var std".split())
JOINS = {"concat": "", "hstack": "1", "vstack": "0"}  # with their default axes
FUNCTIONS = {
    **vocabulary.FUNCTIONS,
    **{word: word for word in (*JOINS, "transpose", "batchnorm", "norm", "dropout")},
    **{"sigma": "sigmoid", "drop": "dropout", "concatenate": "concat", "cat": "concat"},
    **dict.fromkeys(("attention", "attn", "selfattention", "scaleddotproductattention"), "Attention"),
    **dict.fromkeys(("multihead", "mha", "multiheadattention"), "MultiHead"),
}
RUNNING = frozenset("ijhlsnm")  # running indices: head_i stands for head_1, head_2, …


def function_called(word: str) -> str | None:
    """Return the function that a word names, ignoring case; but LN is the norm and ln the logarithm."""
    return "layernorm" if word == "LN" else FUNCTIONS.get(word.lower())


def key_of(text: str) -> str:
    """Return the key by which names are compared: the order of indices does not matter."""
    base, *indexes = text.split("_")
    return "_".join([base, *sorted(indexes)])


class Names:
    """A set of names in which `head_i` also matches `head_1` and `head_h`."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.keys: set[str] = set()
        self._open: dict[tuple[str, ...], str] = {}  # the base and the fixed indices -> the key
        for key in keys:
            self.add(key)

    def add(self, key: str) -> None:
        self.keys.add(key)
        base, *indexes = key.split("_")
        for place, index in enumerate(indexes):
            if index in RUNNING:
                self._open.setdefault((base, *indexes[:place], *indexes[place + 1 :]), key)

    def find(self, text: str) -> str | None:
        """Return the key of a name: the name itself, or the one with a running index."""
        key = key_of(text)
        if key in self.keys:
            return key
        base, *indexes = key.split("_")
        for place, index in enumerate(indexes):
            if index.isdecimal() or index in RUNNING or (len(index) == 1 and index.isupper()):
                found = self._open.get((base, *indexes[:place], *indexes[place + 1 :]))
                if found is not None:
                    return found
        return None


@dataclass(frozen=True)
class Known:
    """Names with a shape or a definition, and the functions that the formula defines."""

    names: Names
    own_functions: frozenset[str] = frozenset()

    def has(self, text: str) -> bool:
        return self.names.find(text) is not None

    def calls(self, text: str) -> bool:
        """Return whether a name before a bracket is a function; its index may name an axis, as in `softmax_rows`."""
        base, _, axis = text.partition("_")
        named = function_called(text) or (function_called(base) if axis in {"", *vocabulary.AXES} else None)
        return text in self.own_functions or named is not None


def resolved(line: Sequence[Token], known: Known) -> list[Token]:
    """Return the tokens with names such as `QK` split into their parts, and functions marked."""
    found: list[Token] = []
    place = 0
    while place < len(line):
        token = line[place]
        place += 1
        if token.kind != "name":
            found.append(token)
            continue
        if token.text.count("_") > NAME_INDEXES:
            raise GlassformerError(f"'{shown(token.text)}' is a name with more than {NAME_INDEXES} indices.")
        following = [(after.kind, after.text) for after in line[place : place + 2]]
        if following[:1] == [("operator", "^")] and following[-1][0] == "number" and not known.has(token.text):
            index = f"{token.text}_{following[-1][1]}"
            if known.has(index):  # W^1, if W_1 is known and W is not
                token, place = token._replace(text=index), place + 2
        called = place < len(line) and line[place].kind == "open" and line[place].text in "({"
        found += _pieces(token, known, called=called)
    return found


def _pieces(token: Token, known: Known, *, called: bool) -> list[Token]:
    """Split `XW_Q` into X and W_Q, and `K'` into K and a transpose if only K is known; split a function from its axis."""
    plain = token.text.rstrip("'")
    primes = len(token.text) - len(plain)
    texts = taken_apart(token.text, known, called=called)
    if texts is None and primes:
        texts = taken_apart(plain, known, called=called) or [plain]
    else:
        texts, primes = texts or [token.text], 0
    pieces = [token._replace(text=text) for text in texts] + primes * [token._replace(kind="prime", text="'")]
    last = pieces[-1]
    if not called or known.has(last.text) or not known.calls(last.text):
        return pieces
    base, _, axis = last.text.partition("_")
    if last.text in known.own_functions or function_called(last.text):
        base, axis = last.text, ""
    function = base if base in known.own_functions else function_called(base) or base
    marked = [last._replace(kind="function", text=function)]
    return [*pieces[:-1], *marked, *([last._replace(kind="sub", text=axis)] if axis else [])]


def taken_apart(text: str, known: Known, *, called: bool) -> list[str] | None:
    """Split `XW_Q` into X and W_Q, and `W_QX` into W_Q and X."""
    base, *indexes = text.split("_")
    pieces = _letters_apart(base, indexes, known, called=called)
    if pieces or not indexes or len(indexes[-1]) > NAME_LETTERS:
        return pieces
    *before, last = indexes
    for cut in range(len(last) - 1, 0, -1):
        letters = last[cut:].rstrip("0123456789")
        digits = last[cut + len(letters) :]
        first = _letters_apart(base, [*before, last[:cut]], known, called=False) if letters.isalpha() else None
        second = _letters_apart(letters, [digits] if digits else [], known, called=called) if first else None
        if first and second:
            return first + second
    return None


def _letters_apart(letters: str, indexes: list[str], known: Known, *, called: bool) -> list[str] | None:
    """Split letters into the fewest known names; the indices belong to the last one."""
    if len(letters) > NAME_LETTERS:
        return None
    best: list[list[str] | None] = [None] * len(letters)
    for start in reversed(range(len(letters))):
        last = "_".join([letters[start:], *indexes])
        if known.has(last) or (called and known.calls(last)):
            best[start] = [last]
            continue
        rests = [(letters[start:end], best[end]) for end in range(start + 1, len(letters))]
        candidates = [[first, *rest] for first, rest in rests if rest and known.has(first)]
        best[start] = min(candidates, key=len, default=None)
    return best[0]
