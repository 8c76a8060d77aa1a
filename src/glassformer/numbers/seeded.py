"""A run without a checkpoint: small legible weights from a seed, on given words or ids, or on generated input."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import check_seed, legible_weights
from glassformer.program import Program, build
from glassformer.spec import EncoderSpec

MOST_WEIGHTS = 50_000_000  # 0.4 GB
MOST_VALUES = 200_000_000  # intermediate values, all of which are kept: 1.6 GB


def seeded_run(
    spec: EncoderSpec,
    *,
    batch: int = 1,
    t: int | None = None,
    words: str | None = None,
    ids: list[int] | None = None,
    seed: int = 0,
) -> Run:
    """Run `spec` with legible weights. Equal words get equal vectors or ids; without words or ids the input is random."""
    check_seed(seed)
    seed = int(seed)
    if not isinstance(words, str | None):
        raise GlassformerError(f"text={shown(words)} is not allowed: text must be a string.")
    if ids is not None and not ids:
        raise GlassformerError("tokens is an empty list: give one token id or more.")
    tokens = words.split() if words is not None else None
    if tokens is not None and not tokens:
        raise GlassformerError("the text is empty: give at least one word.")
    if (ids is not None and spec.reads != "tokens") or (tokens is not None and spec.one_length):
        reads, given = "images" if spec.reads == "image" else spec.reads, "text" if ids is None else "tokens"
        raise GlassformerError(f"this encoder reads {reads}, not {given}. Leave the {given} out.")
    length = len(tokens) if tokens else len(ids) if ids else t or (None if spec.one_length else 4)
    program = build(spec, batch=batch if tokens is None and ids is None else 1, t=length)
    size = sum(parameter.size for parameter in program.parameters)
    if size > MOST_WEIGHTS:
        raise GlassformerError(
            f"this spec has {size:,} parameters; at most {MOST_WEIGHTS:,} are made from a seed. Use fewer layers or a checkpoint."
        )
    values = sum(step.output.size for step in program.steps)
    if values > MOST_VALUES:
        raise GlassformerError(
            f"batch={program.sizes.batch} t={program.sizes.t} gives {values:,} numbers; at most {MOST_VALUES:,} are kept. "
            f"Try {'positions=4' if spec.reads == 'frames' else 'a smaller t'}, or fewer layers."
        )
    return run(program, legible_weights(program, seed), _inputs(program, tokens, ids, seed), tokens=[tokens] if tokens else None)


def _inputs(program: Program, words: list[str] | None, ids: list[int] | None, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed + 1)
    spec, first = program.spec, program.inputs[0]
    if spec.vocab is not None:
        if ids is not None:
            return {"tokens": [ids]}
        if words is None:
            return {"tokens": rng.integers(0, spec.vocab, first.shape)}
        known = {word: number % spec.vocab for number, word in enumerate(dict.fromkeys(words))}
        return {"tokens": [[known[word] for word in words]]}
    if words is None:
        return {first.name: rng.integers(-4, 4, first.shape, endpoint=True) / 4}
    vectors = {word: rng.integers(-4, 4, spec.d_model, endpoint=True) / 4 for word in dict.fromkeys(words)}
    return {first.name: [[vectors[word] for word in words]]}
