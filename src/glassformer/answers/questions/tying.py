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
_WITH_THE_TABLE = (  # `the decoder shares its matrix with the embeddings`
    r"\b(?:shares?|sharing|shared|re-?us(?:es?|ing|ed)|uses?) (?:(?:its|the|their|one|a|same|single|weight"
    r"|weights|matrix|matrices"
    r"|parameters|both) )*(?:(?:with|of|as|between|from) )+(?:(?:the|its|input|token|word|wordpiece) )*embeddings?\b"
    r"(?: matrix| table| layer| weights)?"
)
_OUTPUT = r"\b(?:decoder|output|head|softmax|mlm|lm)\b"
_OF_THE_HEAD = (
    r"\b(?:does|would|will|do) (?:the |this |that |its )?(?:(?:tied|mlm|lm|prediction|output|masked|language|model|modell?ing) )*"
    r"head (?:then |still |itself )*(?:adds?|have|contains?|needs?|contributes?|introduces?|brings?)\b"
)
_SAVES = r"\b(?:sav(?:e|es|ed|ing|ings)|difference|fewer|more|extra|additional|less|reduc(?:e|es|ed|ing|tion))\b"
_ADDS = r"\b(?:adds?|added|costs?)\b"
_BYTES = r"\b(?:memory|storage|space|bytes|disk|footprint|[kmgt]i?b|megabytes|gigabytes)\b"
_WORDS = frozenset(
    """how many much params param parameters parameter does do is are the between and or vs versus with without by of in to if
    we you when weight weights embedding embeddings input output matrix matrices token table tables mlm head decoder softmax
    layer what it would than have has bert's there model count number having vocabulary projection a an number for memory
    storage space bytes megabytes gigabytes kb mb gb mib gib tokens disk footprint size same linear as lm being word from
    using be will its this that masked language because since which where modeling modelling objective saved so are then
    thus compared bert-style bert-like encoder transformer parameters total uses pretraining pre-training""".split()
)


def tying(text: str, asked: str) -> Question | None:
    """`difference between tied and untied`, `how much memory does weight tying save with a vocabulary of 32,000?`"""
    with_the_table = re.search(_WITH_THE_TABLE, text) if re.search(_OUTPUT, text) else None
    if with_the_table and (added := re.search(_OF_THE_HEAD, text)):
        rest = re.sub(_OF_THE_HEAD, " ", re.sub(_WITH_THE_TABLE, " ", text))
        stated, rest = take_stated(rest)
        return _tied_head(asked, stated) if _only_known(rest) and "bias" not in added[0] else None
    if with_the_table and not re.search(r"\bsav|\breduc|\bfewer\b|\bun-?t(?:ied|ying)\b", text):
        return None  # `how many extra parameters does it have?` asks for what is not shared
    text = re.sub(_WITH_THE_TABLE, " tied ", text) if with_the_table else text
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
    if not _only_known(rest):
        return None
    return Question("tying", None, one_layer=False, one_head=False, text=asked, measure=measure, precision=precision,
        unit=unit[1] if unit else "", stated=stated)  # fmt: skip


def _tied_head(asked: str, stated: tuple[tuple[str, str], ...]) -> Question:
    """What an MLM head adds whose output matrix is the token table."""
    tied = (*(pair for pair in stated if pair[0] != "tie"), ("tie", "True"))
    return Question("params", "head.mlm", one_layer=False, one_head=False, text=asked, stated=tied)


def _only_known(text: str) -> bool:
    return all(word in _WORDS for word in re.findall(r"[^\s,.:;()|?!]+", text))


def _precision(text: str) -> tuple[Precision | None, str]:
    for name, said in phrases.PRECISIONS.items():
        if found := re.search(rf"\b(?:(?:in|at|with|using|as) )?(?:{said})\b", text):
            return name, f"{text[: found.start()]} {text[found.end() :]}"
    return None, text
