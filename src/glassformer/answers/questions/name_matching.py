"""How names are compared: in the singular, one word for each of its synonyms, in any order where no other name is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# Words that add nothing to a name; where one stands at the end, the name is also looked up without it.
NOUNS = """
    matrix weight table layer block sublayer module network projection vector component part stack mechanism operation
    step product term parameter param tensor transformation sub submodule
""".split()
ARTICLES = {"the", "a", "an", "its", "this", "that", "our", "your"}
# Words that change nothing wherever they stand.
HARMLESS = frozenset(
    """
    of in for is are to which their with at by from on inside within has have contain containing there we you original
    standard usual actual corresponding respective gpu stacked processed together own raw resulting entire whole full complete
    trainable learnable main new introduce introduced bring combined taken occupied stored employ employed involved produced
    """.split()
)
# Words that say how a thing came about or where it stands, and not which: left out where nothing else finds a name.
IDLE = frozenset(
    """
    tensor after applying applied passing passed through result different various given when during using use used sub
    mechanism operation component sublayer step encoder transformer model network architecture computed calculated needed
    required it this processing fed get obtained we us as vector
    """.split()
)
# One word for each thing, in the singular and without hyphens; the longest first.
SYNONYMS = (
    (r"(?:position|point) ?wise (?=feed|ffn|mlp|fully)", ""),
    (r"feed ?forward(?: neural)? net(?:work)?|feed ?forward|\bmlp\b|\bfnn\b|fully connected network", "ffn"),
    (r"\bmulti ?head(?:ed)? (?:self )?attention\b|\bself attention\b|\bmhs?a\b|\bmsa\b", "attention"),
    (r"\b(?:transformer|encoder) block\b|\btransformer (?:encoder )?layer\b", "encoder layer"),
    (r"\blayer ?normali[sz]ation\b|\blayer norm\b", "layernorm"),
    (r"\bsub layer\b", "sublayer"),
    (r"\bproj\b", "projection"),
    (r"\boptimiser\b", "optimizer"),
    (r"\bpositional\b", "position"),
    (r"\bdimensionality\b|\bdim\b", "dimension"),
    (r"\bvocab\b", "vocabulary"),
)  # fmt: skip


def plain(text: str) -> str:
    """A name as names are compared: without articles and hyphens, in the singular, synonyms as one word."""
    words = re.sub(r"[-_/()]", " ", text.lower().replace("[cls]", "cls")).split()
    found = " ".join(_singular(word) for word in words if word not in ARTICLES)
    for pattern, word in SYNONYMS:
        found = re.sub(pattern, word, found)
    return " ".join(found.split())


def _singular(word: str) -> str:
    if word.endswith(("ses", "ices")):
        return word[:-2] if word.endswith("ses") else f"{word[:-4]}ix"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as")) else word


def named(table: Mapping[str, str]) -> dict[str, str]:
    """Every name of a table, in the form in which names are compared."""
    return {plain(name): what for what, names in table.items() for name in names.split(",")}


# `two linear layers` are all that there are; `two encoder layers` are some of them.
_TWO = r"(?:two|2)(?! (?:head|sentence|encoder|transformer|layer\b(?! of ffn)|block|attention|token))"


def looked_up(text: str, table: Mapping[str, str]) -> str | None:
    """What a name stands for: as it is, without a noun at its end or a number before it, or with its words in another order."""
    words = re.sub(rf"^(?:both|{_TWO}|all|matrix|tensor) ", "", plain(text)).split()
    return _as_it_is(words, table) or reordered(" ".join(words), table)


def _as_it_is(words: list[str], table: Mapping[str, str]) -> str | None:
    while words:
        if (found := table.get(" ".join(words))) is not None:
            return found
        if words[-1] not in NOUNS:
            return None
        words = words[:-1]
    return None


def reordered(text: str, table: Mapping[str, str]) -> str | None:
    """`hidden layer in the ffn` is `ffn hidden layer`: the same words but for harmless ones, and no other thing that has them."""
    said = _telling(text)
    if "per" in said:  # `layers per head` are not heads per layer
        return None
    found = {what for name, what in table.items() if said and _telling(name) == said}
    return found.pop() if len(found) == 1 else None


def loosely(text: str, table: Mapping[str, str], *, fewest: int = 1) -> str | None:
    """`output tensor after applying attention` is `attention output`: the same but for idle words, and no other thing that is."""
    said = _bare(plain(text))
    if "per" in said:
        return None
    found = {what for name, what in table.items() if len(said) >= fewest and _bare(name) == said}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=4096)
def _telling(name: str) -> tuple[str, ...]:
    return tuple(sorted(word for word in name.split() if word not in HARMLESS))


@lru_cache(maxsize=4096)
def _bare(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _telling(name) if word not in IDLE))
