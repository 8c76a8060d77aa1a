"""DeBERTa, DeBERTa-v2 and v3 configs: what is supported, and one-line errors for the rest."""

import re
from typing import Any

import pytest

from glassformer.checkpoints.matching import match_tensors
from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.files.name_tables.deberta import NAMES
from glassformer.program import build
from glassformer.spec import EncoderSpec

# The published config of DeBERTa-v3 small.
V3: dict[str, Any] = {
    "model_type": "deberta-v2",
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "type_vocab_size": 0,
    "vocab_size": 128100,
}


# The published config of the first DeBERTa, base.
V1 = {
    **{key: value for key, value in V3.items() if key not in ("position_buckets", "norm_rel_ebd", "share_att_key")},
    **{"model_type": "deberta", "num_hidden_layers": 12, "pos_att_type": "c2p|p2c", "vocab_size": 50265, "padding_idx": 0},
}


def read(**changes: Any) -> EncoderSpec:
    return from_config({**V3, **changes}).spec


def first(**changes: Any) -> EncoderSpec:
    return from_config({**V1, **changes}).spec


def test_the_first_deberta_has_a_row_for_each_distance_and_projections_of_its_own():
    spec = first()
    assert (spec.relative_buckets, spec.relative_distance, spec.relative_projections) == (1024, 512, "own")
    assert (spec.relative_norm, spec.bias("q"), spec.bias("k"), spec.bias("v")) == (False, True, False, True)
    assert sum(parameter.size for parameter in build(spec).parameters) == 138_601_728


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"talking_head": True}, "talking_head = true is not a known key, and may change what is computed."),
        ({"norm_rel_ebd": "layer_norm"}, 'norm_rel_ebd = "layer_norm" is not a known key'),
        ({"position_buckets": 256}, "position_buckets = 256 is not a known key"),
        ({"pos_att_type": "c2p|c2p"}, "is not supported: it must be a list of c2p and p2c."),
        ({"relative_attention": False}, "is not allowed: it needs relative_attention = true."),
    ],
    ids=str,
)
def test_the_first_deberta_has_fewer_keys(changes, message):
    with pytest.raises(GlassformerError, match=re.escape(message)):
        first(**changes)


