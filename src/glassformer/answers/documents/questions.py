"""Questions that a document carries: a fenced block `glassformer`, or front matter, with a spec and claimed answers."""

from __future__ import annotations

import re
from typing import NamedTuple

from glassformer.answers.documents.findings import Question
from glassformer.spec.errors import shown

MOST_QUESTIONS = 1_000
LONGEST_LINE = 500
LONGEST_FRONT = 20_000
_SPEC = re.compile(r"spec[ \t]*:[ \t]*(?P<words>[^\n]*)", re.IGNORECASE)
_ANSWER = re.compile(r"(?P<question>[^\n]*[^\s=≈])[ \t]*(?:=|≈)[ \t]*(?P<claim>[^\n=≈]+)")
# The sign between blanks that comes first parts question and answer; what stands after it may be a chain, `2 · 3 + 4 = 10`.
_SPACED = re.compile(r"(?P<question>[^\n]*?[^\s=≈])[ \t]+(?:=|≈)[ \t]+(?P<claim>[^\n]*[^\s=≈])")
_FRONT = re.compile(r"---[ \t]*\n")
_BACK = re.compile(r"^---[ \t]*$", re.MULTILINE)


class Questions(NamedTuple):
    """What a block holds: questions, and the lines that are none."""

    found: list[Question]
    unread: list[tuple[int, str]]


def questions(text: str, line: int) -> Questions:
    """The questions in the lines of a block whose first line is `line` of the document."""
    spec: tuple[str, ...] = ()
    found: list[Question] = []
    unread: list[tuple[int, str]] = []
    for number, raw in enumerate(text.split("\n"), start=line):
        content = raw.strip()
        content = content.removeprefix("- ").strip()
        if not content or content.startswith("#"):
            continue
        words = _SPEC.fullmatch(content)
        if words is not None:
            spec = tuple(words["words"].strip("\"' ").split())
            continue
        answer = (_SPACED.fullmatch(content) or _ANSWER.fullmatch(content)) if len(content) <= LONGEST_LINE else None
        if answer is None or not spec or len(found) >= MOST_QUESTIONS:
            unread.append((number, shown(content)))
        else:
            found.append(Question(number, spec, answer["question"].strip(), answer["claim"].strip()))
    return Questions(found, unread)


def front_matter(text: str) -> tuple[str, int]:
    """What stands between the two lines `---` at the top where it names a spec, and the place where the document goes on."""
    start = _FRONT.match(text)
    end = _BACK.search(text, start.end(), start.end() + LONGEST_FRONT) if start else None
    if start is None or end is None:
        return "", 0
    content = text[start.end() : end.start()].rstrip("\n")
    named = any(_SPEC.fullmatch(line.strip().removeprefix("- ")) for line in content.split("\n"))
    return (content, end.end()) if named else ("", 0)
