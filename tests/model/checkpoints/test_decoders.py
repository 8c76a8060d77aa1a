"""Checkpoints of decoders, in and out: transformers is the witness for every state and for the logits."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import all_in_float64, guest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.model import save
from glassformer.model.checkpoints.answers import our_answer
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.spec.huggingface.reader import DECODERS

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
OWN = {
    "gpt2": {"n_positions": 32},
    "opt": {"ffn_dim": 28, "word_embed_proj_dim": 32, "max_position_embeddings": 32},
    "gpt_neox": {"intermediate_size": 28, "rotary_pct": 0.5},
}
VARIANTS = {
    "gpt2": [{"tie_word_embeddings": False, "n_inner": 20}],
    "opt": [{"do_layer_norm_before": False}, {"enable_bias": False, "tie_word_embeddings": False}],
    "gpt_neox": [{"use_parallel_residual": False, "attention_bias": False, "tie_word_embeddings": True}],
    "llama": [{"head_dim": 10, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}],
    "mistral": [{"sliding_window": 4, "head_dim": 8}],
    "qwen2": [{"use_sliding_window": True, "max_window_layers": 1, "sliding_window": 3}],
    "qwen3": [{"head_dim": 10, "attention_bias": True}],
    "gemma": [{"head_dim": 8, "num_key_value_heads": 1}],
    "gemma2": [{"head_dim": 8, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0, "sliding_window": 4}],
    "phi3": [{"sliding_window": 5, "num_key_value_heads": 4}],
    "olmo2": [{"attention_bias": True, "num_key_value_heads": 1}],
}
CASES = [(family, changes) for family in DECODERS for changes in ({}, *VARIANTS[family])]


def tiny(family, changes, *, seed=0, head=True):
    """A random model of transformers, in float64."""
    transformers = guest("transformers")
    config = transformers.AutoConfig.for_model(family, **(SMALL | OWN.get(family, LLAMA) | changes))
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    auto = transformers.AutoModelForCausalLM if head else transformers.AutoModel
    with all_in_float64(), torch.no_grad():
        model = auto.from_config(config).to(torch.float64).eval()
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + ("norm" in name.lower() and name.endswith("weight")))
    return model


def their_states(model, tokens, attend):
    with all_in_float64(), torch.no_grad():
        return model(input_ids=tokens, attention_mask=attend, output_hidden_states=True)


@pytest.mark.parametrize(("family", "changes"), CASES, ids=lambda value: value if isinstance(value, str) else str(value))
@pytest.mark.parametrize("head", [True, False])
def test_every_state_and_the_logits_are_those_of_transformers(family, changes, head, tmp_path):
    model = tiny(family, changes, head=head)
    model.save_pretrained(tmp_path / "theirs")
    loaded = load_encoder(tmp_path / "theirs", dtype="float64", decoders=True)
    assert loaded.verdict == "exact"
    rng = np.random.default_rng(0)
    tokens, attend = rng.integers(3, 37, (2, 11)), np.arange(11) < np.array([[11], [7]])
    tokens[~attend] = 0
    ours = our_answer(loaded.encoder, {"tokens": tokens, "attend": attend})
    theirs = their_states(model, torch.tensor(tokens), torch.tensor(attend).long())
    for mine, state in zip(ours.hidden[:-1], theirs.hidden_states[:-1], strict=True):
        assert np.abs(mine - state.numpy())[attend].max() < 1e-10 * max(1, np.abs(mine).max())
    last = ours.outputs["logits"] if head else ours.outputs["states"]
    wanted = (theirs.logits if head else theirs.last_hidden_state).numpy()
    assert np.abs(last - wanted)[attend].max() < 1e-10 * max(1, np.abs(wanted).max())
    assert wanted.std() > 0.05


@pytest.mark.parametrize("family", DECODERS)
def test_what_was_loaded_is_written_as_transformers_had_it(family, tmp_path):
    model = tiny(family, VARIANTS[family][0])
    model.save_pretrained(tmp_path / "theirs")
    loaded = load_encoder(tmp_path / "theirs", dtype="float64", decoders=True)
    config = json.loads((tmp_path / "theirs" / "config.json").read_text())
    save(loaded.encoder, tmp_path / "ours", config=config)
    before, after = (load_file(tmp_path / folder / "model.safetensors") for folder in ("theirs", "ours"))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    save(loaded.encoder, tmp_path / "own")
    again = load_encoder(tmp_path / "own", dtype="float64", decoders=True).encoder
    assert type(again).__name__ == "Decoder"
    assert all(torch.equal(a, b) for (_, a), (_, b) in zip(again.ledger(), loaded.encoder.ledger(), strict=True))


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "gemma2"])
def test_verify_holds_for_a_decoder(family, tmp_path):
    model = tiny(family, {}).float()
    model.save_pretrained(tmp_path / "model")
    certificate = gf.verify(tmp_path / "model")
    assert certificate.holds, certificate
    assert [one.what for one in certificate.comparisons][-1].startswith("model in float64, original in")
    assert {gap.place for gap in certificate.comparisons[0].gaps} >= {"x", "layers.0.out", "logits"}


def test_a_number_that_is_none_is_named_where_the_file_has_it(tmp_path):
    tiny("gpt_neox", {}).save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    stored["gpt_neox.layers.1.attention.query_key_value.weight"][20, 3] = float("nan")  # head 1, its query 2
    save_file(stored, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(GlassformerError, match=r"query_key_value.weight\[20, 3\] is NaN \(1 of"):
        load_encoder(tmp_path, decoders=True)


def test_a_decoder_is_refused_where_vectors_are_wanted(tmp_path):
    tiny("gpt2", {}).save_pretrained(tmp_path / "gpt")
    with pytest.raises(GlassformerError, match="Continue texts with it: glassformer generate"):
        gf.load(tmp_path / "gpt")
