"""Published configs of decoders and encoder-decoders, with the keys that their files have: the counts of their checkpoints."""

import json
from pathlib import Path

import pytest

import glassformer as gf

LINES = (Path(__file__).parents[1] / "data" / "published_decoders.jsonl").read_text(encoding="utf-8").splitlines()
PUBLISHED = {one["name"]: one for one in map(json.loads, LINES)}
TWO_TABLES = ("t5", "mt5", "umt5")  # transformers 5 ties their tables whatever the file says; the published files hold two
EXTRA = {  # keys of other families, with a value that would matter there
    "head_dim": 96, "num_key_value_heads": 2, "attention_bias": True, "mlp_bias": True, "bias": True, "n_inner": 1000,
    "sliding_window": 128, "partial_rotary_factor": 0.5, "add_cross_attention": True, "is_decoder": True, "qk_norm": True,
    "num_experts": 4, "decoder_vocab_size": 1000, "share_encoder_decoder_embeddings": False, "num_decoder_layers": 2,
    "is_gated_act": True, "lm_head_bias": True, "word_embed_proj_dim": 256, "enable_bias": False, "use_parallel_residual": False,
    "scale_embedding": True, "num_hidden_layers": 3, "hidden_size": 1024, "d_model": 1024, "tie_word_embeddings": False,
    "quantization_config": {"bits": 4}, "pruned_heads": {"0": [1]}, "use_weighted_layer_sum": True,
}  # fmt: skip
DEPTHS = ("num_hidden_layers", "n_layer", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
DELETED = object()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_config_has_the_count_of_its_checkpoint(name):
    assert gf.count(PUBLISHED[name]["config"]).total == PUBLISHED[name]["parameters"]


def shallow(config):
    """The same with few layers, so that transformers builds it quickly."""
    found = config | {key: min(config[key], 4) for key in DEPTHS if config.get(key)}
    return found | (
        {"num_hidden_layers": found["encoder_layers"]} if {"num_hidden_layers", "encoder_layers"} <= found.keys() else {}
    )


def changes_of(config):
    for key, value in config.items():
        if key in ("architectures", "model_type", "torch_dtype", "transformers_version", "auto_map"):
            continue
        yield key, DELETED
        yield from ((key, other) for other in others(value))
    yield from EXTRA.items()


def others(value):
    if isinstance(value, bool):
        return (not value, None)
    if isinstance(value, int):
        return (2 * value, value // 2, value + 1, 0, None)
    if isinstance(value, float):
        return (2 * value, 0.0, None)
    return (4, True) if value is None else ("gelu",) if isinstance(value, str) else (None,)


def in_transformers(config):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    kind = type(transformers.AutoConfig.for_model(config["model_type"]))
    with torch.device("meta"):
        model = getattr(transformers, config["architectures"][0])(kind.from_dict(config))
    tables = config["model_type"] in TWO_TABLES and config.get("tie_word_embeddings") is False
    return sum(one.numel() for one in model.parameters()) + tables * config["vocab_size"] * config.get("d_model", 512)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["gpt2", "opt-350m", "pythia-70m", "llama-3.2-1b", "mistral-nemo-12b",
     "qwen2-0.5b", "qwen3-1.7b", "gemma-2b", "gemma-2-2b", "phi-4-mini", "olmo-2-1b", "t5-v1_1-small", "mt5-small", "umt5-small",
     "bart-base", "mbart-large-50-mmt", "opus-mt-en-fr", "pegasus-xsum", "m2m100_418M", "blenderbot_small-90M",
     "whisper-tiny"],
)  # fmt: skip
def test_a_changed_key_gives_the_count_of_transformers_or_is_refused(name):
    config = shallow({key: value for key, value in PUBLISHED[name]["config"].items() if key != "auto_map"})
    compared = 0
    for key, value in changes_of(config):
        changed = {k: v for k, v in config.items() if k != key} if value is DELETED else config | {key: value}
        try:
            found = gf.count(changed).total
        except gf.GlassformerError as error:
            assert "\n" not in str(error)
            continue
        try:
            wanted = in_transformers(changed)
        except Exception:  # transformers has no such model
            continue
        assert found == wanted, (key, "left out" if value is DELETED else value)
        compared += 1
    assert compared > 20
