"""Teacher forcing: one pass is step by step, if a step has the keys and values of earlier tokens."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments import experiment
from glassformer.numbers.experiments.teacher_forcing import teacher_forcing


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"decoder": {"layers": 3}, "kv_heads": 1},
        {"norm": "pre", "position": "relative"},
        {"share_tokens": False, "position": "rotary"},
    ],
)
def test_the_logits_of_a_step_with_the_cache_are_those_of_one_pass(fields):
    found = teacher_forcing(**fields)
    assert found.holds
    assert max(row.cached for row in found.rows) <= 1e-12
    assert min(row.forgetful for row in found.rows[1:]) > 0.01


def test_the_cache_holds_keys_and_values_of_every_layer():
    found = teacher_forcing(heads=4, kv_heads=2, d_model=16, decoder={"layers": 3})
    assert [row.stored for row in found.rows] == [2 * 3 * 2 * 4 * tokens for tokens in range(1, 6)]  # K and V, layers, heads, d_k


def test_the_loss_is_the_mean_of_the_log_probabilities():
    found = teacher_forcing()
    assert found.loss == pytest.approx(-np.mean([np.log(row.probability) for row in found.rows]))


def test_a_decoder_without_layers_is_refused():
    with pytest.raises(GlassformerError, match=r"decoder\.layers=0 has no keys and values to store"):
        experiment("teacher-forcing", decoder={"layers": 0})
