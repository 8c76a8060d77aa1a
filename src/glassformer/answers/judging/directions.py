"""Claims without a number, `RoBERTa-base has more parameters than BERT-base`: which factor they are about, and its side of 1."""

from __future__ import annotations

import re

_MANY = (
    r"(?P<things>(?:trainable |learnable |attention |encoder |transformer )*"
    r"(?:parameters|params|weights|layers|heads|flops|tokens))"
)
_SIDES = dict.fromkeys("more larger bigger deeper".split(), "more than 1")
_SIDES |= dict.fromkeys("fewer less smaller lighter shallower".split(), "less than 1") | {"same": "1"}
_OF = {"deeper": "layers", "shallower": "layers"}
_COMPARED = (
    re.compile(rf"(?P<it>.+?) (?:has|have|uses?|contains?|needs?|requires?) (?:far |many |significantly |slightly |much )?"
        rf"(?P<side>more|fewer|less) {_MANY} than (?P<other>[^,]+?)", re.I),
    re.compile(rf"(?P<it>.+?) (?:has|have|uses?|contains?|needs?|requires?) (?:exactly )?(?:the )?(?P<side>same)"
        rf"(?: number of| amount of| count of)? {_MANY} as (?P<other>(?!(?:the )?one with|that with)[^,]+?)", re.I),
    re.compile(r"(?P<it>.+?) (?:is|are) (?:far |significantly |slightly |much )?(?P<side>larger|bigger|smaller|lighter"
        r"|deeper|shallower)"
        r" than (?P<other>[^,]+?)", re.I),
)  # fmt: skip
_SIZE = r"(?P<size>(?:the |number of |sequence |input |context |hidden |model |embedding |batch |attention |head |vocabulary )*"
_SIZE += r"(?:heads|length|size|dimension|width|layers|tokens|d_?model|d_?ff))"
_LENGTH_OF_IT = (
    r"\b(?:the )?length of (?:the |its |an? )?(?:input |token )?(?:sequence|sentence|text|input)\b|\bhow long"
    r" the (?:input|sequence|sentence) is\b"
)
_QUANTITY = (
    r"(?P<it>(?:the )?(?:total |overall )?(?:number of |count of |memory |cost |size |complexity )*(?:trainable |learnable )?"
    r"(?:parameters?|params|weights|flops|memory|cost|size|compute|attention)\b[^.?,]*?)"
)
_FIXED = r"(?P<fixed>(?:,? (?:while|with|but) [^.?,]*?(?:fixed|constant|the same|unchanged))?)"
_CHANGED = (
    re.compile(rf"(?P<how>increasing|raising|doubling|decreasing|reducing|halving) {_SIZE}{_FIXED},? (?P<verb>(?:also "
        rf")?(?:increases|"
        rf"raises|decreases|reduces|lowers|does not change|doesn't change|does not affect|doesn't affect"
        rf"|has no effect on)) {_QUANTITY}", re.I),
    re.compile(rf"{_QUANTITY} (?P<verb>does not depend on|doesn't depend on|is independent of|depends on|do not depend on"
        rf"|are independent of) "
        rf"{_SIZE}{_FIXED}", re.I),
)  # fmt: skip
_SIZED = re.compile(
    r"(?P<it>.+?) with (?P<new>\d+) (?P<size>heads|layers) has (?P<times>half|twice|double|the same|\d+ times)(?: as many|"
    r" the| number of)* (?P<things>parameters|params|weights) (?:as|of|than) (?:one|the one|that|an? \S+(?: \S+){0,2}) with "
    r"(?P<old>\d+)(?: heads| layers)?(?P<fixed>(?:,? (?:for|with|at) [^.?]*?)?)",
    re.I,
)
_TIMES = {"half": "0.5", "twice": "2", "double": "2", "the same": "1"}
_FEWER = ("decreasing", "reducing", "halving")


def direction_in(text: str) -> list[tuple[str, str]]:
    """The question after the factor, and the claim about it, `more than 1`; none where the sentence has no such form."""
    text = re.sub(_LENGTH_OF_IT, "the sequence length", text.strip().rstrip(".!"))
    if found := _SIZED.fullmatch(text):
        times = found["times"].lower()
        change = f"the number of {found['size']} goes from {found['old']} to {found['new']}{found['fixed']}"
        asked = f"By what factor does the number of {found['things']} of {_small(found['it'])} grow when {change}?"
        return [(asked, _TIMES.get(times) or times.split()[0])]
    for pattern in _COMPARED:
        if found := pattern.fullmatch(text):
            side = found["side"].lower()
            things = found.groupdict().get("things") or _OF.get(side, "parameters")
            return [(f"How many times as many {things} does {_small(found['it'])} have as {found['other']}?", _SIDES[side])]
    for pattern in _CHANGED:
        if found := pattern.fullmatch(text):
            factor = f"By what factor does {_small(found['it'])} grow when doubling {found['size']}{found['fixed']}?"
            return [(factor, _side(found["verb"].lower(), found.groupdict().get("how") or ""))]
    return []


def _side(verb: str, how: str) -> str:
    """Where the factor lies when the size is doubled: what shrinks with a smaller size grows with a larger one."""
    if "not" in verb or "n't" in verb or "no effect" in verb or "independent" in verb:
        return "1"
    if verb == "depends on":
        return "other than 1"
    grows = verb.removeprefix("also ") in ("increases", "raises")
    return "more than 1" if grows != (how.lower() in _FEWER) else "less than 1"


def _small(part: str) -> str:
    return part[0].lower() + part[1:] if re.match(r"(?:The|A|An|Each|Every|One)\b", part) else part
