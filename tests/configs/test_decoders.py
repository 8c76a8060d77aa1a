"""Decoder-only models: published counts, and transformers' own models on the meta device as the witness."""

import json

import numpy as np
import pytest

import glassformer as gf
from glassformer.configs.huggingface.reader import DECODERS
from glassformer.numbers import run
from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.rotary_scales import pair_divisors

SMALL = {"vocab_size": 37, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2, "pad_token_id": 0}
OWN = {  # sizes that each family names in its own way
    "gpt2": {"n_positions": 32},
    "opt": {"ffn_dim": 56, "word_embed_proj_dim": 48, "max_position_embeddings": 32},
    "gpt_neox": {"intermediate_size": 56},
}
LLAMA = {"intermediate_size": 56, "num_key_value_heads": 2}
GROUPED = {"num_key_value_heads": 1}
VARIANTS = {
    "gpt2": [{"n_inner": 50}, {"tie_word_embeddings": False}, {"scale_attn_weights": False}],
    "opt": [{"do_layer_norm_before": False}, {"_remove_final_layer_norm": True}, {"enable_bias": False}],
    "gpt_neox": [{"attention_bias": False}, {"use_parallel_residual": False}, {"num_attention_heads": 3}],
    "llama": [GROUPED, {"head_dim": 10}, {"attention_bias": True}, {"mlp_bias": True}, {"tie_word_embeddings": True}],
    "mistral": [GROUPED, {"head_dim": 6}, {"sliding_window": None}, {"sliding_window": 5}],
    "qwen2": [GROUPED, {"use_sliding_window": True, "max_window_layers": 0}, {"tie_word_embeddings": True}],
    "qwen3": [GROUPED, {"head_dim": 6}, {"attention_bias": True}],
    "gemma": [GROUPED, {"head_dim": 16}, {"tie_word_embeddings": False}],
    "gemma2": [GROUPED, {"head_dim": 16}, {"query_pre_attn_scalar": 144}, {"final_logit_softcapping": None}],
    "phi3": [GROUPED, {"sliding_window": 7}, {"partial_rotary_factor": 0.5}],
    "olmo2": [GROUPED, {"attention_bias": True}, {"tie_word_embeddings": True}],
}


def transformers_model(config, head):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    auto = transformers.AutoModelForCausalLM if head else transformers.AutoModel
    with torch.device("meta"):
        model = auto.from_config(config)
    written = json.loads(json.dumps(config.to_dict())) | {"architectures": [type(model).__name__]}
    return written, sum(parameter.numel() for parameter in model.parameters())


def config_of(model_type, changes):
    transformers = pytest.importorskip("transformers")
    return transformers.AutoConfig.for_model(model_type, **(SMALL | OWN.get(model_type, LLAMA) | changes))


@pytest.mark.parametrize("model_type", DECODERS)
def test_a_decoder_has_as_many_parameters_as_in_transformers(model_type):
    for changes in ({}, *VARIANTS[model_type]):
        for head in (True, False):
            written, wanted = transformers_model(config_of(model_type, changes), head)
            assert gf.count(written).total == wanted, (changes, written["architectures"])


@pytest.mark.parametrize("model_type", DECODERS)
def test_no_changed_key_gives_a_wrong_count(model_type):
    written, wanted = transformers_model(config_of(model_type, {}), True)
    for key, value in written.items():
        if key in ("architectures", "model_type", "transformers_version", "id2label", "label2id", "dtype", "rope_parameters"):
            continue
        for changed in [not value] if isinstance(value, bool) else [value * 2] if isinstance(value, int) else [17]:
            try:
                config = type(config_of(model_type, {})).from_dict(written | {key: changed})
                _, wanted = transformers_model(config, True)
            except Exception:
                continue
            try:
                found = gf.count(written | {key: changed}).total
            except gf.GlassformerError:
                continue
            assert found == wanted, (key, changed)


def test_an_unknown_key_is_refused_by_name():
    written = {"model_type": "llama", **SMALL, **LLAMA, "num_experts": 8}
    with pytest.raises(gf.GlassformerError, match="num_experts = 8 is not a known key"):
        gf.count(written)


SCALED = {
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "yarn": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "longrope": {"type": "longrope", "short_factor": [1.0] * 12, "long_factor": [2.0] * 12},
}


@pytest.mark.parametrize("rule", SCALED)
def test_scaled_rotary_angles_change_no_count(rule):
    llama = json.loads(json.dumps(config_of("llama", {}).to_dict()))
    plain = gf.count(llama).total
    for changed in ({"rope_scaling": SCALED[rule]}, {"rope_parameters": {**SCALED[rule], "rope_theta": 500_000.0}}):
        found = gf.count(llama | changed)
        assert (found.total, found.spec.rotary_scaling) == (plain, rule)
        assert f"(angles scaled: {rule})" in str(gf.notation(llama | changed, t=3))


