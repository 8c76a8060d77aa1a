"""A run keeps every number by name, and takes only input that makes sense."""

import numpy as np
import pytest
from tiny_run import BERT, tiny

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.numbers import legible_weights, run
from glassformer.numbers.seeded import seeded_run
from glassformer.program import build
from glassformer.spec import EncoderSpec


def test_every_intermediate_is_kept_by_name():
    found = tiny()
    assert found["layers.0.attention.weights"].shape == (2, 2, 4, 4)
    assert len(found.hidden) == 3
    assert "layers.1.ffn.hidden" in found
    assert np.array_equal(found.output, found["pooler.out"])


def test_attention_rows_sum_to_one_and_padding_gets_nothing():
    weights = tiny()["layers.1.attention.weights"]
    assert np.allclose(weights.sum(-1), 1)
    assert (weights[1, :, :, 2:] == 0).all()


def test_a_padded_token_changes_no_real_token():
    before, after = tiny(), tiny(tokens=[[0, 1, 2, 3], [4, 5, 19, 18]])
    assert np.array_equal(before["layers.1.out"][1, :2], after["layers.1.out"][1, :2])


def test_a_row_without_real_tokens_gives_zero_weights_and_no_nan():
    found = tiny(attend=[[1, 1, 1, 1], [0, 0, 0, 0]])
    assert (found["layers.0.attention.weights"][1] == 0).all()
    assert not any(np.isnan(value).any() for value in found.values.values())


def test_layer_norm_gives_mean_beta_and_spread_gamma():
    found = tiny()
    assert np.allclose(found["layers.0.norm_1.normalised"].mean(-1), 0, atol=1e-12)
    assert np.allclose(found["layers.0.norm_1.normalised"].var(-1), 1, atol=1e-3)


BAD = [
    ({"tokens": [[0, 1, 2, 3], [4, 5, 6, 20]]}, "tokens[1, 3] = 20 is out of range: the vocabulary has rows 0 to 19."),
    ({"tokens": [[0, 1, 2, 3], [4, 5, 6, -1]]}, "tokens[1, 3] = -1 is out of range"),
    ({"tokens": np.zeros((2, 4))}, "tokens must be whole numbers, got float64."),
    ({"tokens": [0, 1, 2, 3]}, "tokens has shape [4], expected [2, 4] (batch, t)."),
    ({"tokens": [[0, 1], [2]]}, "tokens is ragged"),
    ({"tokens": [["a", "b", "c", "d"]] * 2}, "tokens must be numbers"),
    ({"segments": np.full((2, 4), 2)}, "segments[0, 0] = 2 is out of range: the segment table has rows 0 to 1."),
    ({"attend": [[0, 0, 0, -np.inf]] * 2}, "attend must contain only 0 and 1 (1 = a real token), not floats"),
    ({"attend": [[1, 1, 1]] * 2}, "attend has shape [2, 3], expected [2, 4]"),
    ({"image": [[0]]}, "this program has no input 'image'. Inputs: tokens, segments, attend."),
]


@pytest.mark.parametrize(("inputs", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_input_is_named(inputs, message):
    with pytest.raises(GlassformerError) as refusal:
        tiny(**inputs)
    assert message in str(refusal.value)


@pytest.mark.parametrize(("number", "word"), [(np.nan, "nan"), (np.inf, "inf")])
def test_a_nonfinite_input_is_named_by_position(number, word):
    program = build(EncoderSpec(d_model=4, heads=1, layers=1), t=3)
    x = np.zeros((1, 3, 4))
    x[0, 2, 1] = number
    with pytest.raises(GlassformerError, match=rf"x\[0, 2, 1\] is {word}: every input must be a finite number"):
        run(program, legible_weights(program), {"x": x})


def test_a_missing_or_misshapen_weight_is_named():
    program = build(BERT, t=2)
    weights = legible_weights(program)
    with pytest.raises(GlassformerError, match=r"the weight layers\.0\.ffn\.W_1 has shape \[3\], expected \[8, 32\]"):
        run(program, weights | {"layers.0.ffn.W_1": np.zeros(3)}, {"tokens": [[0, 1]]})
    del weights["pooler.b_P"]
    with pytest.raises(GlassformerError, match=r"the weight pooler\.b_P is missing"):
        run(program, weights, {"tokens": [[0, 1]]})


def test_an_unknown_name_suggests_similar_ones():
    with pytest.raises(GlassformerError, match=r"there is no 'layers\.0\.attention\.wieghts' in this run\. Did you mean"):
        tiny()["layers.0.attention.wieghts"]
    with pytest.raises(
        GlassformerError, match=r"there is no 'weights' in this run\. Did you mean 'layers\.0\.attention\.weights'"
    ):
        tiny()["weights"]


def test_a_run_that_is_too_large_is_refused_before_it_starts():
    with pytest.raises(GlassformerError, match=r"^batch=1 t=100000 gives [\d,]+ numbers; at most 200,000,000 are kept\."):
        seeded_run(EncoderSpec(d_model=4, heads=2, layers=1), t=100_000)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"seed": -1}, "seed=-1 is not allowed: seed must be a whole number from 0."),
        ({"seed": "x"}, "seed=x is not allowed"),
        ({"text": 3}, "text=3 is not allowed: text must be a string."),
        ({"tokens": []}, "tokens is an empty list: give one token id or more."),
    ],
)
def test_invalid_options_of_a_seeded_run_are_refused(fields, message):
    with pytest.raises(GlassformerError, match=message):
        gf.run("bert-tiny", **fields)


def test_text_and_tokens_are_not_both_taken():
    with pytest.raises(GlassformerError, match="text and tokens are both given"):
        gf.run("bert-tiny", text="a b", tokens=[1, 2])


def test_shared_layers_are_found_by_their_own_names():
    program = build(EncoderSpec(d_model=4, heads=1, layers=3, share_layers=1), t=2)
    found = run(program, legible_weights(program), {"x": np.ones((1, 2, 4))})
    assert np.array_equal(found["layers.2.ffn.W_1"], found["layers.0.ffn.W_1"])


def test_legible_weights_are_quarters():
    weights = legible_weights(gf.build("layer", d_model=8, heads=2))
    assert all(np.array_equal(value * 16, np.rint(value * 16)) for value in weights.values())
