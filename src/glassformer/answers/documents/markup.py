"""Replaces markup (links, tags, emphasis, bullets, LaTeX options) by spaces of the same length, and finds claims in code."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_CODE = 2_000  # characters in a line of code

_TAGS = re.compile(
    r"</?[a-z][a-z0-9]{0,12}(?:\s[^<>]{0,1000})?/?>|<!--.{0,1000}?-->|\b(?:https?|ftp|file)://[^\s<>\"']{1,2000}"
    r"|\]\([^()\s]{1,1000}(?:\s\"[^\"]{0,200}\")?\)|\bwww\.[^\s<>]{1,500}|&(?:nbsp|amp|lt|gt|#[0-9]{1,5});",
    re.IGNORECASE | re.DOTALL,
)
_LATEX = re.compile(
    r"(?<!\\)%[^\n]*|\\(?:includegraphics|usepackage|documentclass|begin|geometry|hypersetup|lstset|caption)"
    r"\*?(?:\{[^{}\n]{0,60}\})?\[[^\[\]\n]{0,300}\]"
)
_BULLET = re.compile(
    r"[ \t>]*(?:[-*+•❖❑▪►◦–│┃|][ \t]+|//+[ \t]*|>>>[ \t]|\(?[0-9]{1,3}[.)][ \t]+|\(?[a-zA-Z][.)][ \t]+|#{1,6}[ \t]+)*"
)
_STARS = re.compile(r"\*{1,3}|_{2,3}")
_ENTITIES = {"&times;": "×", "&middot;": "·", "&minus;": "−", "&asymp;": "≈"}


def laid_aside(text: str, *, latex: bool) -> str:
    """Return the text with markup replaced by spaces, so that positions are unchanged."""
    if text.startswith("$ ") and text.count("$") % 2:
        text = " " + text[1:]  # a shell prompt
    if latex:
        text = _LATEX.sub(_blank, text)
    if any(sign in text for sign in ("://", "](", "www.", "<", "&")):
        text = _TAGS.sub(_blank, text)
        for entity, sign in _ENTITIES.items():
            text = text.replace(entity, sign.ljust(len(entity)))
    if not latex and ("*" in text or "__" in text):
        text = _without_emphasis(text)
    return text


def bullet_width(text: str) -> int:
    """Return how many characters of a line are indentation, quote marks, a bullet or a list number."""
    match = _BULLET.match(text)
    return match.end() if match else 0


def _blank(match: re.Match[str]) -> str:
    return "".join("\n" if letter == "\n" else " " for letter in match[0])


def _without_emphasis(text: str) -> str:
    """Replace emphasis such as `**bold**` by spaces; a star with spaces on both sides, or on neither, is a product."""
    letters = list(text)
    opened: list[re.Match[str]] = []
    for mark in _STARS.finditer(text):
        before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
        room_before = before == "" or before.isspace() or before in "([$\"'“—–|"
        room_after = after == "" or after.isspace() or after in ".,;:!?)]$\"'”—–|"
        if room_before and not room_after:
            opened.append(mark)
        elif room_after and not room_before and before != "\\" and opened and opened[-1][0] == mark[0]:
            for one in (opened.pop(), mark):
                letters[one.start() : one.end()] = " " * len(one[0])
    return "".join(letters)


def code_claims(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield pieces of code with an equation, and whether it is a claim (comments and assertions) or an assignment."""
    place = start
    while place < end:
        stop = text.find("\n", place, end)
        stop = end if stop < 0 else stop
        line = text[place : min(stop, place + LONGEST_CODE)]
        code, comment, said = line.partition("#")
        names, _, value = code.partition("=")
        if code.lstrip().startswith("assert ") and "==" in code:
            yield place + code.index("assert") + len("assert"), place + len(code), True
        elif value.strip() and value[0] != "=" and all(name.strip().isidentifier() for name in names.split(",")):
            yield place, place + len(code), False
        if comment and ("=" in said or "≈" in said):
            yield place + len(code) + 1, place + len(line), True
        place = stop + 1
