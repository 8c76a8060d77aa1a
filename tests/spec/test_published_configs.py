"""Configs as they are published: keys that other programs left in them, and what a file that leaves a key out means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glassformer.program import build
from glassformer.spec import EncoderSpec, GlassformerError
from glassformer.spec.huggingface import from_config

BERT: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
ROBERTA = BERT | {"model_type": "roberta", "pad_token_id": 1, "type_vocab_size": 1}
NOMIC = BERT | {"model_type": "nomic_bert"}
MODERN = BERT | {"model_type": "modernbert", "num_hidden_layers": 22, "intermediate_size": 1152, "vocab_size": 256000}
MODERN = {key: value for key, value in MODERN.items() if key != "type_vocab_size"}
EURO = {key: value for key, value in BERT.items() if key != "type_vocab_size"} | {"model_type": "eurobert", "vocab_size": 128256}
DINO: dict[str, Any] = {
    "model_type": "dinov2_with_registers",
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "mlp_ratio": 4,
    "image_size": 518,
    "patch_size": 14,
    "num_register_tokens": 4,
}

# What is in the file beside the sizes, and the parameters that transformers counts in the model built from it.
PUBLISHED = {
    "TinyBERT": (
        BERT
        | {"cell": {}, "emb_size": 312, "hidden_size": 312, "intermediate_size": 1200, "num_hidden_layers": 4, "structure": []},
        "BertModel",
        14_350_248,
    ),
    "a RoBERTa that names the width of its embeddings": (
        ROBERTA | {"embedding_size": 768, "vocab_size": 32768, "max_position_embeddings": 1025},
        "RobertaForMaskedLM",
        111_634_688,
    ),
    "mmBERT": (MODERN | {"position_embedding_type": "sans_pos"}, "ModernBertForMaskedLM", 307_786_240),
    "DINOv2 with registers": (
        DINO | {"interpolate_antialias": True, "interpolate_offset": 0.0},
        "Dinov2WithRegistersModel",
        86_583_552,
    ),
    "EuroBERT": (
        EURO | {"auto_map": {"AutoModel": "m.M"}, "clf_pooling": "late", "pad_token": "<|end_of_text|>", "rope_theta": 250000},
        "EuroBertModel",
        211_766_016,
    ),
    "a larger EuroBERT, whose queries are grouped": (
        EURO
        | {"hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 18, "num_key_value_heads": 6}
        | {"intermediate_size": 4096, "rope_theta": 250000},
        "EuroBertModel",
        607_874_688,
    ),
    "a Megatron conversion": (
        BERT
        | {"model_type": "megatron-bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
        | {"intermediate_size": 4096, "vocab_size": 29056, "tokenizer_type": "BertWordPieceLowerCase"},
        "MegatronBertModel",
        333_640_704,
    ),
    "what a training script left behind": (
        BERT | {"max_seq_length": 128, "do_lower_case": True, "learning_rate": 2e-5, "seed": 42, "task": "ner", "version": "1.0"},
        "BertModel",
        109_482_240,
    ),
    "a file for the browser": (
        BERT | {"transformers.js_config": {"dtype": "q8"}, "processor_class": "BertProcessor"},
        "BertModel",
        109_482_240,
    ),
}


def refusal(config: dict[str, Any], as_class: str | None = None) -> str:
    with pytest.raises(GlassformerError) as caught:
        from_config(config, as_class=as_class)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def count(spec: EncoderSpec) -> int:
    return sum(parameter.size for parameter in build(spec).parameters)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_is_read_with_what_other_programs_left_in_it(name):
    config, model_class, parameters = PUBLISHED[name]
    assert count(from_config(config, as_class=model_class).spec) == parameters


def test_an_embedding_width_that_no_class_reads_must_be_the_layers():
    message = refusal(BERT | {"emb_size": 128})
    assert message == "config.json: emb_size = 128 is not allowed: embeddings have the width of hidden_size = 768 in this family."


def test_code_of_its_own_is_read_past_only_where_the_classes_have_become_transformers_own():
    assert "the file comes with code of its own" in refusal(BERT | {"auto_map": {"AutoModel": "m.M"}})
    assert from_config(EURO | {"auto_map": {"AutoModel": "m.M"}}).spec.heads == 12


@pytest.mark.parametrize(("said", "kv_heads"), [(None, None), (12, None), (4, 4), (1, 1)])
def test_grouped_queries_are_a_field_where_there_are_fewer_keys_than_queries(said, kv_heads):
    assert from_config(EURO | {"num_key_value_heads": said}).spec.kv_heads == kv_heads


@pytest.mark.parametrize("said", [5, 24])
def test_groups_of_queries_are_equal(said):
    message = f"num_key_value_heads = {said} is not allowed: it must divide num_attention_heads = 12."
    assert refusal(EURO | {"num_key_value_heads": said}) == f"config.json: {message}"


def test_relative_positions_are_still_refused_where_a_class_reads_the_key():
    assert "only absolute positions" in refusal(BERT | {"position_embedding_type": "relative_key_query"})


@pytest.mark.parametrize("rope", [{"rope_type": "linear", "factor": 2.0}, {"rope_type": "yarn"}, {"rope_type": 3}])
def test_scaled_angles_are_named_by_their_key(rope):
    message = refusal(NOMIC | {"rope_parameters": rope})
    assert message.startswith("config.json: rope_parameters.rope_type = ")
    assert message.endswith("changes the mathematics: scaled rotary angles are not in the program.")


def test_a_file_without_a_type_is_told_both_ways_out():
    old = {key: value for key, value in BERT.items() if key != "model_type"}
    assert refusal(old).endswith('Add model_type, for instance "bert", or name a class: --as BertModel.')
    assert count(from_config(old, as_class="BertModel").spec) == 109_482_240


def test_the_key_that_names_three_labels_is_the_one_that_is_blamed():
    names = {"0": "a", "1": "b", "2": "c"}
    config = {
        **{"model_type": "distilbert", "vocab_size": 9, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 8},
        "max_position_embeddings": 4,
    }
    assert "id2label = an object is not allowed" in refusal(config | {"id2label": names}, "DistilBertForQuestionAnswering")
    assert "num_labels = 3 is not allowed" in refusal(config | {"num_labels": 3}, "DistilBertForQuestionAnswering")


# What a missing key means is the class's own default ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "dropout"),
    [
        (BERT, 0.1),
        (BERT | {"model_type": "albert", "embedding_size": 128}, 0.0),
        (BERT | {"model_type": "rembert", "input_embedding_size": 256}, 0.0),
        (NOMIC, 0.0),
    ],
)
def test_dropout_that_is_not_given_is_the_classs(config, dropout):
    assert from_config(config).spec.dropout == dropout


def test_nomics_heads_take_what_they_can_of_a_width_that_they_do_not_divide():
    assert from_config(NOMIC | {"hidden_size": 50, "num_attention_heads": 3}).spec.head_k == 16


def test_no_layer_reads_a_table_that_all_of_them_share():
    mpnet = {key: value for key, value in BERT.items() if key != "type_vocab_size"} | {"model_type": "mpnet"}
    assert "no layer would read the relative-bias table" in refusal(mpnet | {"num_hidden_layers": 0})
    assert count(from_config(BERT | {"num_hidden_layers": 0}).spec) == 24_427_776


# Images of BEiT that are not square: counted, but their weights are not run ---------------------------------------------------


def test_a_stretched_table_is_counted_and_not_loaded(tmp_path: Path):
    from glassformer.numbers import open_checkpoint

    config = {
        **{"model_type": "beit", "hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 20},
        **{"image_size": [8, 12], "patch_size": 4, "use_relative_position_bias": True, "vocab_size": 9},
    }
    assert from_config(config).spec.relative_rows == 3 * 5 + 3
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(GlassformerError, match="2 x 3 patches are not a square, and BeitModel then stretches its relative table"):
        open_checkpoint(tmp_path)
