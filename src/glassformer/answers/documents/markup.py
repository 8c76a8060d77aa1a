"""Markup laid aside: links, HTML tags, emphasis, bullets and LaTeX options become blanks of the same length."""

from __future__ import annotations

import re

_TAGS = re.compile(
    r"</?(?:[abipqsu]|h[1-6r]|[bt]r|[dtou]l|d[dt]|li|t[dht]|em|col|del|div|img|ins|kbd|nav|pre|su[bp]|svg|var|code|body|font|form"
    r"|head|html|link|main|mark|math|meta|path|samp|span|abbr|cite|center|embed|iframe|input|label|strong|style|small|script"
    r"|table|tbody|thead|tfoot|title|video|button|caption|details|figure|footer|header|object|option|section|select|strike"
    r"|summary|textarea|fieldset|blockquote)(?:\s[^<>]{0,1000})?/?>|<!--.{0,1000}?-->"
    r"|\b(?:https?|ftp|file)://[^\s<>\"']{1,2000}|\]\([^()\s]{1,1000}(?:\s\"[^\"]{0,200}\")?\)|\bwww\.[^\s<>]{1,500}"
    r"|&(?:nbsp|amp|lt|gt|#[0-9]{1,5});",
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
    """The text with markup blanked, every character in its old place."""
    if text.startswith("$ ") and text.count("$") % 2:
        text = " " + text[1:]  # the prompt of a shell
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
    """How many characters of a line are indentation, quote marks, a bullet or a number in a list."""
    match = _BULLET.match(text)
    return match.end() if match else 0


def _blank(match: re.Match[str]) -> str:
    return "".join("\n" if letter == "\n" else " " for letter in match[0])


def _without_emphasis(text: str) -> str:
    """Blanks stars that lean on one side: `**bold**`; a star with room, or without, on both sides is a product."""
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
