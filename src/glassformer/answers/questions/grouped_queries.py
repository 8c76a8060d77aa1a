"""Grouped queries as questions say them: `2 KV heads`, `multi-query attention`, `grouped-query attention with 4 groups`."""

from __future__ import annotations

import re

KV_HEADS = r"(?:n_|num_|number of )?(?:kv|k/v|key[-_/ ](?:and[- ])?value)[-_ ]heads"
_ONE_FOR_ALL = r"\b(?:with |using |uses? )?(?:multi-?query|mqa)\b(?: \(mqa\))?(?! heads)"
_GROUPED = r"\b(?:grouped?|generali[sz]ed)[- ]query\b(?: \(gqa\))?(?= attention)|\b(?:with |using |uses? )?gqa\b(?: with\b)?"
_GROUPS = r"(?:\bwith |\band |, ?|\bin |\binto )?(\d+) (?:query |kv |key-value )?groups\b(?! of)"
_SIZE = (
    r"\b(?:in )?groups of (\d+)(?: query)?(?: heads)?\b|\b(?:a )?group size (?:of |is |= ?)?(\d+)\b"
    r"|\beach (?:kv|key[-/ ]value|key and value) head (?:is |being )?shared by (\d+) (?:query )?heads\b"
)
_QUERY_HEADS = r"\b(\d+)(?: query| attention)?[- ]heads\b|\b(?:n_|num_)?heads ?= ?(\d+)"
# Where two kinds of attention are compared, the groups are those of one of them only.
COMPARED = re.compile(
    r"\b(?:than|versus|vs|compared|instead|rather|sav\w+|reduc\w+|fewer|less|more|ratio|factor|times|standard|full|regular"
    r"|switch\w*|replac\w*|multi-?head|mha)\b"
)


def take_groups(text: str) -> tuple[dict[str, str], str]:
    """How many heads of keys and values there are, where it is said by groups or by name, and the question without that."""
    if COMPARED.search(text):
        return {}, text
    if one := re.search(_ONE_FOR_ALL, text):
        return {"kv_heads": "1"}, _without(text, one)
    spoken_of = re.search(r"\bgroup|\bgqa\b|\bkv\b|\bkey[-/ ]", text)
    if (groups := re.search(_GROUPS, text)) and spoken_of:  # as many groups, as many heads of keys and values
        return {"kv_heads": groups[1]}, _without(text, groups)
    size, heads = re.search(_SIZE, text), re.search(_QUERY_HEADS, re.sub(_SIZE, " ", text))
    if size and heads:
        each, queries = (int(next(filter(None, found.groups()))) for found in (size, heads))
        if each and queries % each == 0:
            return {"kv_heads": str(queries // each)}, _without(text, size)
    return {}, text


def without_groups(found: dict[str, str], text: str) -> str:
    """The question without the name of this attention, once it is known how many heads of keys and values it has."""
    return re.sub(_GROUPED, " ", text) if "kv_heads" in found else text


def _without(text: str, found: re.Match[str]) -> str:
    return (
        f"{text[: found.start()]} | {text[found.end() :]}"
        if found.re.groups
        else f"{text[: found.start()]} {text[found.end() :]}"
    )
