"""The program of a decoder against transformers: the same weights give the same logits (theirs rounds norms to float32)."""

import json

import numpy as np
import pytest

import glassformer as gf

SIZES = {
    "vocab_size": 37,
    "hidden_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 56,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
CAPPED = {"attn_logit_softcapping": 3.0, "final_logit_softcapping": 5.0, "query_pre_attn_scalar": 20, "sliding_window": 4}
HALF_TURNED = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.5}
MODULES = {
    "attention.Q": "self_attn.q_proj",
    "attention.K": "self_attn.k_proj",
    "attention.V": "self_attn.v_proj",
    "attention.O": "self_attn.o_proj",
    "ffn.1": "mlp.gate_proj",
    "ffn.3": "mlp.up_proj",
    "ffn.2": "mlp.down_proj",
    "norm_1": "input_layernorm",
    "output_norm_1": "post_attention_layernorm",
    "output_norm_2": "post_feedforward_layernorm",
    "attention.q_norm": "self_attn.q_norm",
    "attention.k_norm": "self_attn.k_norm",
}


def unpacked(stored, spec):
    """Phi-3's packed projections under the names of the others."""
    query, key, whole = spec.heads * spec.head_k, spec.key_heads * spec.head_k, dict(stored)
    for name, value in stored.items():
        if name.endswith("qkv_proj.weight"):
            for part, rows in zip("qkv", np.split(value, [query, query + key]), strict=True):
                whole[name.replace("qkv", part)] = rows
        if name.endswith("gate_up_proj.weight"):
            whole[name.replace("gate_up", "gate")], whole[name.replace("gate_up", "up")] = np.split(value, 2)
    return whole


def weight(name, stored, spec):
    outside = {"embeddings.E_token": "embed_tokens", "final_norm.gamma": "norm"}
    if name in outside:
        return stored[f"model.{outside[name]}.weight"]
    if name == "head.W_vocab":
        return stored["lm_head.weight"].T
    _, layer, place = name.split(".", 2)
    block, _, symbol = place.rpartition(".")
    kind, _, index = symbol.partition("_")
    second = "pre_feedforward_layernorm" if spec.output_norm else "post_attention_layernorm"
    module = (MODULES | {"norm_2": second})[f"{block}.{index}" if index else block]
    found = stored[f"model.layers.{layer}.{module}.{'bias' if kind == 'b' else 'weight'}"]
    return found.T if kind == "W" else found


@pytest.mark.parametrize(
    ("model_type", "changes"),
    [
        ("llama", {}),
        ("llama", {"head_dim": 10, "attention_bias": True, "mlp_bias": True}),
        ("mistral", {"sliding_window": 4}),
        ("qwen2", {}),
        ("qwen3", {"head_dim": 6}),
        ("gemma", {"head_dim": 8}),
        ("gemma2", {"head_dim": 8, **CAPPED}),
        ("olmo2", {}),
        ("phi3", {"sliding_window": 4, "rope_parameters": HALF_TURNED}),
    ],
)
def test_a_decoder_gives_the_logits_of_transformers(model_type, changes):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(model_type, **(SIZES | changes))
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    program = gf.build(json.loads(json.dumps(config.to_dict())), t=9)
    stored = unpacked({name: value.numpy() for name, value in model.state_dict().items()}, program.spec)
    tokens = np.random.default_rng(0).integers(1, 37, (1, 9))
    values = {"tokens": tokens}
    for parameter in program.parameters:
        values[parameter.name] = weight(parameter.name, stored, program.spec).reshape(parameter.tensor.shape)
    for step in program.steps:
        values[step.name] = step.evaluate(values)
    with torch.no_grad():
        wanted = model(torch.tensor(tokens)).logits.numpy()
    assert np.abs(values["head.logits"] - wanted).max() < 1e-5 < np.abs(wanted).max()
    # A few cells by their own arithmetic: what `explain` would show is the value.
    for step in program.steps:
        cell = {axis.name: axis.size - 1 for axis in step.output.axes}
        opened = step.opened(cell, values).evaluate(values)
        assert opened == pytest.approx(values[step.name][step.output.at(cell)], rel=1e-9, abs=1e-9), step.name
