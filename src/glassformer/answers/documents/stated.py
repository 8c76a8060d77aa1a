"""Finds shapes stated in a text: `X has dimensions [768, 6]`, `Q ∈ ℝ^{d × t}`, `K is 64 x 32`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from glassformer.answers.documents.lines import Line
from glassformer.expressions import Token
from glassformer.expressions.fold import matching

KINDS = frozenset("dimension dimensions dimensionality shape shapes size sizes".split())
FILLING = KINDS | frozenset("has have having with of the a an all both each is are will be would".split())
TRANSPOSED = ("_T", "_t", "_top")


class Stated(NamedTuple):
    """A stated shape of a name; a call such as Attention(Q, K, V) has the name `Attention()`."""

    name: str
    sizes: tuple[str, ...]
    line: Line


def stated_shapes(lines: Sequence[Line]) -> Iterator[Stated]:
    """Yield every stated shape."""
    for line in lines:
        if any(sign in line.text for sign in ("[", "(", "×", "x", "\\times", "ℝ", "\\R", "mathb")):
            said = [token for token in line.tokens if token.kind not in ("edge", "row", "cell")]
            partners = matching(said)
            for place, token in enumerate(said):
                found = _sizes(said, place, partners)
                if found is not None:
                    listed = token.kind == "open"
                    for name in _names(said, place, listed=listed, variable=listed and len(found) > 2):
                        yield Stated(name, found, line)


def _sizes(said: Sequence[Token], place: int, partners: dict[int, int]) -> tuple[str, ...] | None:
    """Return the sizes of `[768, 6]`, `768 x 6` or `ℝ^{d × t}` that start here."""
    token = said[place]
    if token.kind == "command" and token.text == "reals":
        end = partners.get(place + 2, place + 2)
        inside = said[place + 3 : end] if end > place + 2 else said[place + 2 : place + 3]
        return _cut(inside, "×")
    if token.kind == "open" and token.text in "[(" and place in partners:
        return _cut(said[place + 1 : partners[place]], ",", fewest=2)
    around = [other.text if 0 <= at < len(said) else "" for at in (place - 1, place + 3) for other in said[at : at + 1]]
    sizes = _cut(said[place : place + 3], "×", fewest=2) if token.kind in ("number", "name") else None
    return sizes if sizes and not any(text in ("×", "·", "*", "/", "+", "-", "^", "=") for text in around) else None


def _cut(tokens: Sequence[Token], sign: str, fewest: int = 1) -> tuple[str, ...] | None:
    """Split tokens into sizes at a sign: numbers, names, or any short expression in a space ℝ."""
    sizes: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == sign:
            sizes.append([])
        else:
            sizes[-1].append(token)
    plain = all(len(size) == 1 and size[0].kind in ("number", "name") for size in sizes)
    if not (fewest <= len(sizes) <= 4 and all(sizes)) or not (plain or fewest == 1):
        return None
    return tuple(_written(size) for size in sizes)


def _written(tokens: Sequence[Token]) -> str:
    return "".join("\\" + token.text if token.kind == "command" else token.text for token in tokens)


def _names(said: Sequence[Token], place: int, *, listed: bool, variable: bool) -> list[str]:
    """Return the names before a shape, across filler words: `the dimensions of K, Q and V are`."""
    at = _across(said, place - 1)
    joins = {token.text.lower() for token in said[at + 1 : place]}
    if at < 0 or not joins:
        return []
    found: list[str] = []
    dots = False
    while at >= 0:
        if said[at].kind == "dots":
            dots, at = True, at - 1
        else:
            name, at = _name(said, at, words=variable)
            if not name:
                break
            found.insert(0, name)
        before = at
        while at >= 0 and (said[at].kind == "comma" or said[at].text.lower() == "and"):
            at -= 1
        if at == before:
            break
    joins |= {token.text.lower() for token in said[_across(said, at) + 1 : at + 1]}
    if KINDS.isdisjoint(joins) and not ("∈" in joins or variable or (not listed and "says" in joins)):
        return []
    return _family(found) if dots else [name for name in found if not name.endswith(TRANSPOSED)]


def _across(said: Sequence[Token], at: int) -> int:
    """Return the last position before the filler words and signs between a name and its shape."""
    while at >= 0 and (said[at].text.lower() in FILLING or said[at].text in ("says", "=", "∈", ":", ".")):
        at -= 1
    return at


def _name(said: Sequence[Token], at: int, *, words: bool) -> tuple[str, int]:
    """Return the name that ends here, and the position before it: X, W_Q, W^Q, or a call Attention(Q, K, V)."""
    token = said[at]
    if token.kind == "close" and token.text == ")":
        start = matching(said[: at + 1]).get(at, 0)
        before = said[start - 1] if start else None
        return (f"{before.text}()", start - 2) if before is not None and before.kind in ("name", "text", "note") else ("", at)
    if token.kind in ("name", "number") and at > 1 and said[at - 1].text == "^" and said[at - 2].kind == "name":
        return f"{said[at - 2].text}_{token.text}", at - 3
    if token.kind == "name" or (words and token.kind == "word"):
        return token.text, at - 1
    return "", at


def _family(names: list[str]) -> list[str]:
    """Return the name with a running index for `Q_1, …, Q_S`."""
    bases = {name.rpartition("_")[0] for name in names}
    return [f"{base}_i" for base in bases] if len(bases) == 1 and "" not in bases else []
