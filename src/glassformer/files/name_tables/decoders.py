"""Tensor names of decoder-only models: GPT-2, OPT, GPT-NeoX, and Llama with its relatives."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names, Table, half, input_first
from glassformer.files.name_tables.rotary import LLAMA_FEED_FORWARD, fused_attention
from glassformer.files.name_tables.text import BART, LLAMA_ATTENTION

NEXT_TOKEN: dict[str, Table] = {"ForCausalLM": {"head.vocab": "lm_head"}, "LMHeadModel": {"head.vocab": "lm_head"}}
NORMS: Table = {"norm_1": "input_layernorm", "norm_2": "post_attention_layernorm"}

GPT2 = Names(
    prefixes=("transformer.",),
    body={"embeddings.E_token": "wte.weight", "embeddings.E_position": "wpe.weight", "final_norm": "ln_f"},
    layers=(
        (
            "h.{n}.",
            {
                "attention.Q": input_first("attn.c_attn", 0, 3),
                "attention.K": input_first("attn.c_attn", 1, 3),
                "attention.V": input_first("attn.c_attn", 2, 3),
                "attention.O": input_first("attn.c_proj"),
                "norm_1": "ln_1",
                "ffn.1": input_first("mlp.c_fc"),
                "ffn.2": input_first("mlp.c_proj"),
                "norm_2": "ln_2",
            },
        ),
    ),
    heads=NEXT_TOKEN,
    buffers=("attn.bias", "attn.masked_bias"),
)
OPT = Names(
    prefixes=("model.decoder.", "decoder."),
    body={
        "embeddings.E_token": "embed_tokens.weight",
        "embeddings.E_position": "embed_positions.weight",
        "embeddings.E": "project_in",
        "final_norm": "final_layer_norm",
        "head.U": "project_out",
    },
    layers=BART.layers,
    heads=NEXT_TOKEN,
)


def in_each_head(part: int) -> At:
    """One of queries, keys and values, which follow one another in each head."""
    return At("attention.query_key_value", part, 3, by_head=True)


NEOX = Names(
    prefixes=("gpt_neox.",),
    body={"embeddings.E_token": "embed_in.weight", "final_norm": "final_layer_norm"},
    layers=(
        (
            "layers.{n}.",
            {
                "attention.Q": in_each_head(0),
                "attention.K": in_each_head(1),
                "attention.V": in_each_head(2),
                "attention.O": "attention.dense",
                **NORMS,
                "ffn.1": "mlp.dense_h_to_4h",
                "ffn.2": "mlp.dense_4h_to_h",
            },
        ),
    ),
    heads={"ForCausalLM": {"head.vocab": "embed_out"}},
    buffers=("attention.bias", "attention.masked_bias"),
)
QUERY_KEY_NORMS: Table = {"attention.q_norm": "self_attn.q_norm", "attention.k_norm": "self_attn.k_norm"}
LLAMA_LAYER: Table = {**LLAMA_ATTENTION, **QUERY_KEY_NORMS, **LLAMA_FEED_FORWARD, **NORMS}
LLAMA = Names(
    prefixes=("model.",),
    body={"embeddings.E_token": "embed_tokens.weight", "final_norm": "norm"},
    layers=(("layers.{n}.", LLAMA_LAYER),),
    heads=NEXT_TOKEN,
)
OUTPUT_NORMS: Table = {"output_norm_1": "post_attention_layernorm", "output_norm_2": "post_feedforward_layernorm"}
GEMMA2 = replace(LLAMA, layers=(("layers.{n}.", {**LLAMA_LAYER, **OUTPUT_NORMS, "norm_2": "pre_feedforward_layernorm"}),))
OLMO2 = replace(LLAMA, layers=(("layers.{n}.", {**LLAMA_LAYER, **OUTPUT_NORMS}),))
PHI3_LAYER: Table = {
    **fused_attention("self_attn.qkv_proj", "self_attn.o_proj"),
    **NORMS,
    "ffn.1": half("mlp.gate_up_proj", 0),
    "ffn.3": half("mlp.gate_up_proj", 1),
    "ffn.2": "mlp.down_proj",
}
PHI3 = replace(LLAMA, layers=(("layers.{n}.", PHI3_LAYER),))

NAMES: dict[str, Names] = {
    "gpt2": GPT2,
    "opt": OPT,
    "gpt_neox": NEOX,
    **dict.fromkeys(("llama", "mistral", "qwen2", "qwen3", "gemma"), LLAMA),
    "gemma2": GEMMA2,
    "olmo2": OLMO2,
    "phi3": PHI3,
}
