"""A document cut into sections whose names belong together, with the markup of its prose taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_LINE = 5_000
_STARTS = re.compile(
    r"[ \t]{0,8}(?:#{1,6}[ \t]|\\(?:sub){0,2}section\b|[*_]{0,4}[0-9]{1,2}\.[ \t]"
    r"|[*_#]{0,4}(?:Q|Question|Problem|Exercise|Example|Task|Case|Aufgabe)[ \t.:#]{0,4}[0-9]{1,2}\b)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t>]{0,12}(?:```|~~~)")


# A line that warns of a mistake does not make it.
WARNS = re.compile(
    r"\b(?:not|wrong|wrongly|incorrect|invalid|fails?|mistake|error|would|instead|false|beware)\b|n't\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Section:
    """Numbered lines; code and lines too long to be prose are left out."""

    lines: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def warns(self, number: int) -> bool:
        """Whether a line, or the one before it with words, speaks of a mistake."""
        before = [line for found, line in self.lines if found <= number and line.strip()]
        return any(WARNS.search(line) for line in before[-2:])

    def line_at(self, place: int) -> int:
        """The number of the line at a place of the text."""
        for number, line in self.lines:
            if place <= len(line):
                return number
            place -= len(line) + 1
        return self.lines[-1][0] if self.lines else 1


def sections(text: str) -> Iterator[Section]:
    """The sections of a document: a heading or a question begins a new one."""
    current: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(text.split("\n"), start=1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or len(line) > LONGEST_LINE:
            continue
        if _STARTS.match(line) and current:
            yield Section(tuple(current))
            current = []
        current.append((number, line))
    if current:
        yield Section(tuple(current))
