"""Published configs: keys that other programs left in them, and defaults for missing keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.program import build
from glassformer.spec import EncoderSpec

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
def test_a_published_file_is_read_despite_keys_of_other_programs(name):
    config, model_class, parameters = PUBLISHED[name]
    assert count(from_config(config, as_class=model_class).spec) == parameters


def test_an_unused_embedding_width_must_equal_the_layer_width():
    message = refusal(BERT | {"emb_size": 128})
    assert message == "config.json: emb_size = 128 is not allowed: embeddings of this family have the width hidden_size = 768."


def test_custom_code_is_ignored_only_for_classes_that_are_now_in_transformers():
    assert "the file refers to custom code" in refusal(BERT | {"auto_map": {"AutoModel": "m.M"}})
    assert from_config(EURO | {"auto_map": {"AutoModel": "m.M"}}).spec.heads == 12


@pytest.mark.parametrize(("value", "kv_heads"), [(None, None), (12, None), (4, 4), (1, 1)])
def test_kv_heads_is_set_only_if_there_are_fewer_than_heads(value, kv_heads):
    assert from_config(EURO | {"num_key_value_heads": value}).spec.kv_heads == kv_heads


@pytest.mark.parametrize("value", [5, 24])
def test_groups_of_queries_are_equal(value):
    message = f"num_key_value_heads = {value} is not allowed: it must divide num_attention_heads = 12."
    assert refusal(EURO | {"num_key_value_heads": value}) == f"config.json: {message}"


def test_relative_positions_are_still_refused_if_the_class_reads_the_key():
    assert "only absolute positions" in refusal(BERT | {"position_embedding_type": "relative_key_query"})


@pytest.mark.parametrize("rope", [{"rope_type": "linear", "factor": 2.0}, {"rope_type": "yarn"}, {"rope_type": 3}])
def test_scaled_angles_are_named_by_their_key(rope):
    message = refusal(NOMIC | {"rope_parameters": rope})
    assert message.startswith("config.json: rope_parameters.rope_type = ")
    assert message.endswith("is not supported: scaled rotary angles are not implemented.")


def test_a_file_without_a_type_is_refused_with_both_ways_out():
    old = {key: value for key, value in BERT.items() if key != "model_type"}
    assert refusal(old).endswith('Add model_type, such as "bert", or name a class: --as BertModel.')
    assert count(from_config(old, as_class="BertModel").spec) == 109_482_240


def test_the_error_names_the_key_with_three_labels():
    names = {"0": "a", "1": "b", "2": "c"}
    config = {
        **{"model_type": "distilbert", "vocab_size": 9, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 8},
        "max_position_embeddings": 4,
    }
    assert "id2label = an object is not allowed" in refusal(config | {"id2label": names}, "DistilBertForQuestionAnswering")
    assert "num_labels = 3 is not allowed" in refusal(config | {"num_labels": 3}, "DistilBertForQuestionAnswering")


# The default of a missing key is that of the class --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "dropout"),
    [
        (BERT, 0.1),
        (BERT | {"model_type": "albert", "embedding_size": 128}, 0.0),
        (BERT | {"model_type": "rembert", "input_embedding_size": 256}, 0.0),
        (NOMIC, 0.0),
    ],
)
def test_dropout_defaults_to_that_of_the_class(config, dropout):
    assert from_config(config).spec.dropout == dropout


def test_nomics_head_width_is_rounded_down():
    assert from_config(NOMIC | {"hidden_size": 50, "num_attention_heads": 3}).spec.head_k == 16


def test_a_shared_relative_table_needs_layers():
    mpnet = {key: value for key, value in BERT.items() if key != "type_vocab_size"} | {"model_type": "mpnet"}
    assert "without layers, the stored relative position table would not be used" in refusal(mpnet | {"num_hidden_layers": 0})
    assert count(from_config(BERT | {"num_hidden_layers": 0}).spec) == 24_427_776


# BEiT with images that are not square: parameters are counted, but weights are not loaded -------------------------------------


def test_an_interpolated_table_is_counted_but_not_loaded(tmp_path: Path):
    from glassformer.numbers import open_checkpoint

    config = {
        **{"model_type": "beit", "hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 20},
        **{"image_size": [8, 12], "patch_size": 4, "use_relative_position_bias": True, "vocab_size": 9},
    }
    assert from_config(config).spec.relative_rows == 3 * 5 + 3
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(
        GlassformerError,
        match="2 x 3 patches are not a square grid, for which BeitModel interpolates its relative position table",
    ):
        open_checkpoint(tmp_path)


# Counts of the transformers classes, built from these files on the meta device.
COUNTED: dict[str, tuple[dict[str, Any], str, int]] = {
    "a multilingual ModernBERT": (
        {
            "architectures": ["ModernBertForMaskedLM"],
            "attention_bias": False,
            "attention_dropout": 0.0,
            "bos_token_id": 50281,
            "classifier_activation": "gelu",
            "classifier_bias": False,
            "classifier_dropout": 0.0,
            "classifier_pooling": "mean",
            "cls_token_id": 1,
            "decoder_bias": True,
            "deterministic_flash_attn": False,
            "embedding_dropout": 0.0,
            "eos_token_id": 1,
            "global_attn_every_n_layers": 3,
            "global_rope_theta": 160000,
            "gradient_checkpointing": False,
            "hidden_activation": "gelu",
            "hidden_size": 768,
            "initializer_cutoff_factor": 2.0,
            "initializer_range": 0.02,
            "intermediate_size": 1152,
            "layer_norm_eps": 1e-05,
            "local_attention": 128,
            "local_rope_theta": 160000,
            "max_position_embeddings": 8192,
            "mlp_bias": False,
            "mlp_dropout": 0.0,
            "model_type": "modernbert",
            "norm_bias": False,
            "norm_eps": 1e-05,
            "num_attention_heads": 12,
            "num_hidden_layers": 22,
            "pad_token_id": 50283,
            "position_embedding_type": "sans_pos",
            "repad_logits_with_grad": False,
            "sep_token_id": 50282,
            "sparse_pred_ignore_index": -100,
            "sparse_prediction": True,
            "torch_dtype": "float16",
            "transformers_version": "4.48.0",
            "vocab_size": 256000,
            "reference_compile": None,
            "dtype": "float32",
            "mask_token_id": 4,
        },
        "ModernBertForMaskedLM",
        307_786_240,
    ),
    "the second text encoder of a picture generator": (
        {
            "_name_or_path": "openai/clip-vit-large-patch14",
            "architectures": ["CLIPTextModelWithProjection"],
            "attention_dropout": 0.0,
            "bos_token_id": 0,
            "dropout": 0.0,
            "eos_token_id": 2,
            "hidden_act": "gelu",
            "hidden_size": 1280,
            "initializer_factor": 1.0,
            "initializer_range": 0.02,
            "intermediate_size": 5120,
            "layer_norm_eps": 1e-05,
            "max_position_embeddings": 77,
            "model_type": "clip_text_model",
            "num_attention_heads": 20,
            "num_hidden_layers": 32,
            "pad_token_id": 1,
            "projection_dim": 1280,
            "torch_dtype": "float16",
            "transformers_version": "4.22.0.dev0",
            "vocab_size": 49408,
        },
        "CLIPTextModelWithProjection",
        694_659_840,
    ),
    "a T5 whose heads are wider together than the model": (
        {
            "architectures": ["T5ForConditionalGeneration"],
            "d_ff": 65536,
            "d_kv": 128,
            "d_model": 1024,
            "decoder_start_token_id": 0,
            "dropout_rate": 0.1,
            "eos_token_id": 1,
            "initializer_factor": 1.0,
            "is_encoder_decoder": True,
            "layer_norm_epsilon": 1e-06,
            "model_type": "t5",
            "n_positions": 512,
            "num_heads": 128,
            "num_layers": 24,
            "output_past": True,
            "pad_token_id": 0,
            "relative_attention_num_buckets": 32,
            "task_specific_params": {"summarization": {"max_length": 200}},
            "vocab_size": 32128,
        },
        "T5EncoderModel",
        4_864_791_552,
    ),
    "a Marian translator": (
        {
            "activation_dropout": 0.1,
            "activation_function": "swish",
            "add_bias_logits": False,
            "add_final_layer_norm": False,
            "architectures": ["MarianMTModel"],
            "attention_dropout": 0.1,
            "bos_token_id": 0,
            "classif_dropout": 0.1,
            "classifier_dropout": 0.0,
            "d_model": 512,
            "decoder_attention_heads": 8,
            "decoder_ffn_dim": 3072,
            "decoder_layerdrop": 0.0,
            "decoder_layers": 6,
            "decoder_start_token_id": 2,
            "dropout": 0.1,
            "encoder_attention_heads": 8,
            "encoder_ffn_dim": 2048,
            "encoder_layerdrop": 0.0,
            "encoder_layers": 6,
            "eos_token_id": 0,
            "early_stopping": True,
            "forced_eos_token_id": 0,
            "gradient_checkpointing": False,
            "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
            "init_std": 0.02,
            "is_encoder_decoder": True,
            "max_position_embeddings": 512,
            "model_type": "marian",
            "no_repeat_ngram_size": 3,
            "normalize_before": False,
            "normalize_embedding": False,
            "num_beams": 4,
            "num_hidden_layers": 6,
            "pad_token_id": 58100,
            "scale_embedding": True,
            "task_specific_params": {},
            "use_cache": True,
            "vocab_size": 58101,
            "max_length": 512,
            "bad_words_ids": [[58100]],
            "decoder_vocab_size": 58101,
            "share_encoder_decoder_embeddings": True,
            "static_position_embeddings": True,
        },
        "MarianEncoder",
        48_924_160,
    ),
}

# nomic-embed-text-v1.5: keys of GPT-2, and code of its own, which is never run.
NOMIC_PUBLISHED: dict[str, Any] = {
    "activation_function": "swiglu",
    "architectures": ["NomicBertModel"],
    "attn_pdrop": 0.0,
    "auto_map": {"AutoModel": "modeling_hf_nomic_bert.NomicBertModel"},
    "bos_token_id": None,
    "causal": False,
    "dense_seq_output": True,
    "embd_pdrop": 0.0,
    "eos_token_id": None,
    "fused_bias_fc": True,
    "fused_dropout_add_ln": True,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-12,
    "max_trained_positions": 2048,
    "mlp_fc1_bias": False,
    "mlp_fc2_bias": False,
    "model_type": "nomic_bert",
    "n_embd": 768,
    "n_head": 12,
    "n_inner": 3072,
    "n_layer": 12,
    "n_positions": 8192,
    "pad_vocab_size_multiple": 64,
    "parallel_block": False,
    "parallel_block_tied_norm": False,
    "prenorm": False,
    "qkv_proj_bias": False,
    "reorder_and_upcast_attn": False,
    "resid_pdrop": 0.0,
    "rotary_emb_base": 1000,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "rotary_emb_scale_base": None,
    "rotary_scaling_factor": None,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
    "summary_activation": None,
    "summary_first_dropout": 0.0,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "torch_dtype": "float32",
    "transformers_version": "4.34.0",
    "type_vocab_size": 2,
    "use_cache": True,
    "use_flash_attn": True,
    "use_rms_norm": False,
    "use_xentropy": True,
    "vocab_size": 30528,
}


def test_nomics_published_form_has_its_published_count():
    assert count(from_config(NOMIC_PUBLISHED).spec) == 136_731_648
    assert from_config(NOMIC_PUBLISHED).spec == from_config(NOMIC | {"vocab_size": 30528, "max_position_embeddings": 8192}).spec


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("qkv_proj_bias", True, "qkv_proj_bias = true is not supported"),
        ("prenorm", True, "prenorm = true is not supported"),
        ("rotary_emb_fraction", 0.5, "rotary_emb_fraction = 0.5 is not supported"),
        ("activation_function", "gelu", 'activation_function = "gelu" is not supported'),
        (
            "vocab_size",
            30522,
            "it must be a multiple of pad_vocab_size_multiple = 64: give 30528",
        ),
        ("mlp_fc1_bias", None, "mlp_fc1_bias is null"),
        ("num_experts", 8, "num_experts = 8 is not a known key"),
        ("architectures", ["NomicBertForMaskedLM"], "only the encoder is read: --as NomicBertModel"),
    ],
)
def test_other_values_in_nomics_published_form_are_refused(key, value, words):
    assert words in refusal(NOMIC_PUBLISHED | {key: value})


def test_angles_of_gtes_published_form_are_scaled():
    new = BERT | {"model_type": "new", "position_embedding_type": "rope", "rope_theta": 500000, "type_vocab_size": 0}
    spec = from_config(new | {"rope_scaling": {"type": "ntk", "factor": 2.0}}, as_class="NewModel").spec
    assert (spec.rotary_base, spec.rotary_divisor) == (1e6, 2.0 ** (2 / 64))
    assert "only {" in refusal(new | {"rope_scaling": {"type": "linear", "factor": 2.0}}, "NewModel")
    assert "position_embedding_type" in refusal(new | {"position_embedding_type": "absolute"}, "NewModel")


# jina-embeddings-v2-base-en: BERT's model_type, and code of its own, which is never run.
JINA_FILE = Path(__file__).parents[1] / "data" / "models" / "jina-v2-base-en-published.json"
JINA_PUBLISHED: dict[str, Any] = json.loads(JINA_FILE.read_text(encoding="utf-8"))["config"]


def test_jinas_second_bert_is_known_by_its_class():
    reading = from_config(JINA_PUBLISHED)
    assert (reading.family, reading.spec.position, reading.spec.activation) == ("jina_bert", "alibi", "geglu")
    assert count(reading.spec) == 137_368_320
    assert count(from_config(JINA_PUBLISHED, as_class="JinaBertForMaskedLM").spec) == 137_400_384
    spec = from_config(JINA_PUBLISHED | {"feed_forward_type": "reglu"}, as_class="JinaBertForMaskedLM").spec
    assert (spec.activation, spec.head_hidden) == ("reglu", "gelu")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"position_embedding_type": "absolute"}, 'position_embedding_type = "absolute" is not supported'),
        ({"position_embedding_type": None}, "position_embedding_type is null"),
        ({"feed_forward_type": "swiglu"}, 'feed_forward_type = "swiglu" is not supported'),
        ({"auto_map": None, "_name_or_path": ""}, "it must name jina-bert-implementation"),
        (
            {"auto_map": {"AutoModel": "m.JinaBertModel"}, "_name_or_path": ""},
            "it must name jina-bert-implementation",
        ),
        ({"auto_map": {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--m.M"}}, "layers of jina-bert-v2-qk-post-norm are not"),
        (
            {"model_type": "jina_bert"},
            "model_type = \"jina_bert\" is not known. Did you mean 'bert', the family of JinaBertModel?",
        ),
        ({"architectures": ["BertModel"]}, "only absolute positions are implemented for this family"),
        ({"alibi_starting_size": 512}, "alibi_starting_size = 512 is not a known key"),
    ],
    ids=str,
)
def test_other_files_of_jina_are_refused_in_one_line(changes, words):
    assert words in refusal(JINA_PUBLISHED | changes)


NEOBERT: dict[str, Any] = json.loads((JINA_FILE.parent / "neobert-published.json").read_text(encoding="utf-8"))["config"]


@pytest.mark.parametrize(("given", "width"), [(3072, 2048), (20, 16), (24, 16), (25, 16), (26, 24), (2, 8)])
def test_neoberts_width_is_two_thirds_of_the_one_given_rounded_up_to_eight(given, width):
    assert from_config(NEOBERT | {"intermediate_size": given}).spec.d_ff == width


def test_neoberts_head_has_an_output_matrix_of_its_own():
    assert count(from_config(NEOBERT).spec) == 245_136_954
    assert count(from_config(NEOBERT | {"tie_word_embeddings": True}).spec) == 245_136_954
    assert count(from_config(NEOBERT, as_class="NeoBERT").spec) == 221_665_536


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dim_head": 32}, "dim_head = 32 is not allowed: it must be hidden_size / num_attention_heads = 64."),
        ({"intermediate_size": 1}, "two thirds of it, in whole numbers, must be at least 1"),
        ({"norm_eps": None}, "norm_eps is null"),
        ({"rms_norm": True}, "rms_norm = true is not a known key"),
        ({"ngpt": True}, "ngpt = true is not a known key"),
        ({"rope_theta": 500.0}, "rope_theta = 500.0 is not a known key"),
        ({"architectures": ["NeoBERTForTokenClassification"]}, "is not known for model_type neobert"),
    ],
    ids=str,
)
def test_other_values_in_neoberts_file_are_refused(changes, words):
    assert words in refusal(NEOBERT | changes)


@pytest.mark.parametrize(
    ("pooling", "pool", "reads"),
    [(None, "first", "each"), ("late", "first", "each"), ("mean", "mean", "pooled"), ("bos", "first", "pooled")],
)
def test_euroberts_classifier_reads_according_to_its_pooling(pooling, pool, reads):
    given = {} if pooling is None else {"classifier_pooling": pooling}
    spec = from_config(EURO | given, as_class="EuroBertForSequenceClassification").spec
    assert (spec.pool, spec.head_reads, spec.head_hidden) == (pool, reads, "gelu")


def test_adapters_in_a_file_that_does_not_say_whose_they_are_are_refused():
    published = ROBERTA | {"model_type": "xlm-roberta", "position_embedding_type": "rotary", "rotary_emb_base": 20000.0}
    found = refusal(published | {"lora_adaptations": ["retrieval.query"], "lora_rank": 4, "architectures": ["XLMRobertaModel"]})
    assert "adapters are read where auto_map names the code that has them (XLMRobertaFlashConfig)" in found
    assert count(from_config(ROBERTA | {"model_type": "xlm-roberta", "lora_adaptations": None}).spec)


def test_bge_m3_is_a_plain_xlm_roberta():
    bge = ROBERTA | {"model_type": "xlm-roberta", "vocab_size": 250002, "hidden_size": 1024, "num_hidden_layers": 24}
    bge |= {"num_attention_heads": 16, "intermediate_size": 4096, "max_position_embeddings": 8194, "layer_norm_eps": 1e-5}
    assert count(from_config(bge).spec) == 567_754_752
    assert count(from_config(bge | {"num_labels": 1}, as_class="XLMRobertaForSequenceClassification").spec) == 567_755_777


# google/bigbird-roberta-base
BIG_BIRD = BERT | {"model_type": "big_bird", "vocab_size": 50358, "max_position_embeddings": 4096}


def test_big_birds_attention_is_complete_up_to_704_tokens_and_counted_for_any_length():
    spec = from_config(BIG_BIRD).spec
    assert (spec.complete_up_to, spec.positions, spec.longest, count(spec)) == (704, 4096, 704, 127_468_800)
    full = from_config(BIG_BIRD | {"attention_type": "original_full"}).spec
    assert full == spec.replace(complete_up_to=None) and full.longest == 4096
    assert from_config(BIG_BIRD | {"block_size": 16, "num_random_blocks": 1}).spec.complete_up_to == 7 * 16
    assert from_config(BIG_BIRD | {"block_size": 1024}).spec.longest == 4096
    with pytest.raises(
        GlassformerError, match="t=705 is too long: with complete_up_to=704, longer texts need block-sparse attention"
    ):
        build(spec, t=705)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"attention_type": "sparse"}, 'attention_type = "sparse" is not supported'),
        ({"block_size": 0}, "block_size must be a whole number from 1"),
        ({"num_random_blocks": -1}, "num_random_blocks must be a whole number from 0"),
        ({"use_bias": 1}, "use_bias must be true or false"),
        ({"architectures": ["BigBirdForCausalLM"]}, "it predicts the next token"),
    ],
    ids=str,
)
def test_other_values_in_big_birds_file_are_refused(changes, words):
    assert words in refusal(BIG_BIRD | changes)


def test_big_birds_question_answering_is_counted_and_not_computed():
    spec = from_config(BIG_BIRD | {"type_vocab_size": 16}, as_class="BigBirdForQuestionAnswering").spec
    assert (spec.head_block, spec.classes, count(spec)) == (True, 2, 131_614_466)  # bigbird-base-trivia-itc
    small = spec.replace(layers=1, d_model=12, heads=2, d_k=None, d_ff=8, vocab=20, positions=9)
    with pytest.raises(GlassformerError, match="head_block=true leaves out the tokens of a question"):
        gf.run(small, t=4)
    with pytest.raises(GlassformerError, match="head_block=true puts a feed-forward block before the classes of tokens"):
        small.replace(head="none")


def test_heads_of_big_bird_keep_the_pooler_that_they_do_not_read():
    classified = from_config(BIG_BIRD, as_class="BigBirdForSequenceClassification").spec
    assert (classified.head_reads, classified.head_hidden, classified.pooler) == ("first", "gelu_tanh", "dense")
    assert from_config(BIG_BIRD, as_class="BigBirdForTokenClassification").spec.spare_pooler


@pytest.mark.parametrize("name", COUNTED)
def test_an_unmodified_file_from_the_hub_has_the_count_of_its_class(name):
    config, model_class, parameters = COUNTED[name]
    assert count(from_config(config, as_class=model_class).spec) == parameters


def test_a_copy_of_the_published_gte_code_is_read_as_the_original():
    new = {key: value for key, value in BERT.items() if key != "model_type"} | {"vocab_size": 250048, "type_vocab_size": 1}
    new |= {
        "position_embedding_type": "rope",
        "rope_theta": 20000,
        "rope_scaling": {"factor": 8.0, "type": "ntk"},
        "pack_qkv": True,
    }
    code = {"AutoModel": "modeling_hf_alibaba_nlp_gte.GteModel"}
    copied = from_config(new | {"model_type": "gte", "auto_map": code, "architectures": ["GteModel"]})
    original = from_config(new | {"model_type": "new", "architectures": ["NewModel"]})
    assert copied.spec == original.spec
    assert count(copied.spec) == 305_368_320  # snowflake-arctic-embed-m-v2.0
    other = new | {"model_type": "gte", "rope_scaling": None, "auto_map": {"AutoModel": "other.GteModel"}}
    assert "refers to custom code" in refusal(other)


def test_a_vivit_file_may_repeat_its_sizes_but_not_contradict_them():
    config = json.loads((Path(__file__).parents[1] / "data/models/vivit-b-16x2-kinetics400.json").read_text())["config"]
    repeated = config | {"video_size": [32, 224, 224]}
    assert from_config(repeated).spec == from_config(config).spec
    assert "video_size = [16, 224, 224] is not allowed: it must be" in refusal(config | {"video_size": [16, 224, 224]})


def test_the_width_of_a_late_interaction_head_is_not_guessed():
    message = refusal(BERT | {"architectures": ["HF_ColBERT"]})
    assert message == (
        "config.json: HF_ColBERT is not supported: the width of its projection is not in the file. "
        "--as BertModel reads the encoder."
    )


FLAUBERT: dict[str, Any] = {
    **{"model_type": "flaubert", "emb_dim": 768, "n_layers": 12, "n_heads": 12, "vocab_size": 68729, "pad_token_id": 2},
    **{"max_position_embeddings": 512, "n_langs": 1, "pre_norm": False, "gelu_activation": True, "summary_type": "first"},
}


def test_xlm_and_flaubert_are_bert_under_other_names():
    assert count(from_config(FLAUBERT, as_class="FlaubertWithLMHeadModel").spec) == 138_301_817
    before = from_config(FLAUBERT | {"pre_norm": True}).spec
    assert (before.norm, before.final_norm, before.embedding_norm) == ("pre", "none", True)
    several = {key: value for key, value in FLAUBERT.items() if key != "pre_norm"} | {"model_type": "xlm", "n_langs": 15}
    spec = from_config(several).spec
    assert count(spec) == count(from_config(several | {"use_lang_emb": False}).spec) + 15 * 768
    with pytest.raises(GlassformerError, match="languages=15 needs a token embedding"):
        EncoderSpec(languages=15)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"asm": True}, "asm = true is not supported"),
        ({"causal": True}, "causal = true is not supported"),
        ({"sinusoidal_embeddings": True}, "sinusoidal_embeddings = true is not supported"),
        ({"summary_type": "mean"}, 'summary_type = "mean" is not supported'),
        ({"summary_use_proj": False}, "a summary other than a linear map to the labels is not implemented"),
        ({"summary_activation": "tanh"}, "a function after the classes is not implemented"),
        ({"architectures": ["FlaubertForQuestionAnswering"]}, "its head searches for answers with beams"),
    ],
    ids=str,
)
def test_other_values_in_flauberts_file_are_refused(changes, words):
    assert words in refusal({"architectures": ["FlaubertForSequenceClassification"], **FLAUBERT, **changes})
