"""Questions about BERT's masked tokens and the special tokens around a text."""

from __future__ import annotations

import re
from dataclasses import replace

from glassformer.answers.questions.question import Question
from glassformer.answers.questions.stated import take_stated

_SCENE = frozenset(
    """how many much what which of the are is a an in for by during bert bert's bert-base bert-large mlm masked language
    modeling modelling model lm pre-training pretraining training objective sequence sentence input tokens token words
    wordpieces positions probability percentage percent fraction share chance that any given each will be get gets being if
    there with to from typically usually on average expected number procedure does do add adds added single one pair two
    sentences texts text needed has have used uses and so during task when it chosen 15 its all every see sees receive receives
    including length total long""".split()
)
# What becomes of a token, by the words for it; the first that is found.
FATES: tuple[tuple[str, str], ...] = (
    (
        "mask",
        r"\b(?:replaced|substituted|swapped|changed|turned) (?:by|with|to|into) (?:the |an? )?(?:special )?\[?mask\]?(?: "
        r"tokens?| symbol)?(?!\w)",
    ),
    (
        "random",
        r"\b(?:replaced|substituted|swapped|changed) (?:by|with|to|into) (?:an? |the |some )?random (?:tokens?|words?)"
        r"|\brandomi[sz]ed\b",
    ),
    ("kept", r"\b(?:left|kept|remain|stay|keep)(?: \w+)? (?:unchanged|as (?:they are|it is)|the same|original)\b|\bunchanged\b"),
    (
        "chosen",
        r"\b(?:does|do|will)\s+(?:bert|it|the model|mlm)\s+(?:mask|select|choose|pick|predict)\b(?: out)?"
        r"|\b(?:masked(?: out)?|selected|chosen|picked|predicted|corrupted|hidden)\b(?! language)(?: (?:for|to be) "
        r"(?:prediction|predicted|masking|masked))?",
    ),
)
_SPECIAL = r"\bspecial tokens?\b"
_PAIR = r"\b(?:pair|two (?:sentences|texts)|sentence[- ]pair|pairs)\b"
_ONE = r"\b(?:single|one) (?:sentence|text|sequence|input)\b|\b(?:a|the) (?:sentence|text)\b"
_RATE = r"\b(?:percent(?:age)?|fraction|probability|share|chance|proportion)\b"
_AMONG = r"\b(?:of|among) the (?:chosen|selected|masked)(?: tokens?| positions?| words?)?\b"
_BERT = r"\b(?:bert|mlm|mask(?:ed)? lm|masked language|pre-?training|\[mask\])"


_LENGTHS = (
    r"\b(?:lengths? )?(\d+)(?: (?:tokens|word ?-?pieces|words))?(?: and (\d+))? (?:tokens|word ?-?pieces|sub-?words|words)\b"
)
_HOW_LONG = r"\bhow many (?:input )?tokens\b|\bhow long is\b|\b(?:total )?(?:sequence|input) length\b"
_MARKS = r"\[?\b(?:cls|sep)\b\]?|\bspecial tokens?\b"


def pretraining(text: str, asked: str) -> Question | None:
    """`How many of 512 tokens are replaced by [MASK]?`, `How many special tokens does BERT add to a pair?`"""
    if re.search(_SPECIAL, text) and re.search(r"\badd|\bneed|\bhow many\b", text):
        pair = re.search(_PAIR, text)
        if pair or re.search(_ONE, text):
            rest = re.sub(rf"{_SPECIAL}|{_PAIR}|{_ONE}", " ", text)
            return _question(asked, "pair" if pair else "single") if _known(rest) else None
        return None
    if (lengths := re.search(_LENGTHS, text)) and re.search(_HOW_LONG, text) and (lengths[2] or re.search(_MARKS, text)):
        rest = re.sub(rf"{_MARKS}|{_HOW_LONG}|{_PAIR}|{_ONE}", " ", re.sub(_LENGTHS, " ", text))
        given = tuple((f"text {place}", int(number)) for place, number in enumerate(lengths.groups(), start=1) if number)
        return replace(_question(asked, "pair" if lengths[2] else "single"), given=given) if _known(rest) else None
    if not re.search(_BERT, text) or not re.search(rf"\btokens?\b|\bwords?\b|{_RATE}", text):
        return None
    among = re.search(_AMONG, text)
    rest = re.sub(_AMONG, " ", text)
    fate = next((name for name, pattern in FATES if re.search(pattern, rest)), None)
    if fate is None or (among and fate == "chosen"):
        return None
    stated, rest = take_stated(re.sub(dict(FATES)[fate], " ", rest))
    rest = re.sub(r"\(?\b15 ?(?:%|percent)(?: of (?:the )?(?:tokens|words))?\)?|\[?masks?\]?(?: token)?(?!\w)", " ", rest)
    rate = re.search(_RATE, text)
    if not _known(rest) or (rate is None and "t" not in dict(stated)):
        return None
    return _question(asked, f"{fate}{' among the chosen' if among else ''}", rate="rate" if rate else "", stated=stated)


def _known(text: str) -> bool:
    return all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!%\[\]]+", text))


def _question(asked: str, target: str, *, rate: str = "", stated: tuple[tuple[str, str], ...] = ()) -> Question:
    unit = "percent" if rate and re.search(r"percent|%", asked.lower()) else ""
    return Question("masking", target, one_layer=False, one_head=False, text=asked, among=rate, stated=stated, unit=unit)
