"""Configs in the layout of transformers for new models that write, drafted from each family's own table of keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from glassformer.configs.huggingface.reader import DECODERS, SEQ2SEQ
from glassformer.configs.huggingface.values import ACTIVATIONS
from glassformer.model.checkpoints.export import class_for
from glassformer.spec import GATES, EncoderSpec, Seq2SeqSpec

# Derived sizes, where the field itself may be left out.
DERIVED = {"d_ff": "ffn_width", "d_k": "head_k", "kv_heads": "key_heads"}


def drafted(spec: EncoderSpec, tokens: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the config of the first family that has a class for this model; None if there is none.

    `tokens` are its special tokens, as a config names them: M2M100 numbers its positions by one of them.
    """
    return next((config for config in drafts(spec, tokens) if class_for(spec, config) is not None), None)


def drafts(spec: EncoderSpec, tokens: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield a config of each family; `class_for` decides whether one of its classes is the model."""
    paired = isinstance(spec, Seq2SeqSpec)
    written = spec.decoder if isinstance(spec, Seq2SeqSpec) else spec
    names = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    for family in (SEQ2SEQ if paired else DECODERS).values():
        values = {key: value_of(spec, rule.field) for key, rule in family.keys.items()}
        words = {key: names.get(GATES.get(word, word), word) for key, word in values.items() if isinstance(word, str)}
        extra: dict[str, Any] = {"tie_word_embeddings": written.tie}
        if paired:
            extra |= {"is_encoder_decoder": True, "scale_embedding": written.embedding_scale == "sqrt_d_model"}
        elif written.rotary:
            extra |= {"rope_parameters": {"rope_type": "default", "rope_theta": written.rotary_base}}
        yield {"model_type": family.in_files, **values, **words, **extra, **tokens}


def value_of(spec: EncoderSpec, field: str) -> Any:
    """Return a field of a spec, given or derived; `decoder.layers` is one of the decoder."""
    stack, dot, inner = field.partition(".")
    if dot and isinstance(spec, Seq2SeqSpec):
        return value_of(spec.encoder if stack == "encoder" else spec.decoder, inner)
    return getattr(spec, DERIVED.get(field, field))
