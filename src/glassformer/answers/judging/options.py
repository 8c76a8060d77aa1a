"""Questions with options, `A) 12 B) 24`: the claim that a letter stands for, and whether another option is the right one."""

from __future__ import annotations

import re

MOST_OPTIONS = 8
LONGEST_OPTION = 60
_LABEL = r"(?:^|(?<=[\s,;:?.]))[-*•]?\s*(?:\(([A-Ha-h])\)|([A-Ha-h])[).:])\s+"
_LETTER = re.compile(r"\s*(?:option |answer |choice )?\(?([A-Ha-h])(?:[).:]|$)\s*(.*)", re.I | re.S)


def options_in(question: str) -> dict[str, str]:
    """The options that stand behind a question, by their letters in order; none where they are not A, B, C …"""
    labels = list(re.finditer(_LABEL, question))
    while labels and (labels[0][1] or labels[0][2]).upper() != "A":
        labels.pop(0)
    letters = [(label[1] or label[2]).upper() for label in labels]
    if not 2 <= len(letters) <= MOST_OPTIONS or letters != [chr(ord("A") + place) for place in range(len(letters))]:
        return {}
    ends = [*(label.start() for label in labels[1:]), len(question)]
    texts = [question[label.end() : end].strip(" \n\t,;-*•`") for label, end in zip(labels, ends, strict=True)]
    return dict(zip(letters, texts, strict=True)) if all(texts) else {}


def stem(question: str) -> str:
    """The question without its options; nothing where something else may be said behind them."""
    options = options_in(question)
    first = next((label for label in re.finditer(_LABEL, question) if (label[1] or label[2]).upper() == "A"), None)
    if not options or first is None or any(len(text) > LONGEST_OPTION or ". " in text for text in options.values()):
        return ""
    return question[: first.start()].strip()


def chosen(claim: str) -> str:
    """The letter of an option that a claim is, `B`, `(b)` or `B) 24`; nothing where it is none."""
    found = _LETTER.fullmatch(claim)
    return found[1].upper() if found and (found[1].isupper() or not found[2]) else ""
