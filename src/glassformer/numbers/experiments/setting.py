"""What the experiments start from: one sentence, its words as ids or vectors, and a small encoder that fields may change."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from glassformer.program import Program, build
from glassformer.program.axes import Floats
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.reading import Request, request

SENTENCE = "Tom a été entarté cet été"
LEAST_WORDS, MOST_WORDS = 2, 64
MOST_PARAMETERS = 50_000_000


def asked_for(start: EncoderSpec, fields: Mapping[str, Any], *, chosen: Mapping[str, str]) -> Request:
    """`start` with some fields changed. `chosen`: the fields that are the experiment's own, with the reason."""
    for name, value in fields.items():
        if name in chosen:
            raise GlassformerError(f"{name}={shown(value)} cannot be chosen here: {chosen[name]}. Leave {name} out.")
    asked = request(start, **fields)
    if asked.spec.norm_after_last == "pooled":
        raise GlassformerError("final_norm=pooled ends in one vector, and an experiment looks at every token's. Leave it out.")
    return asked


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


def divisor(spec: EncoderSpec) -> float:
    """What the scores are divided by."""
    return {"d_k": math.sqrt(spec.head_k), "d_model": math.sqrt(spec.d_model), "none": 1.0}[spec.scale]


def words_of(text: str) -> list[str]:
    """The words of a text, cut at blanks."""
    if not isinstance(text, str):
        raise GlassformerError(f"text={shown(text)} is not allowed: a text is wanted.")
    words = text.split()
    if not LEAST_WORDS <= len(words) <= MOST_WORDS:
        raise GlassformerError(f"the text has {len(words)} words: this experiment takes {LEAST_WORDS} to {MOST_WORDS}.")
    return words


def ids_of(words: Collection[str]) -> list[int]:
    """A number for each word, the same for the same word, in the order in which they first occur."""
    known = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return [known[word] for word in words]


def vectors_of(words: Collection[str], width: int, seed: int) -> Floats:
    """A vector of normal numbers for each word, the same for the same word."""
    table = np.random.default_rng([seed, 1]).normal(size=(len(set(words)), width))
    return table[ids_of(words)]
