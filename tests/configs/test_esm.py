"""ESM configs: positions, token dropout, the norm of the embeddings, the contact head; one-line errors for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glassformer.configs.huggingface import from_config
from glassformer.configs.presets import preset
from glassformer.errors import GlassformerError
from glassformer.numbers import run
from glassformer.program import build
from glassformer.spec import EncoderSpec

# The published config of ESM-2 with 8 million parameters.
ESM2: dict[str, Any] = {
    "architectures": ["EsmForMaskedLM"],
    "attention_probs_dropout_prob": 0.0,
    "classifier_dropout": None,
    "emb_layer_norm_before": False,
    "esmfold_config": None,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 320,
    "intermediate_size": 1280,
    "is_folding_model": False,
    "layer_norm_eps": 1e-05,
    "mask_token_id": 32,
    "max_position_embeddings": 1026,
    "model_type": "esm",
    "num_attention_heads": 20,
    "num_hidden_layers": 6,
    "pad_token_id": 1,
    "position_embedding_type": "rotary",
    "token_dropout": True,
    "vocab_list": None,
    "vocab_size": 33,
}


def read(**changes: Any) -> EncoderSpec:
    return from_config({**ESM2, **changes}).spec


def test_the_published_file_is_the_preset_with_a_masked_token_head():
    spec = read()
    assert sum(parameter.size for parameter in build(spec).parameters) == 7_512_474
    assert spec.replace(head="none", head_hidden="none") == preset("esm2-8m").replace(d_ff=1280)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"position_embedding_type": "absolute"}, {"position": "learned", "positions": 1024, "position_offset": 2}),
        ({"token_dropout": False}, {"token_dropout": None}),
        ({"token_dropout": None}, {"token_dropout": None}),
        ({"mask_token_id": 0}, {"token_dropout": 0}),
        ({"emb_layer_norm_before": True}, {"embedding_norm": True}),
        ({"emb_layer_norm_before": None}, {}),
        ({"max_position_embeddings": None}, {"positions": None}),
        ({"rope_theta": 500.0}, {"rotary_base": 500.0}),
        ({"tie_word_embeddings": False}, {"tie": False}),
        ({"architectures": ["EsmModel"]}, {"head": "none", "head_hidden": "none", "pooler": "dense"}),
        ({"architectures": ["EsmForTokenClassification"], "num_labels": 5}, {"head": "tag", "head_hidden": "none", "classes": 5}),
    ],
    ids=str,
)
def test_each_key_sets_its_own_field(changes, fields):
    assert read(**changes) == read().replace(**fields)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position_embedding_type": "rope"}, 'position_embedding_type = "rope" is not supported'),
        ({"position_embedding_type": "absolute", "pad_token_id": None}, "pad_token_id is null. Add it to the file"),
        ({"position_embedding_type": "absolute", "max_position_embeddings": None}, "max_position_embeddings is null."),
        ({"mask_token_id": None}, "mask_token_id is null. Add it to the file"),
        ({"mask_token_id": 33}, "token_dropout=33 is the id of the mask token, but vocab_size = 33 has no such token"),
        ({"hidden_act": "relu"}, 'hidden_act = "relu" is not supported'),
        ({"is_folding_model": True}, "is_folding_model = true is not supported"),
        ({"architectures": ["EsmForProteinFolding"]}, "its folding trunk is not implemented"),
        ({"num_hidden_layers": 0}, "contact_head=true has a weight for each layer and head, but num_hidden_layers = 0."),
        ({"head_dim": 8}, "head_dim = 8 is not a known key"),
        ({"num_attention_heads": 64}, "hidden_size / num_attention_heads = 5 is odd"),
    ],
    ids=str,
)
def test_what_is_not_implemented_is_refused_in_one_line(changes, message):
    with pytest.raises(GlassformerError) as caught:
        read(**changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def embedded(tokens: list[list[int]], attend: list[list[int]]) -> tuple[Any, Any]:
    """The token table, and what enters the first layer."""
    program = build(EncoderSpec(d_model=4, heads=2, layers=0, vocab=5, token_dropout=3), batch=len(tokens), t=4, padded=True)
    table = np.arange(20.0).reshape(5, 4)
    inputs = {"tokens": np.array(tokens), "attend": np.array(attend).astype(bool)}
    return table, run(program, {"embeddings.E_token": table}, inputs)["x"]


def test_masked_tokens_are_zeros_and_the_others_are_scaled_up():
    table, x = embedded([[1, 3, 2, 3], [0, 1, 2, 4]], [[1, 1, 1, 0], [1, 1, 1, 1]])
    assert np.allclose(x[0], [table[1] * 0.88 * 3 / 2, np.zeros(4), table[2] * 0.88 * 3 / 2, np.zeros(4)])
    assert np.allclose(x[1], table[[0, 1, 2, 4]] * 0.88)


def test_a_text_of_masked_tokens_alone_is_zeros():
    assert not embedded([[3, 3, 3, 3]], [[1, 1, 1, 1]])[1].any()