@pytest.mark.parametrize("rule", ["dynamic", "longrope"])
def test_angles_that_depend_on_the_length_are_not_computed(rule):
    llama = json.loads(json.dumps(config_of("llama", {}).to_dict()))
    program = gf.build(llama | {"rope_scaling": SCALED[rule]}, t=3)
    with pytest.raises(gf.GlassformerError, match=f"rotary_scaling={rule} is not implemented"):
        run(program, {one.name: np.zeros(one.tensor.shape) for one in program.parameters}, {"tokens": [[1, 2, 3]]})


@pytest.mark.parametrize(
    ("rule", "change", "message"),
    [
        ("llama3", {"low_freq_factor": None}, "low_freq_factor"),
        ("llama3", {"high_freq_factor": 0.5}, "rotary_fast=0.5 is not allowed: it must be larger than rotary_slow=1"),
        ("llama3", {"factor": 0}, "its factor must be a positive number"),
        ("yarn", {"factor": "4"}, "factor must be a positive number"),
        ("yarn", {"truncate": False}, "truncate = false is not implemented"),
    ],
)
def test_a_scaling_without_its_numbers_is_refused(rule, change, message):
    llama = json.loads(json.dumps(config_of("llama", {}).to_dict()))
    with pytest.raises(gf.GlassformerError, match=message):
        gf.count(llama | {"rope_scaling": SCALED[rule] | change})


@pytest.mark.parametrize("rule", ["llama3", "yarn"])
@pytest.mark.parametrize(
    "more",
    [{}, {"factor": 32.0}, {"beta_fast": 8, "beta_slow": 2}, {"mscale": 0.8, "mscale_all_dim": 1.1}, {"attention_factor": 1.3}],
)
def test_scaled_angles_are_those_of_transformers(rule, more):
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    numbers = {"factor": 8.0, "original_max_position_embeddings": 512}
    own = {"low_freq_factor": 1.0, "high_freq_factor": 4.0} if rule == "llama3" else more
    scaling = {"rope_type": rule, "rope_theta": 500_000.0, **numbers, **own}
    config = config_of("llama", {"head_dim": 64, "max_position_embeddings": 4096, "rope_parameters": scaling})
    speeds, amplitude = ROPE_INIT_FUNCTIONS[rule](config, "cpu")
    spec = gf.spec(json.loads(json.dumps(config.to_dict())))
    ours = 500_000.0 ** (-np.arange(0, 64, 2) / 64) / pair_divisors(spec, spec.rotary_base, 64)
    assert np.allclose(ours, speeds.double().numpy(), rtol=1e-5, atol=0)
    assert spec.rotary_amplitude == pytest.approx(amplitude)


def test_linear_scaling_divides_the_angles():
    llama = json.loads(json.dumps(config_of("llama", {}).to_dict()))
    assert gf.spec(llama | {"rope_scaling": {"type": "linear", "factor": 4.0}}).rotary_divisor == 4


def test_an_unknown_scaling_is_refused():
    llama = json.loads(json.dumps(config_of("llama", {}).to_dict()))
    for scaling in ({"rope_type": "other"}, {"rope_type": ["x"]}):
        with pytest.raises(gf.GlassformerError, match="rope_scaling = an object is not supported: its rope_type"):
            gf.count(llama | {"rope_scaling": scaling})
    with pytest.raises(gf.GlassformerError, match=r"rope_parameters\.odd = 3 is not a known key"):
        gf.count(llama | {"rope_scaling": SCALED["llama3"] | {"odd": 3}})


@pytest.mark.parametrize("before", [True, False])
def test_opt_350m_projects_its_tokens_before_positions_are_added_and_its_output_before_the_logits(before):
    changes = {"word_embed_proj_dim": 16, "do_layer_norm_before": before}
    written, wanted = transformers_model(config_of("opt", changes), True)
    found = gf.count(written)
    assert found.total == wanted
    assert gf.build(written).spec.project_first
    shapes = str(gf.shapes(written, t=5))
    assert shapes.index("embeddings.projected") < shapes.index("embeddings.position")
    with pytest.raises(gf.GlassformerError, match="word_embed_proj_dim = 16 is not allowed: OPTModel then projects its output"):
        gf.count(written, as_class="OPTModel")


