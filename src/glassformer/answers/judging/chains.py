"""A sentence that reasons, `…, so the encoder sees 197 tokens`: its clauses one by one, each with what was said before it."""

from __future__ import annotations

import re
from collections.abc import Callable

from glassformer.answers.judging.sentence_forms import NUMBER, THINGS, VALUE
from glassformer.answers.questions.encoders import full_name
from glassformer.answers.questions.phrases import MODEL
from glassformer.answers.questions.rephrasing import plainly
from glassformer.answers.questions.stated import Stated, take_stated
from glassformer.spec import GlassformerError

Claims = list[tuple[str, str]]
Read = Callable[[str], Claims]

_LINK = re.compile(
    r"\s*[,;]\s+(?:and\s+)?(?:so|thus|hence|therefore|meaning|giving|implying|i\.e\.,?|that is,?"
    r"|which (?:means|gives|implies|leads to|results in|yields|makes))(?:\s+that)?\s+(?=.*\d|.*\btimes\b)",
    re.I,
)
_COLON = re.compile(r"(?<=[a-z]):\s+(?=[A-Za-z])")
_SUBJECT = re.compile(r"(?P<it>.+?)(?::| (?:has|have|is|are|consists? of|uses?|contains?|needs?)\b)")
_LAYER = re.compile(
    r"(?P<it>(?:the |each |an? )?(?:ffn|feed-?forward|mlp|attention|self-attention)(?: network| layer| block)?) ", re.I
)
_BARE = re.compile(rf"(?:a total of |in total )?{VALUE} {THINGS}(?: (?:per|in each|in one) (?:layer|block|head))?[.!]?", re.I)
_TIMES_OF = re.compile(rf"(?:exactly |about )?(?P<times>{NUMBER}) times (?:the |its )?(?P<size>[a-z_ -]+?)[.!]?", re.I)
_AS_MANY = re.compile(
    r"(?P<first>(?P<it>.+?) (?:has|have|uses?|contains?) .*?(?P<things>layers|heads|parameters|blocks)), "
    r"(?P<times>half|twice|double|\d+(?:\.\d+)? times) (?:as many )?(?:as|that of|those of|of) (?P<other>[\w/-]+)[.!]?",
    re.I,
)
_FACTORS = {"half": "0.5", "twice": "2", "double": "2"}
_PRONOUN = re.compile(
    r"^(?:(?:altogether|in total|overall|also|moreover),? )?(?:it|this model|the model)(?= (?:is|has|uses|takes|needs)\b)", re.I
)
# How a size is said that an earlier clause gave.
_SAID = {
    "d_model": "d_model", "heads": "heads", "d_k": "d_k", "d_v": "d_v", "d_ff": "d_ff", "layers": "number of layers",
    "vocab": "vocabulary size", "t": "sequence length", "batch": "batch size", "image": "image size", "patch": "patch size",
}  # fmt: skip


def reasoned(text: str, read: Read) -> Claims:
    """The claims of all clauses; none where one of them is not understood, or nothing links them."""
    if found := _AS_MANY.fullmatch(text):
        times = _FACTORS.get(found["times"].lower()) or found["times"].split()[0]
        more = f"How many times as many {found['things']} does {found['it']} have as {found['other']}?"
        return [*claims, (more, times)] if (claims := read(found["first"])) else []
    parts = _LINK.split(text, maxsplit=4)
    if len(parts) == 1:
        parts = _COLON.split(text, maxsplit=1)
        apart = [read(part) for part in parts] if len(parts) > 1 else []
        return [claim for claims in apart for claim in claims] if all(apart) else []
    all_claims: Claims = []
    for place, part in enumerate(parts):
        if not place and only_sizes(part) and not re.search(rf"{full_name()}|{MODEL}", plainly(part)):
            continue  # of no encoder in particular: sizes are given, and nothing is claimed
        before = " ".join(parts[:place])
        read_here = _ratio(part, parts[0]) or read(_completed(part, parts[0]))
        if not read_here and (place or not only_sizes(part)):
            return []
        all_claims += [(_with(before, text, asked), claim) for asked, claim in read_here]
    return all_claims


def with_names(sentences: list[str]) -> list[str]:
    """Sentences one after the other, with the encoder that the first names for the `it` of the others."""
    named = {found[0].removesuffix("'s") for found in re.finditer(rf"{full_name()}|{MODEL}", sentences[0], re.I)}
    if len(named) != 1:
        return sentences
    name = named.pop()
    return [sentences[0], *(_PRONOUN.sub(name, sentence) for sentence in sentences[1:])]


def _completed(part: str, first: str) -> str:
    """`786,432 parameters` is said of what the sentence began with."""
    subject = _SUBJECT.match(first) or _LAYER.match(first)
    bare = re.sub(r"^(?:it|them) ", "", part)
    return f"{subject['it']} has {bare}" if subject and _BARE.fullmatch(bare) else part


def _ratio(part: str, first: str) -> Claims:
    """`four times the hidden size`, said of another size."""
    subject, times = _SUBJECT.match(first), _TIMES_OF.fullmatch(part)
    if subject is None or times is None:
        return []
    size = re.sub(r" of .*$", "", subject["it"])
    whose = subject["it"].removeprefix(size)
    return [(f"What is the ratio of {size[0].lower()}{size[1:]} to {times['size']}{whose}?", times["times"])]


def _sizes(text: str) -> tuple[Stated, str]:
    try:
        return take_stated(plainly(text))
    except GlassformerError:
        return (), text


def only_sizes(text: str, *, alone: bool = False) -> bool:
    """Whether a clause claims nothing: every number in it is a size that it gives; alone, it says nothing else at all."""
    stated, rest = _sizes(text)
    left = re.sub(rf"{full_name()}|{MODEL}", "", rest)
    return bool(stated) and not re.search(r"[^\W_]" if alone else r"\d", left)


def _with(before: str, sentence: str, question: str) -> str:
    """The question, with the encoder of the sentence, or else the sizes given before it, where it does not say them itself."""
    named = re.compile(rf"{full_name()}|{MODEL}", re.I)
    if named.search(question):
        return question
    if model := named.search(sentence):
        lead = f"In {model[0].removesuffix(chr(39) + 's')}"
    else:
        own = {field for field, _ in _sizes(question)[0]}
        given = [f"{_SAID[field]} = {value}" for field, value in _sizes(before)[0] if field in _SAID and field not in own]
        lead = f"With {', '.join(given)}" if given else ""
    return f"{lead}, {question[0].lower()}{question[1:]}" if lead else question
