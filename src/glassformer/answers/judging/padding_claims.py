"""A sentence about padding, `… padded to the longest, 9 tokens are padding`: the question that it answers, and its number."""

from __future__ import annotations

import re

from glassformer.answers.questions.padding import padding
from glassformer.answers.questions.rephrasing import plainly

_PAD = r"(?:\[PAD\]|pad|padding)"
_VALUE = r"(?P<value>(?:about |roughly |around |approximately |~ ?|≈ ?)?\d[\d,]*(?:\.\d+)?(?P<percent> ?%| percent)?)"
_OF = r"(?: of (?:the |all |its )*(?:\d+ )?(?:token )?(?:tokens|positions|slots|entries|batch|input))?"
_IS = r"(?:is|are|will be|get|becomes?)"
_CLAIMS = tuple(
    re.compile(rf"(?P<before>.+?)(?:[,:;.]|\bso|\band|\bthen|\bthat) +(?:(?:so|then|and|that|we get|this means)"
        rf" )*{pattern}\s*[.!]?\s*", re.I | re.S)
    for pattern in (
        rf"(?:exactly )?{_VALUE}{_OF}(?: of the)?(?: tokens| positions)? {_IS} (?:just |only )?(?:wasted on"
            rf" )?(?:{_PAD}(?: tokens)?|wasted)",
        rf"(?:the|this|that|our) (?:padded )?batch (?:contains|has|holds|needs|includes|gets) (?:exactly )?{_VALUE}"
            rf" {_PAD} (?:tokens|positions|symbols)",
        rf"(?:there (?:are|will be)|(?:we|you) (?:add|need|get|insert|have)|it (?:adds|needs|takes)) (?:exactly |a"
            rf" total of )?{_VALUE} {_PAD} (?:tokens|positions|symbols)(?: in total)?",
        rf"{_VALUE} {_PAD} (?:tokens|positions|symbols) (?:are|have to be|must be|need to be|get)(?: (?:added|needed"
            rf"|inserted|required|used))(?: in total)?",
        rf"the (?:total )?number of {_PAD} (?:tokens|positions) is {_VALUE}",
        rf"the (?:share|fraction|percentage|proportion) of {_PAD}(?: tokens)? is {_VALUE}",
    )
)  # fmt: skip
_BATCH_WITH = re.compile(  # `A batch of sentences with 6 and 10 tokens, padded to the longest, has 4 padding tokens`
    rf"(?P<before>.+?),? (?:contains|has|holds|needs|requires|includes|gives|yields|results in|leads to|means"
        rf"|adds) (?:exactly |a total of )?{_VALUE}"
    rf" {_PAD} (?:tokens|positions|symbols)(?: in total)?(?P<tail>,? (?:when|if|once|after)"
        rf" [^.]*\bpad[^.]*)?\s*[.!]?\s*", re.I | re.S,
)  # fmt: skip


def padding_claims(sentence: str) -> list[tuple[str, str]]:
    """Question and claim, where the sentence gives the lengths and says how much of the batch is padding."""
    text = " ".join(sentence.split())
    if "?" in text or not re.search(r"\bpad", text, flags=re.I):
        return []
    for pattern in (*_CLAIMS, _BATCH_WITH):
        if found := pattern.fullmatch(text):
            share = found["percent"] or re.search(
                r"^0?\.\d|\b(?:share|fraction|percentage|proportion) of", found[0][found.end("before") :]
            )
            asks = "what percentage of the positions is padding?" if share else "how many padding tokens are there?"
            tail = found.groupdict().get("tail") or ""
            question = f"{found['before'].rstrip(' ,:;')}{tail}, {asks}"
            if padding(plainly(question), question) is not None:
                return [(question, found["value"])]
    return []
