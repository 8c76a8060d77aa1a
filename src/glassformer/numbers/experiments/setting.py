"""What the experiments start from: one sentence, its words as ids or vectors, and a small encoder that fields may change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from glassformer.program import Program, build
from glassformer.program.axes import Floats
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.reading import Request, request

SENTENCE = "Tom a été entarté cet été"
MOST_WORDS = 64
MOST_PARAMETERS = 50_000_000
SIZES = ("batch", "t")


def asked_for(start: EncoderSpec, fields: Mapping[str, Any], *, chosen: Mapping[str, str]) -> Request:
    """`start` with some fields changed. `chosen`: the fields that are the experiment's own, with the reason."""
    for name, value in fields.items():
        if name in chosen:
            raise GlassformerError(f"{name}={shown(value)} cannot be chosen here: {chosen[name]}. Leave {name} out.")
    return request(start, **fields)


def program_for(spec: EncoderSpec, *, batch: int = 1, t: int, padded: bool = False) -> Program:
    """The program of `spec`, refused where its weights would not fit comfortably into memory."""
    program = build(spec, batch=batch, t=t, padded=padded)
    count = sum(parameter.size for parameter in program.parameters)
    if count > MOST_PARAMETERS:
        raise GlassformerError(
            f"{count:,} parameters are too many for an experiment: at most {MOST_PARAMETERS:,}. "
            "Try a smaller d_model or fewer layers."
        )
    return program


def words_of(text: str, *, at_least: int = 2) -> list[str]:
    """The words of a text, cut at blanks."""
    words = text.split()
    if not at_least <= len(words) <= MOST_WORDS:
        raise GlassformerError(f"the text has {len(words)} words: this experiment takes {at_least} to {MOST_WORDS}.")
    return words


def ids_of(words: Collection[str]) -> list[int]:
    """A number for each word, the same for the same word, in the order in which they first occur."""
    known = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return [known[word] for word in words]


def vectors_of(words: Collection[str], width: int, seed: int) -> Floats:
    """A vector of normal numbers for each word, the same for the same word."""
    table = np.random.default_rng([seed, 1]).normal(size=(len(set(words)), width))
    return table[ids_of(words)]
