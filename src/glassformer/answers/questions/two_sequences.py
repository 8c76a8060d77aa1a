"""Questions about attention from one sequence to another: so many queries, so many keys."""

from __future__ import annotations

import re

from glassformer.answers.questions.question import Question

_MATRIX = (
    r"\b(?:cross-?)?attention (?:weight |score )?(?:matrix|map|weights|scores)\b|\bscore matrix\b|\bqk\^t\b"
    r"|\b(?:attention weights|scaled scores|attention scores)\b"
)
_ASKS = r"\b(?:shape|size|dimensions?)\b"
_QUERIES = (
    r"\b(\d+) (?:(?:decoder|target|output|query)(?: side)? )*(?:queries|query (?:vectors|tokens|positions)|(?:decoder"
    r"|target|output) "
    r"(?:tokens|positions|words|states))\b|\b(\d+) queries\b"
)
_KEYS = (
    r"\b(\d+) (?:(?:encoder|source|input|memory|key)(?: side)? )*(?:keys(?: and values)?|key(?:[-/ ]value)? (?:vectors"
    r"|tokens|positions"
    r"|pairs)|(?:encoder|source|input|memory) (?:tokens|positions|words|states|outputs))\b|\b(\d+) keys\b"
)
_SCENE = frozenset(
    """what is are the of a an in for with and if we you there that which attend attends attending to over each one has have cross
    cross-attention attention single head per given between from layer when decoder encoder query key respectively give state
    compute find as its raw between their source target sequence""".split()
)


def of_two_sequences(text: str, asked: str) -> Question | None:
    """`the shape of the attention matrix for 12 queries and 20 keys`: queries × keys, whatever their width."""
    queries, keys = re.search(_QUERIES, text), re.search(_KEYS, text)
    if not re.search(_ASKS, text) or not re.search(_MATRIX, text) or queries is None or keys is None:
        return None
    rest = re.sub(_ASKS, " ", re.sub(_MATRIX, " ", re.sub(_KEYS, " ", re.sub(_QUERIES, " ", text))))
    if not all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!]+", rest)):
        return None
    given = (("queries", int(queries[1] or queries[2])), ("keys", int(keys[1] or keys[2])))
    return Question("reckoned", "scores of two sequences", one_layer=False, one_head=False, text=asked, given=given)
