"""What the decoder of an encoder-decoder reads: words, ids of the address, or what the model writes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers import Run
from glassformer.numbers.texts import encode_target, words_of
from glassformer.program.axes import Array
from glassformer.spec import Seq2SeqSpec

if TYPE_CHECKING:
    from glassformer.checkpoints.special_tokens import Tokens
    from glassformer.lab.pages.trace_models import Model

ANY_WORDS = "start Tom was"
MOST_WRITTEN = 12  # tokens that are written where nobody said what the decoder reads
MOST_TOKENS = 512  # of a target
LARGEST_WRITER = 60_000_000  # parameters; a larger model writes only when it is asked


@dataclass(frozen=True)
class Target:
    """What a decoder reads, the token that begins every target included; words without ids get ids from a seed."""

    words: tuple[str, ...]
    ids: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return len(self.ids) or len(self.words)


def read_ids(text: str) -> tuple[int, ...]:
    """`0,17,4` of an address."""
    found = [one.strip() for one in text.split(",")] if text else []
    wrong = next((one for one in found if not one.isdecimal() or len(one) > 9), None)
    if wrong is not None:
        raise GlassformerError(f"ids={shown(text)} is not allowed: write token ids with commas, such as 0,17,4.")
    if len(found) > MOST_TOKENS:
        raise GlassformerError(f"ids has {len(found):,} tokens: the lab traces at most {MOST_TOKENS}.")
    return tuple(int(one) for one in found)


def target_of(model: Model, text: str, target: str, ids: tuple[int, ...]) -> Target | None:
    """What the decoder reads next to the source `text`: ids, else words, else what the model writes; None with one stack."""
    spec = model.spec
    if not isinstance(spec, Seq2SeqSpec):
        if target or ids:
            name = "ids" if ids else "target"
            raise GlassformerError(
                f"{name} is what a decoder reads beside an encoder, and this model has one stack: leave it out."
            )
        return None
    if model.weights is None:
        return Target(tuple((target or ANY_WORDS).split()), ids)  # where ids are given, the words name them
    if ids:
        return Target(tuple(words_of(model.tokenizer, np.array([ids]))[0]), ids)
    if target:
        batch = encode_target(model.tokenizer, target, spec.decoder, model.special)
        return Target(tuple(batch.words[0]), tuple(int(token) for token in batch.tokens[0]))
    return written(model, text)


def written(model: Model, text: str) -> Target:
    """The first tokens that the model writes for a source: the most probable one each time, of a run in float64."""
    special = model.special
    if not special.start:
        raise GlassformerError(
            "the model names no decoder_start_token_id, the token that begins a target: add it to generation_config.json."
        )
    ids = [*special.start, *([] if special.first is None else [special.first])]
    small = sum(parameter.size for parameter in model.prepared(text, "", Target((), tuple(ids))).program.parameters)
    longest = model.spec.decoder.longest if isinstance(model.spec, Seq2SeqSpec) else None
    most = 0 if small > LARGEST_WRITER or not model.spec.predicts_next else min(MOST_WRITTEN, (longest or 512) - len(ids))
    for _ in range(most):
        run = model.run(model.prepared(text, "", Target((), tuple(ids))), None)
        token = int(allowed(run.output[0, -1], special).argmax())
        if token in special.ends:
            break
        ids.append(token)
    return Target(tuple(words_of(model.tokenizer, np.array([ids]))[0]), tuple(ids))


def allowed(logits: Array, special: Tokens) -> Array:
    """Logits with −∞ at the tokens that the model's files rule out."""
    found = np.array(logits, dtype=float)
    found[list(special.banned)] = -np.inf
    return found


def known_words(run: Run) -> dict[int, str]:
    """The word of each id that a source or a target of words has."""
    found: dict[int, str] = {}
    for name, words in (("tokens", run.tokens), ("target", run.target)):
        value: Any = run.values.get(name)
        if words is not None and value is not None and value.ndim == 2:
            found |= {int(token): word for token, word in zip(value[0], words[0], strict=True) if not word.startswith("#")}
    return found


def names_of(model: Model, run: Run, tokens: Sequence[int]) -> list[str]:
    """The words of ids, as the tokenizer or the text writes them."""
    if model.weights is None:
        known = known_words(run)
        return [known.get(int(token), f"#{int(token)}") for token in tokens]
    return words_of(model.tokenizer, np.array([list(tokens)]))[0]
