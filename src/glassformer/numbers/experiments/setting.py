"""The setting of the experiments: one sentence, its words as ids or vectors, and a small encoder with adjustable fields."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from glassformer.configs.reading import Request, request
from glassformer.errors import GlassformerError, shown
from glassformer.program import Program, build
from glassformer.program.axes import Floats
from glassformer.spec import EncoderSpec

SENTENCE = "Tom a été entarté cet été"
LEAST_WORDS, MOST_WORDS = 2, 64
MOST_PARAMETERS = 50_000_000


def requested(start: EncoderSpec, fields: Mapping[str, Any], *, chosen: Mapping[str, str]) -> Request:
    """Return `start` with some fields changed. `chosen` are the fields that the experiment sets itself, with the reason."""
    for name, value in fields.items():
        if name in chosen:
            raise GlassformerError(f"{name}={shown(value)} cannot be set here: {chosen[name]}. Leave {name} out.")
    made = request(start, decoders=True, **fields)
    if made.spec.norm_after_last == "pooled":
        raise GlassformerError(
            "final_norm=pooled gives a single vector, but the experiment compares the vectors of all tokens. Leave it out."
        )
    return made


def program_for(spec: EncoderSpec, *, batch: int = 1, t: int, u: int | None = None, padded: bool = False) -> Program:
    """Build the program of `spec`; refuse it if it has too many parameters."""
    program = build(spec, batch=batch, t=t, u=u, padded=padded)
    count = sum(parameter.size for parameter in program.parameters)
    if count > MOST_PARAMETERS:
        raise GlassformerError(
            f"{count:,} parameters are too many for an experiment: at most {MOST_PARAMETERS:,}. "
            "Try a smaller d_model or fewer layers."
        )
    return program


def divisor(spec: EncoderSpec) -> float:
    """Return the divisor of the scores."""
    return {"d_k": math.sqrt(spec.head_k), "d_model": math.sqrt(spec.d_model), "none": 1.0}[spec.scale]


def words_of(text: str) -> list[str]:
    """Split a text into words at white space."""
    if not isinstance(text, str):
        raise GlassformerError(f"text={shown(text)} is not allowed: text must be a string.")
    words = text.split()
    if not LEAST_WORDS <= len(words) <= MOST_WORDS:
        raise GlassformerError(f"the text has {len(words)} words: this experiment takes {LEAST_WORDS} to {MOST_WORDS}.")
    return words


def ids_of(words: Collection[str]) -> list[int]:
    """Return an id for each word, equal for equal words, in order of first occurrence."""
    known = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return [known[word] for word in words]


def vectors_of(words: Collection[str], width: int, seed: int) -> Floats:
    """Return a random normal vector for each word, equal for equal words."""
    table = np.random.default_rng([seed, 1]).normal(size=(len(set(words)), width))
    return table[ids_of(words)]
