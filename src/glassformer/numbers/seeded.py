"""A run without a checkpoint: small legible weights from a seed, on given words or ids, or on random input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.inputs import stack_of
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import check_seed, legible_weights
from glassformer.program import Program, build
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec, Seq2SeqSpec

DEFAULT_LENGTH = 4  # tokens, if no length is given
MOST_WEIGHTS = 50_000_000  # 0.4 GB
MOST_VALUES = 200_000_000  # intermediate values, all of which are kept: 1.6 GB


class Given(NamedTuple):
    """The input of one stack: words, token ids, or neither (random input)."""

    words: list[str] | None = None
    ids: list[int] | None = None

    @property
    def length(self) -> int | None:
        return len(self.words) if self.words else len(self.ids) if self.ids else None


def seeded_run(  # noqa: PLR0913 - one argument for each kind of input
    spec: EncoderSpec,
    *,
    batch: int = 1,
    t: int | None = None,
    u: int | None = None,
    words: str | None = None,
    ids: list[int] | None = None,
    target: str | None = None,
    target_ids: list[int] | None = None,
    seed: int = 0,
) -> Run:
    """Run `spec` with legible weights. Equal words get equal vectors or ids; without words or ids the input is random.

    An encoder-decoder also needs a target, whose words or ids are used unchanged.
    """
    check_seed(seed)
    seed = int(seed)
    reads, writes = (spec.encoder, spec.decoder) if isinstance(spec, Seq2SeqSpec) else (spec, spec)
    source = _given(reads, words, ids, "text", "tokens")
    aim = _given(writes, target, target_ids, "target", "target_tokens")
    require_target(spec, source=source.length is not None, target=aim.length is not None)
    length = source.length or t or (None if spec.one_length else DEFAULT_LENGTH)
    written = aim.length or u or DEFAULT_LENGTH if isinstance(spec, Seq2SeqSpec) else None
    program = build(spec, batch=1 if source.length or aim.length else batch, t=length, u=written)
    _require_room(program)
    inputs = _inputs(program, {program.inputs[0].name: source, "target": aim}, seed)
    found = [[one.words] if one.words else None for one in (source, aim)]
    return run(program, legible_weights(program, seed), inputs, tokens=found[0], target=found[1])


def require_target(spec: EncoderSpec, *, source: bool, target: bool) -> None:
    """Refuse a target for a model with one stack, and a source without a target (or vice versa) for an encoder-decoder."""
    if target and not isinstance(spec, Seq2SeqSpec):
        raise GlassformerError("a target is for encoder-decoders only, and this model has one stack. Leave it out.")
    if isinstance(spec, Seq2SeqSpec) and source != target and not (target and spec.one_length):
        missing = "target (--target TEXT, or --target-tokens IDS)" if source else "text (--text TEXT, or --tokens IDS)"
        raise GlassformerError(f"an encoder-decoder needs a source and a target: also give {missing}.")


def _given(spec: EncoderSpec, words: str | None, ids: list[int] | None, text: str, tokens: str) -> Given:
    """Check the words or the ids of a stack."""
    if not isinstance(words, str | None):
        raise GlassformerError(f"{text}={shown(words)} is not allowed: {text} must be a string.")
    if ids is not None and not ids:
        raise GlassformerError(f"{tokens} is an empty list: give one token id or more.")
    found = words.split() if words is not None else None
    if found is not None and not found:
        raise GlassformerError(f"the {text} is empty: give at least one word.")
    if (ids is not None and spec.reads != "tokens") or (found is not None and spec.one_length):
        reads, given = "images" if spec.reads == "image" else spec.reads, text if ids is None else tokens
        raise GlassformerError(f"this encoder reads {reads}, not {given}. Leave the {given} out.")
    return Given(found, ids)


def _require_room(program: Program) -> None:
    """Refuse a program with too many numbers to keep."""
    sizes = program.sizes
    size = sum(parameter.size for parameter in program.parameters)
    if size > MOST_WEIGHTS:
        raise GlassformerError(
            f"this spec has {size:,} parameters; at most {MOST_WEIGHTS:,} are made from a seed. Use fewer layers or a checkpoint."
        )
    values = sum(step.output.size for step in program.steps)
    if values > MOST_VALUES:
        raise GlassformerError(
            f"{sizes} gives {values:,} numbers; at most {MOST_VALUES:,} are kept. "
            f"Try {'positions=4' if program.spec.reads == 'frames' else 'a smaller t'}, or fewer layers."
        )


def _inputs(program: Program, given: Mapping[str, Given], seed: int) -> dict[str, Any]:
    """The arrays of all inputs; equal words have the same id, or the same vector."""
    rng = np.random.default_rng(seed + 1)
    numbers: dict[str, int] = {}
    vectors: dict[str, Array] = {}
    found: dict[str, Any] = {}
    for tensor in program.inputs:
        if tensor.role != "input" or tensor.name in ("segments", "boxes"):
            continue
        spec, (words, ids) = stack_of(program, tensor), given.get(tensor.name, Given())
        if ids is not None:
            found[tensor.name] = [ids]
        elif words is None and len(tensor.axes) == 2:
            found[tensor.name] = rng.integers(0, spec.vocab or 1, tensor.shape)
        elif words is None:
            found[tensor.name] = rng.integers(-4, 4, tensor.shape, endpoint=True) / 4
        elif spec.vocab is not None:
            for word in words:
                numbers.setdefault(word, len(numbers))
            found[tensor.name] = [[numbers[word] % spec.vocab for word in words]]
        else:
            for word in dict.fromkeys(words):
                if word not in vectors:
                    vectors[word] = rng.integers(-4, 4, spec.d_model, endpoint=True) / 4
            found[tensor.name] = [[vectors[word] for word in words]]
    return found
