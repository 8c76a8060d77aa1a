"""What is said to come out of numbers that the sentence itself gives: `softmax([1, 2]) = [0.27, 0.73]`."""

from __future__ import annotations

import re
from contextlib import suppress

from glassformer.answers.questions.given_numbers import given_numbers
from glassformer.spec import GlassformerError

LONGEST = 600

_N = r"[-−+]?\d*\.?\d+(?:e[-−+]?\d+)?"
_ROW = rf"\[\s*{_N}(?:\s*[,;\s]\s*{_N})*\s*\]|\(\s*{_N}(?:\s*,\s*{_N})+\s*\)"
_GRID = rf"(?:{_ROW}|\[\s*(?:{_ROW})(?:\s*[,;]\s*(?:{_ROW}))*\s*\]|{_N})"
_COMES_TO = r"(?:=|≈|~=|:|\b(?:is|are|equals?|gives?|yields?|returns?|comes? to|becomes?|turns into)(?: (?:about|roughly))?\b)"
_STATED = re.compile(rf"(?P<what>.*[\])\d].*?)\s*{_COMES_TO}\s*(?P<value>{_GRID})\s*\.?\s*", re.I | re.S)

_TURNS = re.compile(rf"^\s*(?:the )?(\w+) (?:turns|maps|takes|converts|transforms|brings) ({_GRID}) (?:in)?to ", re.I)


def stated_numbers(text: str) -> list[tuple[str, str]]:
    """The question and what is said to come out, where the left side states a whole problem and the right side is numbers."""
    found = _STATED.fullmatch(_TURNS.sub(r"\1 of \2 = ", text).strip()) if len(text) <= LONGEST and "?" not in text else None
    if found is None or not re.search(r"[\[(]", found["what"]):
        return []
    question = f"What is {found['what'].strip()}?"
    with suppress(GlassformerError):
        if given_numbers(question) is not None:
            return [(question, found["value"])]
    return []
