"""Hugging Face configs: exact counts for supported models, and one-line errors for the rest."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from glassformer.configs.huggingface import FAMILIES, from_config, unwrap
from glassformer.configs.huggingface.refused import refused
from glassformer.errors import GlassformerError
from glassformer.program import build
from glassformer.spec import EncoderSpec

MODELS = Path(__file__).parents[1] / "data" / "models"

# Records of unsupported families, and a phrase of the error that names what is missing.
NOT_YET = {
    "swin-tiny": "shifted windows",
}
READ = sorted(path.stem for path in MODELS.glob("*.json") if path.stem not in NOT_YET)

# Children of a Hugging Face model that hold its head. A tied matrix is counted there too.
HEADS = """
    classifier cls cls_classifier decoder discriminator_predictions distillation_classifier encoder_to_decoder generator_lm_head
    generator_predictions head lm_head pre_classifier projector predictions qa_outputs sequence_summary sop_classifier
    text_projection visual_projection vocab_layer_norm vocab_projector vocab_transform
""".split()

BERT: dict[str, Any] = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
T5: dict[str, Any] = {
    "model_type": "t5",
    "vocab_size": 100,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
}
VIT: dict[str, Any] = {
    "model_type": "vit",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "image_size": 28,
    "patch_size": 7,
}
# The published SigLIP config of a large model: only what differs from the defaults of the class.
SIGLIP: dict[str, Any] = {
    "model_type": "siglip",
    "architectures": ["SiglipModel"],
    "initializer_factor": 1.0,
    "text_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27},
    "vision_config": {
        "hidden_size": 1152,
        "image_size": 384,
        "intermediate_size": 4304,
        "model_type": "siglip_vision_model",
        "num_attention_heads": 16,
        "num_hidden_layers": 27,
        "patch_size": 14,
    },
}


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def spec_of(document: dict[str, Any]) -> EncoderSpec:
    config, model_class, changes = unwrap(document)
    return from_config(config, as_class=model_class).spec.replace(**changes)


def count(spec: EncoderSpec) -> int:
    return sum(parameter.size for parameter in build(spec).parameters)


def multiply_adds(spec: EncoderSpec, shapes: dict[str, list[int]]) -> int:
    """Return the multiply-adds for the input of the record; an image of another size is encoded at its own size."""
    *batch, t = shapes.get("input_ids", [next(iter(shapes.values()))[0], 0])
    pixels = len(shapes.get("pixel_values", ())) == 4  # and not patches
    if pixels and spec.image is not None and shapes["pixel_values"][-2:] != list(spec.image_size):
        spec = spec.replace(image=shapes["pixel_values"][-1])
    texts = batch[0] * (batch[1] if len(batch) > 1 else 1)  # multiple choice: each choice is a text
    program = build(spec, batch=texts, t=t or None)
    return sum(step.operation.macs(step.inputs, step.output) for step in program.steps)


def refusal(config: Any, as_class: str | None = None) -> str:
    with pytest.raises(GlassformerError) as caught:
        from_config(config, as_class=as_class)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# The records -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READ)
def test_the_count_equals_the_published_one(name):
    truth = record(name)
    program = build(spec_of(truth))
    assert sum(parameter.size for parameter in program.parameters) == truth["parameters"]["total"]
    assert sum(parameter.size for parameter in program.parameters if parameter.frozen) == truth["parameters"]["frozen"]


@pytest.mark.parametrize("name", [name for name in READ if record(name)["flops"]["macs"] is not None])
def test_the_multiply_adds_equal_the_published_ones(name):
    truth = record(name)
    assert multiply_adds(spec_of(truth), truth["flops"]["input_shapes"]) == truth["flops"]["macs"]


@pytest.mark.parametrize("name", READ)
def test_embeddings_pooler_and_head_each_have_their_published_count(name):
    truth = record(name)
    spec = spec_of(truth)
    children = truth["parameters"]["by_top_level"]
    ours: dict[str, int] = {}
    for parameter in build(spec).parameters:
        part = "projection" if parameter.name in ("embeddings.W_E", "embeddings.b_E") else parameter.name.partition(".")[0]
        part = "picture" if parameter.name.startswith("embeddings.picture.") else part  # beside the embeddings of the text
        ours[part] = ours.get(part, 0) + parameter.size
    tied = (spec.vocab or 0) * spec.table_width if spec.head in ("mlm", "pretrain") and spec.tie else 0
    heads = sum(size for child, size in children.items() if child in HEADS)
    heads += sum(truth["parameters"]["top_level_direct"].get(name, 0) for name in ("layer_weights", "mask_token"))
    if spec.pooler == "attention" and spec.head == "none":
        assert children["head"] == ours["pooler"]
    elif heads:  # the norm that a classifier reads through may be a part of it
        inside = ours.get("pooler", 0) if spec.pool == "class_tokens" else 0
        assert heads == ours.get("head", 0) + tied + inside
    if "pooler" in children:
        assert children["pooler"] == ours["pooler"]
    if "embeddings" in children:
        norm = children.get("pre_layrnorm", 0)  # CLIP's embedding norm is a separate child, spelt like this
        projection = ours["projection"] if truth["config"]["model_type"] == "fnet" else 0  # elsewhere it is beside them
        assert children["embeddings"] + norm == ours["embeddings"] + projection


def test_whispers_convolutions_table_layers_and_norm_each_have_their_published_count():
    truth = record("whisper-tiny-encoder")
    ours: dict[str, int] = {}
    parts = {"W_conv1": "conv1", "b_conv1": "conv1", "W_conv2": "conv2", "b_conv2": "conv2", "E_position": "embed_positions"}
    for parameter in build(spec_of(truth)).parameters:
        place = parameter.name.partition(".")[0].replace("final_norm", "layer_norm")
        part = parts.get(parameter.tensor.symbol, place)
        ours[part] = ours.get(part, 0) + parameter.size
    assert ours == truth["parameters"]["by_top_level"]


def test_the_records_cover_every_family_that_is_read():
    read = {from_config(*unwrap(record(name))[:1], as_class=record(name)["model_class"]).family for name in READ}
    assert read == set(FAMILIES)


@pytest.mark.parametrize(("name", "missing"), NOT_YET.items())
def test_an_unsupported_family_is_refused_with_what_is_missing(name, missing):
    truth = record(name)
    message = refusal(truth["config"], truth["model_class"])
    assert message.startswith(f"config.json: {truth['config']['model_type']} is not supported yet: it ")
    assert missing in message


@pytest.mark.parametrize("model_type", refused())
def test_every_refused_family_has_its_line(model_type):
    assert refusal({"model_type": model_type}) == f"config.json: {model_type} is not supported yet: it {refused()[model_type]}."


def test_no_family_is_both_read_and_refused():
    assert not set(FAMILIES) & set(refused())


# Which class -----------------------------------------------------------------------------------------------------------


def test_the_class_is_the_requested_one_then_the_files_then_the_familys():
    assert from_config(BERT | {"architectures": ["BertForMaskedLM"]}, as_class="BertForTokenClassification").spec.head == "tag"
    assert from_config(BERT | {"architectures": ["BertForMaskedLM"]}).spec.head == "mlm"
    bare = {key: value for key, value in BERT.items() if key != "architectures"}
    assert from_config(bare).model_class == "BertModel"
    assert from_config(bare).spec.pooler == "dense"


def test_an_old_file_without_model_type_is_recognised_by_its_class():
    old = {key: value for key, value in BERT.items() if key != "model_type"}
    assert from_config(old).family == "bert"
    assert "model_type is missing" in refusal(old | {"architectures": ["Model"]})


def test_classes_of_other_frameworks_are_equivalent():
    assert from_config(BERT | {"architectures": ["TFBertForMaskedLM"]}).model_class == "BertForMaskedLM"


def test_an_unknown_class_suggests_the_closest():
    message = refusal(BERT, "BertForMaskedLanguage")
    assert "class 'BertForMaskedLanguage' is not known for model_type bert. Did you mean 'BertForMaskedLM'?" in message
    assert "--as chooses one of BertModel, BertForPreTraining, " in message


def test_another_head_of_an_encoder_decoder_is_refused_and_the_model_offered():
    assert refusal(T5 | {"architectures": ["T5ForQuestionAnswering"]}) == (
        "config.json: T5ForQuestionAnswering is not supported: its head is not implemented. "
        "--as T5ForConditionalGeneration reads the model."
    )
    assert from_config(T5 | {"architectures": ["T5ForConditionalGeneration"]}, as_class="T5EncoderModel").spec.norm_kind == "rms"
    assert "it is a decoder" in refusal(BERT, "BertLMHeadModel")


def test_an_unknown_family_suggests_the_closest():
    assert "model_type = \"robberta\" is not known. Did you mean 'roberta'?" in refusal({"model_type": "robberta"})
    assert "model_type = 3 is not known. Known: bert, " in refusal({"model_type": 3})


def test_an_unknown_family_is_explained_by_its_class():
    for named, message in (
        (["OtherModel"], 'model_type = "other" is not known, nor is its class OtherModel. Known: bert, '),
        (["BertModel"], "model_type = \"other\" is not known. Did you mean 'bert', the family of BertModel?"),
        (
            ["OtherForCausalLM"],
            '"other" is not known, and OtherForCausalLM is not supported: it predicts the next token',
        ),
    ):
        assert message in refusal({"model_type": "other", "architectures": named})
    seq2seq = {"model_type": "other", "architectures": ["OtherModel"], "is_encoder_decoder": True}
    assert "OtherModel is not supported: it has a decoder" in refusal(seq2seq)
    assert "the file refers to custom code" in refusal({"model_type": "other", "auto_map": {"AutoModel": "m.M"}})


def test_a_derived_head_width_is_named_by_the_keys_it_comes_from():
    config = BERT | {
        "model_type": "modernbert",
        "architectures": ["ModernBertModel"],
        "hidden_size": 60,
        "num_attention_heads": 4,
    }
    del config["type_vocab_size"]
    assert "config.json: hidden_size / num_attention_heads = 15 is odd: rotary positions" in refusal(config)


def test_mpnet_has_no_segments_whatever_its_config_says():
    config = BERT | {"model_type": "mpnet", "architectures": ["MPNetModel"]}
    without = {key: value for key, value in config.items() if key != "type_vocab_size"}
    assert from_config(config).spec == from_config(without).spec


def test_architectures_is_a_list_of_names():
    assert 'architectures = "BertModel" is not allowed: it must be a list of class names.' in refusal(
        BERT | {"architectures": "BertModel"}
    )


def test_a_config_is_an_object():
    assert refusal([]) == "config.json: a config must be an object with keys such as hidden_size, found []."


# Sizes -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key in BERT if key not in ("model_type", "architectures")])
def test_a_missing_size_is_not_guessed(key):
    config = {name: value for name, value in BERT.items() if name != key}
    assert refusal(config) == f"config.json: {key} is missing. Add it to the file: sizes are not guessed."


def test_a_size_that_is_null_is_missing():
    assert "config.json: hidden_size is null" in refusal(BERT | {"hidden_size": None})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("384", '"384"'),
        (12.0, "12.0"),
        (True, "true"),
        ([384], "[384]"),
        ({}, "{}"),
        (float("nan"), "nan"),
        (0, "0"),
        (-1, "-1"),
        (10**12, "1000000000000"),
    ],
)
def test_a_size_of_another_type_is_refused_by_key_and_value(value, text):
    message = refusal(BERT | {"hidden_size": value})
    assert (
        message
        == f"config.json: hidden_size = {text} is not allowed: hidden_size must be a whole number from 1 to 1,000,000,000."
    )


def test_an_absurd_depth_is_refused_before_anything_is_built():
    assert "num_hidden_layers = 1000000000 is not allowed" in refusal(BERT | {"num_hidden_layers": 10**9})


def test_heads_that_do_not_divide_are_named_by_the_configs_keys():
    assert refusal(BERT | {"num_attention_heads": 7}) == (
        "config.json: num_attention_heads = 7 does not divide hidden_size = 384: every head needs a whole number of features. "
        "Try 6 heads of 64."
    )
    assert "n_heads = 7 does not divide dim = 64" in refusal(
        {
            "model_type": "distilbert",
            "vocab_size": 9,
            "dim": 64,
            "n_layers": 1,
            "n_heads": 7,
            "hidden_dim": 8,
            "max_position_embeddings": 4,
        }
    )


def test_errors_of_the_specs_rules_name_the_configs_keys():
    assert refusal(T5 | {"relative_attention_num_buckets": 600}) == (
        "config.json: relative_attention_max_distance = 128 is too small for relative_attention_num_buckets = 600: each "
        "distance below 150 has its own bucket, and larger ones share. Give relative_attention_max_distance = 151 or more."
    )
    assert "num_labels = 0 is not allowed" in refusal(BERT | {"num_labels": 0}, "BertForSequenceClassification")


@pytest.mark.parametrize(
    ("value", "text"), [(float("nan"), "nan"), (0, "0"), ("1e-5", '"1e-5"'), (float("inf"), "inf"), (None, "null")]
)
def test_eps_is_a_positive_number(value, text):
    assert f"layer_norm_eps = {text} is not allowed" in refusal(BERT | {"layer_norm_eps": value})


def test_a_flag_is_true_or_false():
    assert "qkv_bias = 1 is not allowed: qkv_bias must be true or false." in refusal(VIT | {"qkv_bias": 1})


def test_an_image_may_be_oblong_but_not_text():
    spec = from_config(VIT | {"image_size": [28, 56], "patch_size": [7, 14]}).spec
    assert spec.patch_grid == (4, 4)
    assert (
        'image_size = "28" is not allowed: image_size must be a whole number from 1 to 1,000,000,000, or [height, width].'
        in refusal(VIT | {"image_size": "28"})
    )
    assert "patch_size = 29 is larger than image_size = 28" in refusal(VIT | {"patch_size": 29})


# Labels ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "labels"),
    [
        ({}, 2),
        ({"id2label": {"0": "a", "1": "b", "2": "c"}}, 3),
        ({"num_labels": 5}, 5),
        ({"id2label": {"0": "a"}, "num_labels": 4}, 4),
    ],
)
def test_num_labels_takes_precedence_over_label_names_and_defaults_to_two(keys, labels):
    assert from_config(BERT | keys, as_class="BertForSequenceClassification").spec.classes == labels


def test_labels_of_another_type_are_refused():
    assert 'num_labels = "5" is not allowed' in refusal(BERT | {"num_labels": "5"}, "BertForTokenClassification")
    assert "id2label = 5 is not allowed" in refusal(BERT | {"id2label": 5}, "BertForTokenClassification")


# Keys that change the computation ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "position_embedding_type",
            "relative_key",
            'position_embedding_type = "relative_key" is not supported: only absolute positions',
        ),
        ("is_decoder", True, "is_decoder = true is not supported: decoders mask later tokens"),
        ("add_cross_attention", True, "add_cross_attention = true is not supported: cross-attention is not implemented"),
        ("pruned_heads", {"0": [1]}, "pruned_heads = an object is not supported: layers with different numbers of heads"),
        ("is_encoder_decoder", True, "is_encoder_decoder = true is not supported: only false is implemented"),
        ("rope_scaling", {"type": "ntk"}, "rope_scaling = an object is not supported: scaled rotary angles"),
        ("quantization_config", {"bits": 4}, "quantised weights are not implemented"),
        ("auto_map", {"AutoModel": "m.M"}, "the file refers to custom code, which is never run"),
        ("hidden_act", "mish", 'hidden_act = "mish" is not supported: hidden_act must be one of relu, gelu, '),
        ("hidden_act", "gelu_newest", "Did you mean 'gelu_new'?"),
    ],
)
def test_a_key_that_changes_the_computation_is_refused_by_name_and_value(key, value, words):
    assert words in refusal(BERT | {key: value})


@pytest.mark.parametrize("value", [None, False, {}, 0])
def test_a_key_with_an_empty_value_has_no_effect(value):
    assert count(from_config(BERT | {"pruned_heads": value, "is_decoder": value}).spec) == 22_713_216


def test_an_unknown_key_refuses_the_file():
    assert refusal(BERT | {"memory_slots": 16}) == (
        "config.json: memory_slots = 16 is not a known key, and may change what is computed. Remove it if it does not."
    )
    long = refusal(BERT | {"notes\n" + "x" * 900: "y" * 900})
    assert len(long) < 300


@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", [], {}])
def test_an_unknown_key_with_an_empty_value_is_kept_aside(value):
    reading = from_config(BERT | {"memory_slots": value})
    assert reading.aside["memory_slots"] == value
    assert count(reading.spec) == 22_713_216


def test_bookkeeping_is_kept_aside_and_the_config_is_not_modified():
    config = BERT | {
        "torch_dtype": "float16",
        "my_dropout_rate": 0.3,
        "mask_token_id": 4,
        "id2label": {"0": "x"},
        "initializer_range": 0.02,
    }
    before = copy.deepcopy(config)
    reading = from_config(config)
    assert config == before
    held = {
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
        "type_vocab_size",
    }
    assert set(reading.aside) == set(config) - held


GARBAGE: list[Any] = ["x", "768", 12.5, -1, True, None, [], {}, [[1]], {"a": 1}, float("nan"), 10**30, [None]]


@pytest.mark.parametrize(
    "name", ["bert-base-mlm", "t5-small-encoder", "bart-base-encoder", "modernbert-base", "beit-default", "clip-vit-b16-cls1000"]
)
def test_any_value_of_any_key_gives_a_spec_or_a_one_line_error(name):
    truth = record(name)
    for key in truth["config"]:
        for value in GARBAGE:
            try:
                from_config(truth["config"] | {key: value}, as_class=truth["model_class"])
            except GlassformerError as error:
                assert len(str(error)) < 900


def test_two_names_of_one_size_must_agree():
    config = record("distilbert-german-synonyms")["config"]
    assert from_config(config | {"hidden_size": config["dim"]}).spec.d_model == config["dim"]
    assert f"hidden_size = 1 is not allowed: it contradicts dim = {config['dim']}, which has the same meaning." in refusal(
        config | {"hidden_size": 1}
    )


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("roberta-pad0", {"pad_token_id": None}, "pad_token_id = null is not allowed"),
        ("roberta-pad0", {"pad_token_id": 513}, "positions start after row 513, so no row would be left"),
        ("mpnet-base", {"relative_attention_num_buckets": 48}, "MPNet always fills 32 buckets"),
        ("albert-groups5-of-12", {"num_hidden_groups": 13}, "some groups would never be used with num_hidden_layers = 12"),
        (
            "modernbert-every2",
            {"layer_types": ["full_attention"]},
            "it must name full_attention or sliding_attention for each of 7 layers",
        ),
        (
            "modernbert-every2",
            {"layer_types": ["sliding_attention"] * 6 + ["full_attention"]},
            "full_attention layers must be evenly spaced, starting at layer 0",
        ),
        (
            "modernbert-every2",
            {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}},
            'rope_type = "yarn" is not supported: scaled rotary angles',
        ),
        ("modernbert-every2", {"hidden_activation": "tanh"}, "gated blocks are implemented with relu, gelu, gelu_tanh, silu."),
        ("modernbert-silu-cls5-mean", {"classifier_pooling": "max"}, 'classifier_pooling = "max" is not supported'),
        ("eurobert-ner", {"num_key_value_heads": 5}, "num_key_value_heads = 5 is not allowed: it must divide"),
        (
            "eurobert-ner",
            {"rope_parameters": {"rope_theta": 1e4, "factor": 2.0}},
            "rope_parameters.factor = 2.0 is not a known key",
        ),
        ("ernie-notask-mlm", {"use_task_id": 1}, "use_task_id must be true or false"),
        ("distilbert-squad", {"num_labels": 3}, "question answering needs 2 labels"),
        ("electra-small-multiplechoice", {"summary_use_proj": False}, "a summary without a projection"),
        (
            "t5-odd-dkv-encoder",
            {"feed_forward_proj": "gated-mish", "dense_act_fn": "mish"},
            'feed_forward_proj = "gated-mish" is not supported',
        ),
        ("bart-scaled-encoder", {"normalize_before": True}, "normalize_before = true is not supported: only false"),
        ("bart-scaled-encoder", {"num_hidden_layers": 5}, "it contradicts encoder_layers = 2, which has the same meaning"),
        ("beit-relative-shared", {"use_relative_position_bias": True}, "a shared table together with per-layer tables"),
        ("beit-base-pt22k-mim", {"use_mean_pooling": False}, "two consecutive norms"),
        ("vit-base-16-224-model", {"pooler_output_size": 256}, "only a pooler of width hidden_size = 768 is implemented"),
        ("vit-base-16-224-model", {"pooler_act": "relu"}, 'pooler_act = "relu" is not supported'),
        (
            "siglip-base-vision",
            {"image_size": [224, 112]},
            "image_size = [224, 112] is not allowed: images and patches of this family must be square",
        ),
        ("ibert-base", {"quant_mode": True}, "quant_mode = true is not supported"),
    ],
)
def test_limits_of_each_family(name, keys, words):
    truth = record(name)
    assert words in refusal(truth["config"] | keys, truth["model_class"])


@pytest.mark.parametrize(
    ("name", "model_class", "why"),
    [
        ("splinter-base", "SplinterForQuestionAnswering", "its head compares tokens with question tokens"),
        ("beit-absolute", "BeitForSemanticSegmentation", "its segmentation head is not implemented"),
        ("bart-scaled-encoder", "BartForSequenceClassification", "its head is not implemented"),
        ("marian-odd-encoder", "MarianForCausalLM", "it is a decoder of an encoder-decoder"),
    ],
)
def test_an_unsupported_class_is_refused_with_the_reason(name, model_class, why):
    assert f"{model_class} is not supported: {why}" in refusal(record(name)["config"], model_class)


def test_old_modernbert_keys_are_equivalent_to_the_new_ones():
    new = record("modernbert-base")["config"]
    old = {key: value for key, value in new.items() if key not in ("layer_types", "rope_parameters")}
    old |= {"global_attn_every_n_layers": 3, "global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    assert from_config(old).spec == from_config(new).spec
    assert from_config(old | {"local_rope_theta": None}).spec.rotary_base_local == 160000.0


def test_derived_t5_keys_take_precedence_over_their_source():
    assert from_config(T5 | {"feed_forward_proj": "gated-gelu"}).spec.activation == "geglu_tanh"
    assert (
        from_config(T5 | {"feed_forward_proj": "relu", "is_gated_act": True, "dense_act_fn": "silu"}).spec.activation == "swiglu"
    )


# Two towers in one file --------------------------------------------------------------------------------------------------


def test_a_file_of_two_towers_is_refused_with_the_choices():
    words = "contains two encoders, for text and for images. --as SiglipTextModel or --as SiglipVisionModel reads one of them."
    assert refusal(SIGLIP) == f"config.json: SiglipModel {words}"
    bare = {key: value for key, value in SIGLIP.items() if key != "architectures"}
    assert refusal(bare) == f"config.json: a siglip config {words}"


def test_a_tower_inside_another_config_uses_the_defaults_of_its_class():
    reading = from_config(SIGLIP, as_class="SiglipVisionModel")
    assert count(reading.spec) == record("siglip-so400m-14-384-vision")["parameters"]["total"]
    assert reading.aside["text_config"] == SIGLIP["text_config"]
    text = from_config(SIGLIP, as_class="SiglipTextModel").spec
    assert (text.vocab, text.positions, text.classes) == (32000, 64, 1152)


def test_a_tower_with_its_own_config_has_no_default_sizes():
    alone = SIGLIP["text_config"] | {"model_type": "siglip_text_model"}
    assert "vocab_size is missing" in refusal(alone)


def test_the_second_copy_in_old_clip_files_takes_precedence():
    config = {
        "model_type": "clip",
        "projection_dim": 768,
        "text_config": {"hidden_size": 512, "num_hidden_layers": 3},
        "text_config_dict": {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
        "vision_config": {},
    }
    spec = from_config(config, as_class="CLIPTextModel").spec
    assert (spec.d_model, spec.layers) == (768, 12)
    assert count(spec) == 123_060_480


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"text_config": None}, "text_config is missing: it describes SiglipTextModel."),
        ({"text_config": 3}, "text_config = 3 is not allowed: it must be an object that describes one encoder."),
        ({"text_config": {"model_type": "bert"}}, 'its model_type must be siglip_text_model, found "bert".'),
        ({"text_config": {"experts": 4}}, "experts = 4 is not a known key"),
        ({"fusion": "late"}, 'fusion = "late" is not a known key'),
    ],
)
def test_a_bad_tower_is_one_line(keys, words):
    assert words in refusal(SIGLIP | keys, "SiglipTextModel")


# Records: a config with its class ----------------------------------------------------------------------------------------


def test_a_bare_config_is_its_own_record():
    assert unwrap(BERT) == (BERT, None, {})


def test_constructor_arguments_change_the_spec():
    assert unwrap({"config": BERT, "model_class": "BertModel", "model_kwargs": {"add_pooling_layer": False}})[2] == {
        "pooler": "none"
    }
    assert unwrap({"config": BERT, "model_class": "BertModel", "model_kwargs": {"add_pooling_layer": True}})[2] == {}
    assert unwrap({"config": VIT, "model_class": "ViTModel", "model_kwargs": {"use_mask_token": True}})[2] == {"mask_token": True}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"model_kwargs": {"depth": 3}, "model_class": "BertModel"}, "model_kwargs: depth = 3 is not supported for BertModel."),
        (
            {"model_kwargs": {"add_pooling_layer": True}, "model_class": "IJepaModel"},
            "add_pooling_layer = true is not supported for IJepaModel",
        ),
        ({"model_kwargs": [1]}, "model_kwargs = [1] is not allowed"),
        ({"model_class": 3}, "model_class = 3 is not allowed: it must be the name of a class."),
    ],
)
def test_a_bad_record_is_one_line(document, words):
    with pytest.raises(GlassformerError) as caught:
        unwrap({"config": BERT, **document})
    assert words in str(caught.value)