@pytest.mark.parametrize(
    ("preset", "total"),
    [
        ("gpt2", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("gpt2-large", 774_030_080),
        ("gpt2-xl", 1_557_611_200),
        ("llama-2-7b", 6_738_415_616),
        ("llama-3-8b", 8_030_261_248),
        ("mistral-7b", 7_241_732_096),
        ("qwen3-0.6b", 596_049_920),
        ("gemma-2b", 2_506_172_416),
        ("pythia-160m", 162_322_944),
        ("distilgpt2", 81_912_576),
        ("opt-125m", 125_239_296),
        ("opt-350m", 331_196_416),
        ("opt-1.3b", 1_315_758_080),
        ("pythia-70m", 70_426_624),
        ("pythia-410m", 405_334_016),
        ("pythia-1.4b", 1_414_647_808),
        ("pythia-6.9b", 6_857_302_016),
        ("llama-2-13b", 13_015_864_320),
        ("llama-2-70b", 68_976_648_192),
        ("llama-3-70b", 70_553_706_496),
        ("llama-3.2-1b", 1_235_814_400),
        ("llama-3.2-3b", 3_212_749_824),
        ("llama-3.1-8b", 8_030_261_248),
        ("llama-3.1-70b", 70_553_706_496),
        ("mistral-7b-v0.3", 7_248_023_552),
        ("qwen2.5-1.5b", 1_543_714_304),
        ("qwen2.5-3b", 3_085_938_688),
        ("qwen2.5-14b", 14_770_033_664),
        ("qwen2.5-32b", 32_763_876_352),
        ("qwen2.5-72b", 72_706_203_648),
        ("qwen3-1.7b", 1_720_574_976),
        ("qwen3-4b", 4_022_468_096),
        ("qwen3-14b", 14_768_307_200),
        ("qwen3-32b", 32_762_123_264),
        ("tinyllama-1.1b", 1_100_048_384),
        ("smollm2-135m", 134_515_008),
        ("smollm2-360m", 361_821_120),
        ("qwen2.5-0.5b", 494_032_768),
        ("qwen2.5-7b", 7_615_616_512),
        ("qwen3-8b", 8_190_735_360),
        ("gemma-2-2b", 2_614_341_888),
        ("phi-3-mini", 3_821_079_552),
        ("olmo-2-1b", 1_484_916_736),
    ],
)
def test_a_preset_has_the_published_count(preset, total):
    assert gf.count(preset).total == total


def test_a_decoder_survives_a_round_trip_through_its_fields():
    spec = gf.spec("gpt2", layers=3, residual="parallel")
    assert gf.spec(spec.to_dict()) == spec
    assert isinstance(spec, DecoderSpec)


def test_gemma_2_sees_a_window_in_every_other_layer():
    written = json.loads(json.dumps(config_of("gemma2", {"sliding_window": 5}).to_dict()))
    spec = gf.spec(written)
    assert [spec.layer_window(layer) for layer in range(3)] == [8, None, 8]
    mask = next(step.operation for step in gf.build(written, t=8).steps if step.role == "masked scores")
    assert mask.visible(8, 8).sum(1).tolist() == [1, 2, 3, 4, 5, 5, 5, 5]


def test_what_is_not_implemented_for_decoders_says_so_in_one_line(tmp_path):
    with pytest.raises(gf.GlassformerError, match="gpt2 is a decoder, which this does not support yet"):
        gf.card("gpt2")
    with pytest.raises(gf.GlassformerError, match="head=classify is not implemented for decoders"):
        gf.count("gpt2", head="classify")
    with pytest.raises(gf.GlassformerError, match="rotary_width=3 is not allowed"):
        gf.count("pythia-160m", rotary_width=3)
    with pytest.raises(gf.GlassformerError, match="residual"):
        gf.count("bert-base", residual="parallel")
    with pytest.raises(gf.GlassformerError, match="GPT2ForSequenceClassification is not supported"):
        gf.count(config_of("gpt2", {}).to_dict(), as_class="GPT2ForSequenceClassification")


@pytest.mark.parametrize("model_type", DECODERS)
def test_every_decoder_is_written_as_shapes_cost_and_equations(model_type):
    written = json.loads(json.dumps(config_of(model_type, {}).to_dict()))
    assert "head.logits" in gf.shapes(written, t=5)
    assert gf.cost(written, t=5).multiply_adds < gf.cost(written, t=5, train=True).multiply_adds
    assert "logits =" in str(gf.notation(written, t=5))


def test_an_activation_of_gemma_that_depends_on_the_version_is_refused():
    written = json.loads(json.dumps(config_of("gemma", {"hidden_activation": "gelu"}).to_dict()))
    with pytest.raises(gf.GlassformerError, match=r'hidden_activation = "gelu" .*transformers 5 computes gelu_pytorch_tanh'):
        gf.spec(written)
    del written["hidden_activation"]
    assert gf.spec({**written, "hidden_act": "gelu"}) == gf.spec(written)  # an old file, which means the tanh form