def test_the_published_file_is_read():
    spec = read()
    assert (spec.position, spec.relative_buckets, spec.relative_distance, spec.segments) == ("disentangled", 512, 512, None)
    assert (spec.relative_terms, spec.relative_projections, spec.relative_norm) == ("both", "shared", True)
    assert spec.score_terms == 3
    assert sum(parameter.size for parameter in build(spec).parameters) == 141_304_320


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"pos_att_type": ["c2p"]}, {"relative_terms": "content_to_position"}),
        ({"pos_att_type": "P2C"}, {"relative_terms": "position_to_content"}),
        ({"share_att_key": False}, {"relative_projections": "own"}),
        ({"norm_rel_ebd": "none"}, {"relative_norm": False}),
        ({"position_biased_input": True}, {"position": "learned_disentangled"}),
        ({"position_buckets": -1}, {"relative_buckets": 1024, "relative_distance": 512}),
        ({"max_relative_positions": 300}, {"relative_distance": 300}),
        ({"type_vocab_size": 3}, {"segments": 3}),
        ({"attention_head_size": 64, "embedding_size": 768, "conv_kernel_size": 0, "conv_act": "tanh"}, {}),
        ({"relative_attention": False, "pos_att_type": None, "norm_rel_ebd": "none"}, {"position": "none"}),
    ],
    ids=str,
)
def test_each_key_sets_its_own_field(changes, fields):
    off = {} if changes.get("relative_attention", True) else {
        "relative_buckets": 32, "relative_distance": 128, "relative_norm": False,
    }  # fmt: skip
    assert read(**changes) == read().replace(**off, **fields)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"conv_kernel_size": 4},
            "conv_kernel_size = 4 is even: the convolution would give one position less. Give an odd number.",
        ),
        ({"conv_kernel_size": 3, "conv_groups": 5}, "conv_groups = 5 does not divide hidden_size = 768. Try conv_groups = 4."),
        ({"conv_kernel_size": "3"}, 'conv_kernel_size = "3" is not allowed: conv_kernel_size must be a whole number'),
        ({"pos_att_type": "c2p|p2p"}, 'pos_att_type = "c2p|p2p" is not supported: it must be a list of c2p and p2c.'),
        ({"pos_att_type": 3}, "pos_att_type = 3 is not supported"),
        ({"pos_att_type": [["c2p"]]}, "is not supported: it must be a list of c2p and p2c."),
        (
            {"pos_att_type": None},
            "pos_att_type = null is not allowed: with relative_attention = true, it must name c2p, p2c or both.",
        ),
        ({"relative_attention": False}, 'pos_att_type = "p2c|c2p" is not allowed: it needs relative_attention = true.'),
        (
            {"relative_attention": False, "pos_att_type": []},
            'norm_rel_ebd = "layer_norm" is not allowed: it needs relative_attention',
        ),
        ({"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd must be one of none, layer_norm."),
        ({"position_buckets": 512}, "position_buckets = 512 is not allowed: it must be below the largest distance, 512, since"),
        (
            {"position_buckets": 1},
            "position_buckets = 1 is not allowed: it must be at least 2, since distances 0 and 1 have one row each.",
        ),
        ({"position_buckets": -1, "max_relative_positions": 1}, "max_relative_positions = 1 is not allowed"),
        (
            {"attention_head_size": 32},
            "attention_head_size = 32 is not allowed: it must be hidden_size / num_attention_heads = 64.",
        ),
        (
            {"embedding_size": 128},
            "embedding_size = 128 is not allowed: embeddings of this family have the width hidden_size = 768.",
        ),
        (
            {"num_hidden_layers": 0},
            "num_hidden_layers = 0 is not allowed: without layers, the stored relative position",
        ),
        ({"share_att_key": "yes"}, "share_att_key must be true or false."),
        ({"talking_head": True}, "talking_head = true is not a known key, and may change what is computed."),
        (
            {"architectures": ["DebertaV2ForMaskedLM"], "legacy": False},
            "legacy = false is not allowed: its masked-token head has",
        ),
        (
            {"architectures": ["DebertaV2ForSequenceClassification"], "pooler_hidden_size": 5},
            "pooler_hidden_size = 5 is not allowed: it must be hidden_size = 768.",
        ),
    ],
    ids=str,
)
def test_an_unsupported_value_is_refused_in_one_line(changes, message):
    with pytest.raises(GlassformerError) as caught:
        read(**changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_keys_of_other_classes_are_ignored():
    assert read(legacy=False, pooler_hidden_size=5, pooler_hidden_act="unheard of") == read()


def test_the_pretraining_heads_in_the_published_file_are_unused():
    spec = read(hidden_size=8, num_attention_heads=2, intermediate_size=8, vocab_size=9, num_hidden_layers=1)
    places = tensor_names(spec, "deberta-v2", "DebertaV2Model", {one.name: one.tensor.shape for one in build(spec).parameters})
    present = {f"deberta.{at[-1].name.removeprefix('deberta.')}": at[-1].shape for at in places.values()}
    extra = ("mask_predictions.dense.weight", "lm_predictions.lm_head.bias", "deberta.embeddings.position_embeddings.weight")
    found = match_tensors(places, present | dict.fromkeys(extra, (3,)), "deberta-v2")
    assert set(found.unused) == set(extra)
    assert not (found.missing or found.unexpected or found.misfits)
    assert match_tensors(places, {**present, "deberta.encoder.conv.conv.weight": (3,)}, "deberta-v2").unexpected
    assert set(NAMES) == {"deberta", "deberta-v2"}
