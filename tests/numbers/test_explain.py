"""Any number opens down to its arithmetic, down to inputs and parameters."""

import numpy as np
import pytest
from tiny_run import tiny

from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec, GlassformerError


def test_a_mixed_value_is_the_sum_of_weights_times_values():
    found = tiny()
    opened = found.explain("layers.0.attention.mix", batch=0, t=1, head=0, d_v=3)
    weights, v = found["layers.0.attention.weights"], found["layers.0.attention.v"]
    assert opened.rule == "mix = weights v"
    assert [term.value for term in opened.terms] == sorted(weights[0, 0, 1] * v[0, :, 0, 3], key=lambda x: -abs(x))
    assert {ref.tensor.symbol for ref in opened.refs} == {"weights", "v"}


def test_opening_ends_at_parameters_and_inputs():
    opened = tiny().explain("layers.0.attention.q", batch=0, t=1, head=0, d_k=0)
    while opened.expression is not None:
        opened = opened.open(0)
    assert opened.source in ("parameter", "input")
    assert opened.terms == []


def test_the_four_steps_of_a_layer_norm():
    found = tiny()
    cell = {"batch": 0, "t": 1}
    out = found.explain("layers.0.norm_1", **cell, d_model=2)
    normalised = found.explain("layers.0.norm_1.normalised", **cell, d_model=2)
    assert out.rule == "norm_1 = γ ⊙ normalised + β"
    assert normalised.rule == "normalised = (sum_1 − mean) / √(σ² + 1e-05)"
    assert found.explain("layers.0.norm_1.variance", **cell).rule == "variance = mean((sum_1 − mean)²) over d_model"
    assert "√(" in normalised.numbers()


def test_a_softmax_shows_the_powers_that_share_the_total():
    opened = tiny().explain("layers.0.attention.weights", batch=1, head=0, t=0, s=1)
    assert opened.numbers().startswith("exp(")
    assert "exp(−∞)" in opened.numbers()
    assert len(opened.terms) == 4


def test_a_masked_score_says_why():
    opened = tiny().explain("layers.0.attention.masked", batch=1, head=0, t=0, s=3)
    assert opened.numbers() == "−∞ (padding)"


def test_a_token_opens_to_its_row_of_the_table():
    opened = tiny().explain("embeddings.token", batch=0, t=3, d_model=5)
    assert [(ref.tensor.symbol, ref.cell["vocab"]) for ref in opened.refs] == [("E_token", 3)]


def test_long_sums_are_cut_and_the_rest_summed():
    program = build(EncoderSpec(d_model=64, heads=1, layers=1), t=2)
    found = run(program, legible_weights(program), {"x": np.ones((1, 2, 64))})
    opened = found.explain("layers.0.attention.q", t=0, head=0, d_k=0)
    assert "(57 more)" in opened.numbers()
    document = opened.to_dict(depth=0)
    assert len(document["terms"]) == 8
    assert document["rest"]["terms"] == 57
    assert sum(term["value"] for term in document["terms"]) + document["rest"]["sum"] == pytest.approx(opened.value)


def test_the_tree_prints_and_is_json():
    opened = tiny().explain("layers.1.out", batch=0, t=0, d_model=0)
    assert opened.text(depth=3).count("\n") > 10
    assert any(part["opens"] for part in opened.to_dict(depth=2)["opens"])
    assert repr(opened).startswith("<layers.1.out[batch 0, t 0, d_model 0] = ")


BAD = [
    ({"t": 0}, "a cell of layers.0.attention.q is chosen by batch, t, head, d_k: batch is not given."),
    ({"batch": 0, "t": 0, "head": 0, "d_k": 0, "s": 1}, "it has no axis s."),
    ({"batch": 0, "t": 9, "head": 0, "d_k": 0}, "t=9 is outside layers.0.attention.q: t runs from 0 to 3."),
    ({"batch": 0, "t": "x", "head": 0, "d_k": 0}, "t=x is outside"),
]


@pytest.mark.parametrize(("cell", "message"), BAD)
def test_a_cell_that_is_not_there_is_refused(cell, message):
    with pytest.raises(GlassformerError) as refusal:
        tiny().explain("layers.0.attention.q", **cell)
    assert message in str(refusal.value)


def test_a_row_that_sees_no_key_says_its_rule_and_not_nothing_by_nothing():
    program = build(EncoderSpec(d_model=4, heads=2, layers=1, vocab=9), t=2, padded=True)
    found = run(program, legible_weights(program, 0), {"tokens": [[1, 2]], "attend": [[0, 0]]})
    opened = found.explain("layers.0.attention.weights", head=0, t=0, s=1)
    assert opened.value == 0
    assert opened.numbers() == "0 (no key is seen here: by convention all weights of such a row are 0)"
