"""What a question says is counted: a claim that leaves it out has forgotten it, and follows no convention."""

from __future__ import annotations

import re

# Parts that a count may leave out by convention, as `without …` names them, and how a question says them.
_PARTS = {
    "biases": r"bias(?:es)?(?: (?:terms?|vectors?|parameters))?",
    "norms": r"(?:layer|rms)[- ]?norm(?:s|ali[sz]ations?)?(?: (?:parameters|layers))?",
    "embeddings": r"embeddings?(?: (?:layer|tables?|matrix|parameters))?",
    "pooler": r"pooler",
    "head": r"(?:task|classification|mlm) head",
}
_SMALL = r"(?:(?:the|all|both|its|their|every|any|two|weights|and|of|learnable|token|word) |, )*"
_JOINED = rf"(?:(?:{'|'.join(_PARTS.values())})(?:, and|,| and| &| plus) {_SMALL})*"


def _says(part: str) -> re.Pattern[str]:
    """`including biases`, `with all biases and LayerNorms`, `biases included`, `counting the biases`; never `not counting`."""
    before = r"(?<!not )(?<!without )(?<!n't )(?<!no )\b(?:includ(?:ing|e|es)|incl\.?|count(?:ing)?|with|weights and|plus|all)"
    after = r"(?:is |are |being )?(?:also |all |both )?(?:included|counted)\b"
    joined = rf"(?:(?:,| and| &|, and) {_SMALL}(?:{'|'.join(_PARTS.values())}))*"
    return re.compile(
        rf"{before} {_SMALL}{_JOINED}{_SMALL}{part}\b(?! (?:of|in|size|dim|width))|(?<!no )(?<!without )\b{part}{joined},? "
        rf"{after}",
        re.I,
    )


_SAID = {name: _says(part) for name, part in _PARTS.items()}


def forgotten(question: str, convention: str) -> bool:
    """Whether a convention, `without biases, norms`, leaves out what the question says is counted."""
    left_out = re.match(r"without ([a-z, ]+)", convention)
    names = {name.strip() for name in left_out[1].split(",")} if left_out else set()
    return any(_SAID[name].search(question) for name in names & _SAID.keys())
