"""What is said to come out of numbers that the sentence itself gives: `softmax([1, 2]) = [0.27, 0.73]`."""

from __future__ import annotations

import re
from contextlib import suppress

from glassformer.answers.judging.sentence_forms import JUDGED
from glassformer.answers.questions.given_numbers import given_numbers
from glassformer.spec import GlassformerError

LONGEST = 600

_N = r"[-−+]?\d*\.?\d+(?:e[-−+]?\d+)?"
_ROW = rf"\[\s*{_N}(?:\s*[,;\s]\s*{_N})*\s*\]|\(\s*{_N}(?:\s*,\s*{_N})+\s*\)"
_GRID = rf"(?:{_ROW}|\[\s*(?:{_ROW})(?:\s*[,;]\s*(?:{_ROW}))*\s*\]|{_N})"
_COMES_TO = r"(?:=|≈|~=|:|\b(?:is|are|equals?|gives?|yields?|returns?|comes? to|becomes?|turns into)(?: (?:about|roughly))?\b)"
_STATED = re.compile(rf"(?P<what>.*[\])\d].*?)\s*{_COMES_TO}\s*(?P<value>{_GRID})\s*\.?\s*", re.I | re.S)

_TURNS = re.compile(rf"^\s*(?:the )?(\w+) (?:turns|maps|takes|converts|transforms|brings) ({_GRID}) (?:in)?to ", re.I)


_LEADS = r"(?:gives?|yields?|leads? to|results? in|means?|produces?|assigns?|leaves?)"
_LED_TO = re.compile(  # `q·k = 24 with d_k = 36 gives a scaled score of 4`
    rf"(?P<given>.*[\])\d].*?) {_LEADS} (?:an? |the )(?P<what>[a-z -]+?)(?: of| =| equal to)?(?: about|"
        rf" roughly)? (?P<value>{_GRID})\s*\.?\s*", re.I | re.S
)  # fmt: skip
_ONE_IS_GIVEN = re.compile(  # `the softmax of [1, 0] gives the first key a weight of 0.73`
    rf"(?P<given>.*[\])\d].*?)(?: {_LEADS} (?:to )?|, (?:then )?)(?P<who>(?:the [a-z0-9]+|each|every) (?:key"
        rf"|token|word|class|label)) (?:(?:gets|receives|has) )?(?:an? )?(?P<what>(?:attention )?weight|probability)"
    rf" (?:of|=)?(?: about| roughly)? ?(?P<value>{_GRID})\s*\.?\s*", re.I | re.S
)  # fmt: skip


def _led_to(text: str) -> list[tuple[str, str]]:
    """What the numbers that are given first are said to lead to."""
    one, led = _ONE_IS_GIVEN.fullmatch(text.strip()), _LED_TO.fullmatch(text.strip())
    if one:
        question, value = f"Given {one['given']}, what {one['what']} does {one['who']} get?", one["value"]
    elif led:
        question, value = f"Given {led['given']}, what is the {led['what']}?", led["value"]
    else:
        return []
    with suppress(GlassformerError):
        if given_numbers(question) is not None:
            return [(question, value)]
    return []


def stated_numbers(text: str) -> list[tuple[str, str]]:
    """The question and what is said to come out, where the left side states a whole problem and the right side is numbers."""
    text = JUDGED.sub("", text)
    if "?" not in text and len(text) <= LONGEST and (led := _led_to(text)):
        return led
    found = _STATED.fullmatch(_TURNS.sub(r"\1 of \2 = ", text).strip()) if len(text) <= LONGEST and "?" not in text else None
    if found is None or not re.search(r"[\[(]|\bscores\b|\blogits\b", found["what"]):
        return []
    question = f"What is {found['what'].strip()}?"
    with suppress(GlassformerError):
        if given_numbers(question) is not None:
            return [(question, found["value"])]
    return []
