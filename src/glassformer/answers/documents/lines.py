"""The lines of a document with their tokens, in sections that start with a heading or a question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from glassformer.answers.documents.blocks import HEADING
from glassformer.answers.documents.markup import bullet_width, laid_aside
from glassformer.answers.documents.statements import read_tokens
from glassformer.expressions import Token

LONGEST_LINE = 5_000
MOST_LINES = 4_000
# A line that warns of a mistake is not an instance of it.
WARNS = frozenset("not wrong wrongly incorrect invalid fail fails mistake error would instead false beware don't cannot".split())


@dataclass(frozen=True)
class Line:
    """One line outside of code: its number, its position, and its section."""

    number: int
    start: int
    part: int
    text: str
    latex: bool

    @cached_property
    def tokens(self) -> list[Token]:
        bare = laid_aside(self.text, latex=self.latex)
        width = bullet_width(bare)
        return read_tokens(" " * width + bare[width:], self.start)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words_in(self.tokens)

    @property
    def warns(self) -> bool:
        return any(word in WARNS for word in self.words)


def words_in(tokens: list[Token]) -> tuple[str, ...]:
    """Return words and names in lower case, including those of remarks; `multi-head` is two words, feed-forward is one."""
    texts = [token.text.lower() for token in tokens if token.kind in ("word", "note", "text", "name", "function")]
    joined = " ".join(texts).replace("feed-forward", "ffn").replace("feed forward", "ffn").replace("feedforward", "ffn")
    return tuple(joined.replace("-", " ").replace("(", " ").replace(")", " ").replace("/", " ").split())


def lines_of(text: str, *, latex: bool) -> list[Line]:
    """Return every line outside of code that is short enough to be prose."""
    found: list[Line] = []
    fenced, part, start = False, 0, 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip(" \t>").startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and line.strip() and len(line) <= LONGEST_LINE:
            part += HEADING.match(line) is not None
            found.append(Line(number, start, part, line, latex))
        if len(found) >= MOST_LINES:
            break
        start += len(line) + 1
    return found
