"""Configs from specs: the tables of the families read backward, for encoders that are written to files for the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from glassformer.configs.huggingface.deberta import TERMS
from glassformer.configs.huggingface.reader import FAMILIES
from glassformer.spec.encoder_fields import GATES
from glassformer.spec.encoder_spec import EncoderSpec

Written = Mapping[str, Callable[[EncoderSpec], Any]]

DERIVED: Written = {  # fields of keys whose value is derived, or has another name in files
    "d_ff": lambda spec: spec.ffn_width,
    "activation": lambda spec: in_files(spec.activation),
}
DROPOUT: Written = {"attention_probs_dropout_prob": lambda spec: spec.dropout}


def in_files(name: str) -> str:
    """Return the name that files have for an activation, or for the function of a gated one."""
    plain = GATES.get(name, name)
    return "gelu_pytorch_tanh" if plain == "gelu_tanh" else str(plain)


def _ropes(spec: EncoderSpec) -> dict[str, Any]:
    bases = {"full_attention": spec.rotary_base, "sliding_attention": spec.rotary_base_local or spec.rotary_base}
    return {kind: {"rope_type": "default", "rope_theta": base} for kind, base in bases.items()}


def _buckets(spec: EncoderSpec) -> int:
    half = (spec.relative_buckets or 0) // 2
    return half if half < (spec.relative_distance or 0) else -1


# Families that a new encoder may belong to, and the keys that their adjustments read, each with its value for a spec.
DRAFTED: Mapping[str, Written] = {
    "bert": DROPOUT,
    "roberta": {
        **DROPOUT,
        "max_position_embeddings": lambda spec: (spec.positions or 0) + spec.position_offset,
        "pad_token_id": lambda spec: spec.position_offset - 1,
    },
    "distilbert": {"attention_dropout": lambda spec: spec.dropout},
    "modernbert": {
        "attention_dropout": lambda spec: spec.dropout,
        "embedding_dropout": lambda spec: spec.dropout,
        "classifier_dropout": lambda spec: spec.dropout,
        "attention_bias": lambda spec: spec.bias("q"),
        "mlp_bias": lambda spec: spec.bias("ffn"),
        "norm_bias": lambda spec: spec.bias("norm"),
        "classifier_bias": lambda spec: spec.bias("head"),
        "decoder_bias": lambda spec: spec.bias("decoder"),
        "global_attn_every_n_layers": lambda spec: 1 if spec.window is None else spec.global_every,
        "local_attention": lambda spec: spec.window,
        "rope_parameters": _ropes,
        "classifier_activation": lambda spec: "gelu" if spec.head_hidden == "none" else in_files(spec.head_hidden),
        "classifier_pooling": lambda spec: "mean" if spec.pool == "mean" else "cls",
    },
    "deberta-v2": {
        **DROPOUT,
        "relative_attention": lambda _: True,
        "position_biased_input": lambda spec: spec.position != "disentangled",
        "max_relative_positions": lambda spec: spec.relative_distance,
        "position_buckets": _buckets,
        "pos_att_type": lambda spec: next((list(terms) for terms, name in TERMS.items() if name == spec.relative_terms), []),
        "share_att_key": lambda spec: spec.relative_projections == "shared",
        "norm_rel_ebd": lambda spec: "layer_norm" if spec.relative_norm else "none",
        "type_vocab_size": lambda spec: spec.segments or 0,
        "pooler_hidden_size": lambda spec: spec.d_model,
        "pooler_hidden_act": lambda spec: "gelu" if spec.head_hidden == "none" else in_files(spec.head_hidden),
    },
    "vit": {
        **DROPOUT,
        "image_size": lambda spec: spec.image,
        "patch_size": lambda spec: spec.patch,
        "num_channels": lambda spec: spec.channels,
    },
}


def drafts(spec: EncoderSpec) -> Iterator[dict[str, Any]]:
    """Yield a config for each family that reads such input. Whether it describes the spec, its reading tells."""
    for name, written in DRAFTED.items():
        if (name == "vit") != (spec.reads == "image"):
            continue
        config: dict[str, Any] = {"model_type": name}
        for key, (field, *_) in FAMILIES[name].keys.items():
            value = DERIVED[field](spec) if field in DERIVED else getattr(spec, field)
            config |= {} if value is None else {key: value}
        config |= {key: value for key, of in written.items() if (value := of(spec)) is not None}
        yield config | ({"num_labels": spec.classes} if spec.head in ("classify", "tag") else {})
