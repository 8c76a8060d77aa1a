"""Folding: exact before the sub-layers, another model after the sums."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.folding import folded, folding
from glassformer.numbers.run import run
from glassformer.numbers.weights import random_weights
from glassformer.program import build
from glassformer.spec import EncoderSpec


@pytest.mark.parametrize(
    "fields", [{}, {"layers": 1}, {"activation": "swiglu"}, {"heads": 4, "kv_heads": 2}, {"d_model": 8, "heads": 2}]
)
def test_folding_is_exact_before_the_sub_layers_and_not_after_the_sums(fields):
    found = folding(**fields)
    assert found.holds
    assert max(row.pre for row in found.rows) < 1e-11
    assert min(row.post for row in found.rows) > 0.01


def test_a_folded_norm_has_no_scale_and_no_shift_and_the_weights_given_are_unchanged():
    program = build(EncoderSpec(d_model=8, heads=2, layers=2, norm="pre"), batch=1, t=3, padded=False)
    weights = random_weights(program, 1)
    kept = {name: value.copy() for name, value in weights.items()}
    new = folded(program, weights)
    assert all((new[f"layers.{layer}.norm_{n}.gamma"] == 1).all() for layer in (0, 1) for n in (1, 2))
    assert all((new[f"layers.{layer}.norm_{n}.beta"] == 0).all() for layer in (0, 1) for n in (1, 2))
    assert all((weights[name] == kept[name]).all() for name in weights)
    x = np.random.default_rng(2).normal(size=(1, 3, 8))
    np.testing.assert_allclose(run(program, new, {"x": x}).output, run(program, weights, {"x": x}).output, atol=1e-11)


def test_a_shift_that_is_left_out_would_be_found():
    """The check can fail: the scale alone, without the shift, gives other outputs."""
    program = build(EncoderSpec(d_model=8, heads=2, layers=1, norm="pre"), batch=1, t=3, padded=False)
    weights = random_weights(program, 1)
    new = folded(program, weights)
    new["layers.0.ffn.b_1"] = weights["layers.0.ffn.b_1"]
    x = np.random.default_rng(2).normal(size=(1, 3, 8))
    assert np.abs(run(program, new, {"x": x}).output - run(program, weights, {"x": x}).output).max() > 1e-4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"norm": "pre"}, "norm=pre cannot be set here: the experiment tries both."),
        ({"layers": 0}, "layers=0 has no norms to fold."),
        ({"t": 1000}, "t=1000 is not allowed here"),
        ({"norm_kind": "rms"}, "RMSNorm has no shift"),
    ],
)
def test_invalid_fields_are_refused_in_one_line(fields, message):
    with pytest.raises(GlassformerError) as error:
        folding(**fields)
    assert message in str(error.value)
