"""Code in a document: what it assigns is remembered, what its comments and assertions claim is judged, nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

PROSE = frozenset(("", "text", "txt", "plain", "plaintext", "math", "latex", "tex", "markdown", "md", "output", "console"))
SLASHED = frozenset(
    "c cpp c++ cs csharp cuda dart go java javascript js jsx kotlin php rust rs scala swift ts tsx typescript".split()
)
LONGEST_LINE = 2_000
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")


class CodeLine(NamedTuple):
    """A stretch of code with an equality in it: an assignment to names, or a claim in a comment or an assertion."""

    kind: Literal["assignment", "claim"]
    start: int
    end: int


def code_lines(text: str, start: int, end: int, language: str = "") -> Iterator[CodeLine]:
    """What the lines of a code block assign and claim."""
    sign = "//" if language in SLASHED else "#"
    place = start
    while place < end:
        stop = text.find("\n", place, end)
        stop = end if stop < 0 else stop
        if "=" in text[place:stop] or "≈" in text[place:stop]:
            yield from _line(text[place : min(stop, place + LONGEST_LINE)], place, sign)
        place = stop + 1


def _line(line: str, start: int, sign: str) -> Iterator[CodeLine]:
    bare = _QUOTED.sub(lambda match: " " * len(match[0]), line)
    code, comment, _ = bare.partition(sign)
    names, _, value = code.partition("=")
    first = code.lstrip().partition(" ")[0]
    if first == "assert" and "==" in code:
        yield CodeLine("claim", start + code.index("assert") + len("assert"), start + len(code))
    elif value.strip("= ") and not value.startswith("=") and all(name.strip().isidentifier() for name in names.split(",")):
        yield CodeLine("assignment", start, start + len(code))
    if comment and ("=" in line[len(code) :] or "≈" in line[len(code) :]):
        yield CodeLine("claim", start + len(code) + len(sign), start + len(line))
