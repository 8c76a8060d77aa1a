"""Checkpoints of whole encoder-decoders, in and out: transformers is the witness for every state and for the logits."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import all_in_float64
from tiny_seq2seq import FAMILIES, tiny

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.model import save
from glassformer.model.checkpoints.loading import load_encoder


def passes(name, model, loaded):
    """Both on the same input: hidden states of the two stacks, and what comes last."""
    rng = np.random.default_rng(0)
    target = torch.tensor(rng.integers(3, 37, (2, 6)))
    if name.startswith("Whisper"):
        frames = torch.tensor(rng.normal(size=(2, 5, 14)))
        with all_in_float64(), torch.no_grad():
            theirs = model(input_features=frames, decoder_input_ids=target, output_hidden_states=True)
        return loaded(frames, target, return_hidden=True), theirs, None
    source, attend = torch.tensor(rng.integers(3, 37, (2, 8))), torch.arange(8) < torch.tensor([[8], [5]])
    source[~attend] = 1
    with all_in_float64(), torch.no_grad():
        given = {"input_ids": source, "attention_mask": attend.long(), "decoder_input_ids": target}
        theirs = model(**given, output_hidden_states=True)
    return loaded(source, target, attend, return_hidden=True), theirs, attend


@pytest.mark.parametrize("name", FAMILIES)
def test_every_state_and_the_logits_are_those_of_transformers(name, tmp_path):
    model = tiny(name)
    model.save_pretrained(tmp_path / "theirs")
    loaded = load_encoder(tmp_path / "theirs", as_class=name, dtype="float64", decoders=True)
    assert loaded.verdict == "exact"
    with torch.no_grad():
        ours, theirs, attend = passes(name, model, loaded.encoder)
    pairs = [*zip(ours.hidden[:-1], theirs.decoder_hidden_states[:-1], strict=True)]
    pairs.append((ours.logits, theirs.logits) if ours.logits is not None else (ours.states, theirs.last_hidden_state))
    for mine, state in pairs:
        assert float((mine - state).abs().max()) < 1e-10 * max(1.0, float(state.abs().max()))
    real = slice(None) if attend is None else attend
    assert float((ours.source.states[real] - theirs.encoder_last_hidden_state[real]).abs().max()) < 1e-9
    config = json.loads((tmp_path / "theirs" / "config.json").read_text())
    save(loaded.encoder, tmp_path / "ours", config=config, as_class=name)
    before, after = (load_file(tmp_path / folder / "model.safetensors") for folder in ("theirs", "ours"))
    assert before.keys() - {"final_logits_bias"} <= after.keys()
    assert all(torch.equal(before[word], after[word]) for word in before)
    save(loaded.encoder, tmp_path / "own")
    again = load_encoder(tmp_path / "own", dtype="float64", decoders=True).encoder
    stored = zip(again.state_dict().items(), loaded.encoder.state_dict().items(), strict=True)
    assert all(name == other and torch.equal(a, b) for (name, a), (other, b) in stored)


def test_a_whole_model_is_refused_where_vectors_are_wanted(tmp_path):
    tiny("T5ForConditionalGeneration").save_pretrained(tmp_path)
    with pytest.raises(GlassformerError, match=r"is an encoder-decoder .* --as T5EncoderModel reads its encoder"):
        gf.load(tmp_path)


def test_a_tensor_of_the_decoder_that_is_too_many_is_named(tmp_path):
    tiny("BartForConditionalGeneration").save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    save_file({**stored, "model.decoder.extra.weight": torch.zeros(2)}, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(GlassformerError, match=r"1 unexpected .*model\.decoder\.extra\.weight"):
        load_encoder(tmp_path, decoders=True)


@pytest.mark.parametrize(
    "name", ["T5ForConditionalGeneration", "BartForConditionalGeneration", "MarianMTModel", "WhisperForConditionalGeneration"]
)
def test_verify_holds_for_an_encoder_decoder(name, tmp_path):
    tiny(name).float().save_pretrained(tmp_path)
    certificate = gf.verify(tmp_path, as_class=name)
    assert certificate.holds, certificate
    assert certificate.comparisons[-1].what.startswith("model in float64, original in")
    assert {gap.place for gap in certificate.comparisons[-1].gaps} >= {"x", "layers.0.out", "logits", "source"}
