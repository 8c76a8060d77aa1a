"""Small random decoders of every family that is read, made with transformers."""

from __future__ import annotations

from typing import Any

from tiny_models import all_in_float64, guest

from glassformer.configs.huggingface.reader import DECODERS

SMALL = {
    "vocab_size": 37,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "max_position_embeddings": 32,
}
LLAMA = {"intermediate_size": 28, "num_key_value_heads": 2}
SCALED = {"rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 8}
OWN = {
    "gpt2": {"n_positions": 32},
    "opt": {"ffn_dim": 28, "word_embed_proj_dim": 32, "max_position_embeddings": 32},
    "gpt_neox": {"intermediate_size": 28, "rotary_pct": 0.5},
}
VARIANTS = {
    "gpt2": [{"tie_word_embeddings": False, "n_inner": 20}],
    "opt": [
        {"do_layer_norm_before": False},
        {"enable_bias": False, "tie_word_embeddings": False},
        {"word_embed_proj_dim": 12, "do_layer_norm_before": False},
    ],
    "gpt_neox": [{"use_parallel_residual": False, "attention_bias": False, "tie_word_embeddings": True}],
    "llama": [
        {"head_dim": 10, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
        {"rope_parameters": {**SCALED, "rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}},
        {"rope_parameters": {"rope_theta": 100.0, "rope_type": "linear", "factor": 4.0}},
    ],
    "mistral": [{"sliding_window": 4, "head_dim": 8}],
    "qwen2": [
        {"use_sliding_window": True, "max_window_layers": 1, "sliding_window": 3},
        {"rope_parameters": {**SCALED, "rope_type": "yarn", "beta_fast": 4.0}},
    ],
    "qwen3": [{"head_dim": 10, "attention_bias": True}],
    "gemma": [{"head_dim": 8, "num_key_value_heads": 1}],
    "gemma2": [{"head_dim": 8, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0, "sliding_window": 4}],
    "phi3": [{"sliding_window": 5, "num_key_value_heads": 4}],
    "olmo2": [{"attention_bias": True, "num_key_value_heads": 1}],
}
CASES = [(family, changes) for family in DECODERS for changes in ({}, *VARIANTS[family])]


def tiny(family: str, changes: dict[str, Any], *, seed: int = 0, head: bool = True) -> Any:
    """A random model of transformers, in float64."""
    torch, transformers = guest("torch"), guest("transformers")
    config = transformers.AutoConfig.for_model(family, **(SMALL | OWN.get(family, LLAMA) | changes))
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    auto = transformers.AutoModelForCausalLM if head else transformers.AutoModel
    with all_in_float64(), torch.no_grad():
        model = auto.from_config(config).to(torch.float64).eval()
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + ("norm" in name.lower() and name.endswith("weight")))
    return model
