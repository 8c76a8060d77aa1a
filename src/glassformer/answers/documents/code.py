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

_ASSIGNMENT = re.compile(
    r"[ \t]*(?P<names>[A-Za-z_]\w{0,60}(?:[ \t]*,[ \t]*[A-Za-z_]\w{0,60}){0,8})[ \t]*=(?!=)[ \t]*(?P<value>[^#\n]+)"
)
_ASSERTION = re.compile(r"[ \t]*assert[ \t]+(?P<claim>[^#\n]+)")
_HASH, _SLASHES = re.compile(r"#+"), re.compile(r"//+")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")


class CodeLine(NamedTuple):
    """A stretch of code with an equality in it: an assignment, a comment in prose, an assertion, or something else."""

    kind: Literal["assignment", "comment", "assertion", "other"]
    start: int
    end: int


def code_lines(text: str, start: int, end: int, language: str = "") -> Iterator[CodeLine]:
    """The lines of a code block that hold an equality."""
    sign = _SLASHES if language in SLASHED else _HASH
    place = start
    while place < end:
        stop = text.find("\n", place, end)
        stop = end if stop < 0 else stop
        if "=" in text[place:stop] or "≈" in text[place:stop]:
            yield from _line(text[place : min(stop, place + LONGEST_LINE)], place, sign)
        place = stop + 1


def _line(line: str, start: int, sign: re.Pattern[str]) -> Iterator[CodeLine]:
    bare = _QUOTED.sub(lambda match: " " * len(match[0]), line)
    comment = sign.search(bare)
    code_end = comment.start() if comment else len(bare)
    code = bare[:code_end]
    if "=" in code:
        assertion = _ASSERTION.match(code)
        kind: Literal["assignment", "assertion", "other"] = "other"
        if assertion is not None and "==" in code:
            kind, begin = "assertion", start + assertion.start("claim")
        else:
            begin = start
            kind = "assignment" if _ASSIGNMENT.fullmatch(code.rstrip()) else "other"
        yield CodeLine(kind, begin, start + code_end)
    if comment is not None and code_end < len(line) and ("=" in line[code_end:] or "≈" in line[code_end:]):
        yield CodeLine("comment", start + comment.end(), start + len(line))
