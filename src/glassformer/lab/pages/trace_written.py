"""Targets that are given, and those that a model writes by itself: the most probable token each time, in float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.errors import GlassformerError
from glassformer.lab.pages.trace_models import Model
from glassformer.lab.pages.trace_target import Target, known_words
from glassformer.lab.pages.trace_words import readable
from glassformer.numbers import Run
from glassformer.numbers.texts import encode_target, words_of
from glassformer.program.axes import Array
from glassformer.spec import Seq2SeqSpec

ANY_WORDS = "start Tom was"
MOST_WRITTEN = 12  # tokens that are written where nobody said what the decoder reads
LARGEST_WRITER = 60_000_000  # parameters; a larger model writes only when it is asked


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
        return Target(tuple(_words(model, ids)), ids)
    if target:
        batch = encode_target(model.tokenizer, target, spec.decoder, model.special)
        return Target(tuple(readable(batch.words[0])), tuple(int(token) for token in batch.tokens[0]))
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
    return Target(tuple(_words(model, ids)), tuple(ids))


def allowed(logits: Array, special: Tokens) -> Array:
    """Logits with −∞ at the tokens that the model's files rule out."""
    found = np.array(logits, dtype=float)
    found[list(special.banned)] = -np.inf
    return found


def names_of(model: Model, run: Run, tokens: Sequence[int]) -> list[str]:
    """The words of ids, as the tokenizer or the text writes them."""
    if model.weights is None:
        known = known_words(run)
        return [known.get(int(token), f"#{int(token)}") for token in tokens]
    return _words(model, tokens)


def _words(model: Model, tokens: Sequence[int]) -> list[str]:
    return readable(words_of(model.tokenizer, np.array([list(tokens)]))[0])


def continued(model: Model, run: Run, token: int) -> str:
    """The text of a decoder that stands alone with one more token; empty where it cannot be written as a text."""
    if isinstance(model.spec, Seq2SeqSpec) or token in model.special.ends or "tokens" not in run.values:
        return ""
    if model.weights is None:
        words = [known_words(run).get(int(one)) for one in (*run.values["tokens"][0], token)]
        return " ".join(word for word in words if word) if all(words) else ""
    ids = [int(one) for one in run.values["tokens"][0]]
    return str(model.tokenizer.decode([*ids, token]))
