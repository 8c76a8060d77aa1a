"""Markup laid aside: links, HTML tags, emphasis, bullets and LaTeX options become blanks of the same length."""

from __future__ import annotations

import re

TAGS = (
    "a|abbr|b|big|blockquote|body|br|button|caption|center|cite|code|col|dd|del|details|div|dl|dt|em|embed|fieldset|figure|font"
    "|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|math|meta|nav|object|ol|option|p"
    "|path|pre|q|s|samp|script|section|select|small|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot"
    "|th|thead|title|tr|tt|u|ul|var|video"
)
_TAG = re.compile(rf"</?(?:{TAGS})(?:\s[^<>]{{0,1000}})?/?>|<!--.{{0,1000}}?-->", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(
    r"\b(?:https?|ftp|file)://[^\s<>\"']{1,2000}|\]\([^()\s]{1,1000}(?:\s\"[^\"]{0,200}\")?\)|\bwww\.[^\s<>]{1,500}"
)
_BULLET = re.compile(
    r"[ \t>]*(?:[-*+•❖❑▪►◦–│┃|][ \t]+|//+[ \t]*|>>>[ \t]|\(?[0-9]{1,3}[.)][ \t]+|\(?[a-zA-Z][.)][ \t]+|#{1,6}[ \t]+)*"
)
_STARS = re.compile(r"\*{1,3}|_{2,3}")
_OPTIONS = re.compile(
    r"\\(?:includegraphics|usepackage|documentclass|begin|geometry|hypersetup|lstset|caption)\*?(?:\{[^{}\n]{0,60}\})?\[[^\[\]\n]{0,300}\]"
)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_ENTITIES = re.compile(r"&(?:nbsp|times|middot|minus|asymp|amp|lt|gt|#[0-9]{1,5});")
_ENTITY_SIGNS = {"&times;": "×", "&middot;": "·", "&minus;": "−", "&asymp;": "≈"}


_FIELD = re.compile(r"(?<![^\s`])[a-z_]{1,12}=\d{1,9}(?= = \d{1,9}x\d)")  # of a spec: `shape of weights bert-base t=5 = 768x768`


def laid_aside(text: str, *, latex: bool) -> str:
    """The text with markup blanked, every character in its old place."""
    if text.startswith("$ ") and text.count("$") % 2:
        text = " " + text[1:]  # the prompt of a shell
    if latex:
        text = _OPTIONS.sub(_blank, _COMMENT.sub(_blank, text))
    text = _FIELD.sub(_blank, text)
    if "://" in text or "](" in text or "www." in text:
        text = _LINK.sub(_blank, text)
    if "<" in text:
        text = _TAG.sub(_blank, text)
    if "&" in text and ";" in text:
        text = _ENTITIES.sub(lambda match: _ENTITY_SIGNS.get(match[0], " ").ljust(len(match[0])), text)
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
