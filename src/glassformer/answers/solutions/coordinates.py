"""Queries, keys and values cut out of given vectors: which coordinates they are, and which were due."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.answers.documents import CheckedDocument
from glassformer.answers.solutions.remarks import Remark
from glassformer.answers.solutions.sections import Section

ROLES = {"q": "queries", "k": "keys", "v": "values"}
PLACES = ("first", "next", "last")
VECTOR = r"\[(?P<v>[ \t]*-?[0-9]{1,6}(?:\.[0-9]{1,6})?(?:[ \t]*,[ \t]*-?[0-9]{1,6}(?:\.[0-9]{1,6})?){1,63}[ \t]*)\]"
END = r"[$ \t.*]*$"
IS = r"[ \t$*]*[:=][ \t$*]*"
WORD = r"(?P<word>[A-Za-z]{2,30})"
_WHOLE = re.compile(rf"[ \t>*+-]*(?:the[ \t]+|embedding of[ \t]+|x_)?['\"*]*{WORD}['\"*]*{IS}{VECTOR}{END}", re.I)
_PART = re.compile(
    r"[ \t>*+-]*[$*]*(?P<role>[QKVqkv]|query|key|value)[ \t]*(?:\(|_\{?|[ \t]of[ \t]|[ \t]for[ \t])"
    rf"[ \t'\"]*{WORD}['\"]*[)}}]*{IS}{VECTOR}{END}",
    re.I,
)
_CUT = re.compile(r"\b(?:parts?|coordinates?|dimensions? (?:for|of) each|extract\w*|split|slices?|components?|entries)\b", re.I)
_PROJECTED = re.compile(r"W[_^]?\{?\(?[QKVqkv]|\bproject(?:ed|ion|ing)\b|\bweight matri", re.I)
_IN_ORDER = re.compile(r"first\b.{0,80}\b(?:next|second|middle|following)\b.{0,80}\b(?:last|final|third|remaining)\b", re.I)
_NAMED = re.compile(r"\b(?:q|quer(?:y|ies))\b.{0,80}\b(?:k|keys?)\b.{0,80}\b(?:v|values?)\b", re.I)

Vector = tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    role: str
    word: str
    values: Vector
    line: int


def other_coordinates(document: CheckedDocument) -> Iterator[Remark]:
    """A remark where two of queries, keys and values are cut out in order for every word, and the third is not."""
    lines = [(number, line) for number, line in enumerate(document.text.split("\n"), start=1) if len(line) <= 1_000]
    wholes: dict[str, Vector] = {}
    parts: list[_Part] = []
    first = 0
    for number, line in lines:
        whole, part = _WHOLE.match(line), _PART.match(line)
        if part is not None and part["word"].lower() in wholes:
            parts.append(_Part(part["role"][0].lower(), part["word"].lower(), _values(part["v"]), number))
        elif whole is not None and whole["word"].lower() not in ("query", "key", "value"):
            if parts:
                yield from _judged(wholes, parts, _between(lines, first, parts[-1].line))
                wholes, parts = {}, []
            first = first if wholes else number
            wholes[whole["word"].lower()] = _values(whole["v"])
    if parts:
        yield from _judged(wholes, parts, _between(lines, first, parts[-1].line))


def _between(lines: list[tuple[int, str]], first: int, last: int) -> str:
    return Section(tuple((number, line) for number, line in lines if first - 6 <= number <= last)).text


def _values(text: str) -> Vector:
    return tuple(f"{float(item):g}" for item in text.split(","))


def _judged(wholes: dict[str, Vector], parts: list[_Part], text: str) -> Iterator[Remark]:
    widths = {len(part.values) for part in parts}
    lengths = {len(wholes[part.word]) for part in parts}
    words = {part.word for part in parts}
    if len(widths) != 1 or len(lengths) != 1 or len(words) < 2 or not _CUT.search(text) or _PROJECTED.search(text):
        return
    width = widths.pop()
    wanted = {(role, word) for role in ROLES for word in words}
    if lengths.pop() != 3 * width or {(part.role, part.word) for part in parts} != wanted:
        return
    wrong = {role: [part for part in parts if part.role == role and part.values != _due(part, wholes, width)] for role in ROLES}
    off = [role for role, found in wrong.items() if found]
    if len(parts) != 3 * len(words) or len(off) != 1:
        return
    (role,) = off
    mine = [part for part in parts if part.role == role]
    explicit = any(_IN_ORDER.search(line) and _NAMED.search(line) for line in text.split("\n"))
    place = list(ROLES).index(role)
    used = " and ".join(_shown(part.values) for part in mine)
    due = " and ".join(_shown(_due(part, wholes, width)) for part in mine)
    sentence = (
        f"The {ROLES[role]} used, {used}, are not the {PLACES[place]} {width} coordinates of the vectors given, "
        f"{due}{_which(mine, wholes, width)}."
    )
    yield Remark(
        code="other_coordinates",
        line=wrong[role][0].line,
        sentence=sentence,
        corrected="; ".join(f"{role.upper()} ({part.word}) = {_shown(_due(part, wholes, width))}" for part in mine),
        verdict="wrong" if explicit else "note",
    )


def _due(part: _Part, wholes: dict[str, Vector], width: int) -> Vector:
    start = list(ROLES).index(part.role) * width
    return wholes[part.word][start : start + width]


def _which(parts: list[_Part], wholes: dict[str, Vector], width: int) -> str:
    """`; they are coordinates 4 to 5`, where there is one place that fits all."""
    starts = [start for start in range(2 * width + 1) if all(wholes[p.word][start : start + width] == p.values for p in parts)]
    return f"; they are coordinates {starts[0] + 1} to {starts[0] + width}" if len(starts) == 1 else ""


def _shown(values: Vector) -> str:
    return f"[{', '.join(values)}]"
