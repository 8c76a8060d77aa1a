"""The lens: the last depth is the model itself, and the norm at each depth is that depth's own."""

import json

import numpy as np
import pytest
from checkpoint_files import add_tokenizer

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec

TEXT = "the glass walls of an encoder"


def test_the_last_depth_is_what_the_model_predicts(classifier):
    found = gf.lens(classifier, TEXT)
    said = gf.load(classifier).predict(TEXT).values
    assert found.depths == ["embeddings", "layer 0", "layer 1"]
    assert {guess.label: guess.probability for guess in found.answers[-1].guesses} == pytest.approx(said, abs=1e-6)
    assert json.loads(json.dumps(found.to_dict()))["answers"][0]["depth"] == "embeddings"


def test_a_masked_model_answers_at_every_position(masked):
    found = gf.lens(masked, TEXT, guesses=3)
    assert len(found.answers) == 3 * len(found.tokens)
    assert all(len(answer.guesses) == 3 for answer in found.answers)


def test_with_pre_norm_the_final_norm_is_applied_to_each_depth_separately(classifier, tmp_path):
    spec = EncoderSpec(
        d_model=8, heads=2, d_ff=12, layers=2, vocab=31, norm="pre", head="classify", classes=3, position="learned", positions=16
    )
    add_tokenizer(gf.save(gf.Encoder(spec), tmp_path / "pre"))
    found = gf.lens(tmp_path / "pre", TEXT)
    run = gf.run(tmp_path / "pre", text=TEXT)
    x = run["layers.0.out"]
    gamma, beta = (run[f"final_norm.{name}"] for name in ("gamma", "beta"))
    normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + spec.eps) * gamma + beta
    assert spec.pool == "first"
    logits = normed[0, 0] @ run["head.W_C"] + run["head.b_C"]
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    answer = {guess.label: guess.probability for guess in found.answers[1].guesses}
    assert list(answer.values()) == pytest.approx(sorted(shares, reverse=True), abs=1e-5)


def test_a_model_without_a_head_is_refused(minilm):
    with pytest.raises(GlassformerError, match="has no prediction head"):
        gf.lens(minilm, TEXT)


def test_over_data_each_depth_agrees_with_the_lens_of_each_text(classifier, labelled, texts):
    found = gf.lens_over(classifier, labelled, part="all", dtype="float64")
    labels = ["plain", "glass", "wall"]
    each = [gf.lens(classifier, text, guesses=3, dtype="float64").answers for text in texts]
    for place, depth in enumerate(found.depths):
        assert depth.depth == each[0][place].depth
        right = [answers[place].guesses[0].label == labels[i % 3] for i, answers in enumerate(each)]
        shares = [{one.label: one.probability for one in answers[place].guesses}[labels[i % 3]] for i, answers in enumerate(each)]
        assert depth.accuracy.value == pytest.approx(np.mean(right))
        assert depth.loss == pytest.approx(float(np.mean(-np.log(shares))), abs=1e-5)
    assert found.rows == len(texts)


def test_the_last_depth_over_data_is_what_evaluate_finds(classifier, labelled):
    last = gf.lens_over(classifier, labelled, part="all").depths[-1]
    whole = gf.evaluate(classifier, labelled, part="all")
    assert last.accuracy == whole.accuracy


def test_the_first_rows_alone_can_be_read(classifier, labelled):
    assert gf.lens_over(classifier, labelled, part="all", rows=7).rows == 7
    with pytest.raises(GlassformerError, match="rows=0"):
        gf.lens_over(classifier, labelled, rows=0)
