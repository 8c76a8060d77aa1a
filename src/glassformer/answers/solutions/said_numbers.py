"""What the words of a document say about a number: heads, layers, a width, a length, or several of these."""

from __future__ import annotations

import re

WORDS = {"two": 2, "four": 4, "six": 6, "eight": 8, "ten": 10, "twelve": 12, "sixteen": 16, "twenty-four": 24, "thirty-two": 32}
NUMBER = r"(?<![\w.,^])(?P<n>[0-9]{1,4}|" + "|".join(WORDS) + r")(?![0-9]|[.,][0-9]|[-\w])"
_HEADS = (
    re.compile(NUMBER + r"[ \t*]{1,4}(?:(?:parallel|attention|self|different|separate)[ \t-]{1,3}){0,3}heads\b", re.I),
    re.compile(r"\bheads?[\w ]{0,40}[:=*$ \t]{1,8}(?:\w{1,3}[ \t]*=[ \t]*)?" + NUMBER, re.I),
    re.compile(r"\bheads?\b[\w ,-]{0,30}\b(?:is|are|equals)[ \t$]{1,4}" + NUMBER, re.I),
    re.compile(r"(?<![\w\\])[hH][ \t]{0,3}=[ \t]{0,3}" + NUMBER),
)
NO_FACTOR = r"(?![ \t$]{0,4}(?:[×·*/^]|\\times|\\cdot))"
_MODEL_WORDS = r"(?:hidden|embedding|d_?\{?(?:\\text\{|\\mathrm\{)?model|model|input|width)"
_HEAD_WIDTH = (
    r"(?:d_\{?[kqv]\}?|d_\{?(?:\\text\{)?head\}?\}?|head[_ -](?:dim|size|width)\w{0,8}"
    r"|(?:each|per|every|one|single|a)[ -](?:\w+[ -])?head\b)"
)
_LENGTH = r"(?:tokens?|words?|positions?|length|sequence|seq\w{0,8}|context|pixels|patches)"


def number_of(text: str) -> int:
    return WORDS[text.lower()] if text.lower() in WORDS else int(text)


def heads_said(text: str) -> set[int]:
    """Every number of heads that a stretch of text states."""
    return {number_of(match["n"]) for pattern in _HEADS for match in pattern.finditer(text)} - {0, 1}


def _number(value: int) -> str:
    digits = f"(?:{value}|{value:,})"
    words = [word for word, meant in WORDS.items() if meant == value]
    return rf"(?<![\w.,^{{])(?:{'|'.join([digits, *words])})(?![0-9]|[.,][0-9])"


def means_something_else(text: str, heads: int) -> bool:
    """Whether the number of heads is the number of something else, too: `8 layers`, `L = 8`, `depth: 8`."""
    number = _number(heads)
    for match in re.finditer(number + r"[ \t*-]{1,4}(?P<words>[A-Za-z-]{2,20}(?:[ \t-]{1,2}[A-Za-z-]{2,20}){0,3})", text, re.I):
        if not any(word.lower().startswith("head") for word in re.split(r"[ \t-]+", match["words"])):
            return True
    for match in re.finditer(r"(?P<name>[A-Za-z_][\w{}\\ ]{0,40}?)[ \t*$]{0,4}[:=][ \t*$]{0,4}" + number + NO_FACTOR, text, re.I):
        if "head" not in match["name"].lower() and match["name"].split()[-1] not in ("h", "H"):
            return True
    layers = r"\b(?:layers?|blocks?|encoders?|decoders?|depth|stack)\b[^.,;\n0-9]{0,20}"
    return re.search(rf"{layers}{number}(?![ \t]*(?:(?:parallel|attention|self)[ -]){{0,3}}heads)", text, re.I) is not None


def is_model_width(text: str, width: int) -> bool:
    """Whether the text calls a number the model's width."""
    number = _number(width)
    return bool(
        re.search(rf"{_MODEL_WORDS}[^.\n]{{0,40}}{number}", text, re.I)
        or re.search(rf"{number}[^.\n=]{{0,20}}{_MODEL_WORDS}", text, re.I)
    )


def is_other_width(text: str, width: int) -> bool:
    """Whether the number may be the width of one head, or a number of tokens."""
    number = _number(width)
    return bool(
        re.search(rf"{_HEAD_WIDTH}[^.\n]{{0,40}}{number}", text, re.I)
        or re.search(rf"{number}[^.\n]{{0,25}}\b(?:per|each|every)[ -]head\b", text, re.I)
        or re.search(rf"{number}[ \t$-]{{1,4}}(?:\w+[ \t-]){{0,2}}{_LENGTH}\b", text, re.I)
        or re.search(rf"\b{_LENGTH}\b[^.\n0-9]{{0,25}}{number}", text, re.I)
        or re.search(rf"(?<![\w\\])[tTnmN][ \t]{{0,3}}=[ \t]{{0,3}}{number}", text)
    )
