"""Questions about tied weights: how many parameters, or how much memory, an output matrix of its own would take."""

from __future__ import annotations

import re

from glassformer.answers.questions import phrases
from glassformer.answers.questions.phrases import Kind, Precision
from glassformer.answers.questions.question import Question
from glassformer.answers.questions.stated import take_stated

_TIED = r"\b(?:un-?tied|tied|un-?tying|tying|weight[- ]tying|tie)\b"
_SHARED = (
    r"\b(?:shar(?:e|es|ed|ing)|weight[- ]sharing|re-?us(?:e|ing|ed))\b(?=.*\b(?:input and (?:the )?output|output "
    r"(?:and|embeddings?|layer|projection|matrix|softmax))\b)"
)
_SAVES = r"\b(?:sav(?:e|es|ed|ing|ings)|difference|fewer|more|extra|additional|less|reduc(?:e|es|ed|ing|tion))\b"
_ADDS = r"\b(?:adds?|added|costs?)\b"
_BYTES = r"\b(?:memory|storage|space|bytes|disk|footprint|[kmgt]i?b|megabytes|gigabytes)\b"
_WORDS = frozenset(
    """how many much params param parameters parameter does do is are the between and or vs versus with without by of in to if
    we you when weight weights embedding embeddings input output matrix matrices token table tables mlm head decoder softmax
    layer what it would than have has bert's there model count number having vocabulary projection a an number for memory
    storage space bytes megabytes gigabytes kb mb gb mib gib tokens disk footprint size same linear as lm being word from
    using be will""".split()
)


def tying(text: str, asked: str) -> Question | None:
    """`difference between tied and untied`, `how much memory does weight tying save with a vocabulary of 32,000?`"""
    both = re.search(r"\btied\b", text) and re.search(r"\bun-?tied\b", text)
    tied = re.search(_TIED, text) or re.search(_SHARED, text)
    adds = re.search(r"\bun-?ty", text) and re.search(_ADDS, text)
    if not tied or not (both or adds or re.search(_SAVES, text)):
        return None
    precision, rest = _precision(text)
    unit = re.search(r"\b([kmgt]i?b|megabytes|gigabytes)\b", rest)
    measure: Kind = "bytes" if precision or re.search(_BYTES, rest) else "params"
    rest = re.sub(_ADDS, " ", rest) if adds else rest
    rest = re.sub(_SAVES, " ", re.sub(_SHARED, " ", re.sub(_TIED, " ", rest)))
    stated, rest = take_stated(rest)
    if any(word not in _WORDS for word in re.findall(r"[^\s,.:;()|?!]+", rest)):
        return None
    return Question("tying", None, one_layer=False, one_head=False, text=asked, measure=measure, precision=precision,
        unit=unit[1] if unit else "", stated=stated)  # fmt: skip


def _precision(text: str) -> tuple[Precision | None, str]:
    for name, said in phrases.PRECISIONS.items():
        if found := re.search(rf"\b(?:(?:in|at|with|using|as) )?(?:{said})\b", text):
            return name, f"{text[: found.start()]} {text[found.end() :]}"
    return None, text
