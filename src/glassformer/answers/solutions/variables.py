"""Shapes of a program's variables, as in `the shape of q is [1, 5, 12, 64]`: confirmed where they go together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.answers.documents import CheckedDocument
from glassformer.answers.solutions.remarks import Remark
from glassformer.answers.solutions.sections import Section, sections

_SAID = re.compile(
    r"(?:\b(?:shape|dimensions?|size)[ \t]+of[ \t*_`$]+(?P<a>[A-Za-z]\w{0,30}?)[*_`$ \t]+(?:is|are|=)|"
    r"(?<![\w.])[*`_]{0,3}(?P<b>[A-Za-z]\w{0,30}?)[*`_]{0,3}(?:\.shape)?[ \t]*[:=]|"
    r"(?<![\w.])[*`_]{0,3}(?P<c>[A-Za-z]\w{0,30}?)[*`_]{0,3}[ \t]+has[ \t]+(?:the[ \t]+)?shape)"
    r"[ \t*`$]*[\[(](?P<sizes>[0-9]{1,6}(?:[ \t]*,[ \t]*[0-9]{1,6}){2,3})[\])]"
)


@dataclass(frozen=True)
class _Variable:
    name: str
    sizes: tuple[int, ...]
    line: int


def consistent_variables(document: CheckedDocument) -> Iterator[Remark]:
    """One remark for each variable whose heads make up the width of the tokens."""
    for section in sections(document.text):
        found = _variables(section)
        wholes = {one.sizes for one in found if len(one.sizes) == 3}
        if len(wholes) == 1:
            yield from _confirmed(found, wholes.pop())


def _variables(section: Section) -> list[_Variable]:
    found = []
    for number, line in section.lines:
        for match in _SAID.finditer(line):
            name = match["a"] or match["b"] or match["c"]
            found.append(_Variable(name, tuple(int(size) for size in match["sizes"].split(",")), number))
    return found


def _confirmed(found: list[_Variable], whole: tuple[int, ...]) -> Iterator[Remark]:
    """`[1, 5, 12, 64]` beside `[1, 5, 768]`, heads before or after the tokens; and the attention matrices of those heads."""
    batch, tokens, width = whole
    heads: set[int] = set()
    for one in found:
        split = _heads_of(one.sizes, whole)
        if split is None:
            continue
        heads.add(split)
        each = width // split
        sentence = f"{one.name}: {split} heads of {each} make {split} × {each} = {width}, the width of the tokens."
        yield Remark(code="heads_confirmed", line=one.line, sentence=sentence, verdict="right")
    for one in found:
        if len(heads) == 1 and one.sizes == (batch, *heads, tokens, tokens) and _heads_of(one.sizes, whole) is None:
            matrix = f"an attention matrix of {tokens} × {tokens}, tokens × tokens"
            sentence = f"{one.name}: each of the {one.sizes[1]} heads has {matrix}."
            yield Remark(code="heads_confirmed", line=one.line, sentence=sentence, verdict="right")


def _heads_of(sizes: tuple[int, ...], whole: tuple[int, ...]) -> int | None:
    batch, tokens, width = whole
    if len(sizes) != 4 or sizes[0] != batch or not sizes[1] or not sizes[2]:
        return None
    for heads, place in ((sizes[2], sizes[1]), (sizes[1], sizes[2])):
        if place == tokens and heads * sizes[3] == width:
            return heads
    return None
