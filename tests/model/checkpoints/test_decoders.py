"""Checkpoints of decoders, in and out: transformers is the witness for every state and for the logits."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_decoders import CASES, VARIANTS, tiny
from tiny_models import all_in_float64

import glassformer as gf
from glassformer.configs.huggingface.reader import DECODERS
from glassformer.errors import GlassformerError
from glassformer.model import save
from glassformer.model.checkpoints.answers import our_answer
from glassformer.model.checkpoints.loading import load_encoder


def their_states(model, tokens, attend):
    with all_in_float64(), torch.no_grad():
        return model(input_ids=tokens, attention_mask=attend, output_hidden_states=True)


# OPTModel projects its output where its tokens are narrower, and is refused.
WITH_AND_WITHOUT_LOGITS = [
    (*case, head) for case in CASES for head in (True, False) if head or "word_embed_proj_dim" not in case[1]
]


@pytest.mark.parametrize(("family", "changes", "head"), WITH_AND_WITHOUT_LOGITS, ids=str)
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
def test_a_loaded_model_is_saved_as_transformers_saved_it(family, tmp_path):
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


def test_a_non_finite_number_is_named_at_its_place_in_the_file(tmp_path):
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
