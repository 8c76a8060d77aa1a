"""Causal: a later token changes nothing before it, exactly."""

import numpy as np
import pytest

from glassformer.numbers.experiments.causal import causal


@pytest.mark.parametrize(
    "fields",
    [{}, {"position": "rotary", "kv_heads": 1}, {"norm": "pre", "residual": "parallel"}, {"window": 2, "position": "relative"}],
)
def test_under_the_causal_mask_a_later_token_changes_exactly_nothing(fields):
    found = causal(**fields)
    assert found.holds
    assert np.tril(found.moved[0], -1).max() == 0.0
    assert found.above == 0.0
    assert (np.diag(found.moved[0]) > 0.01).all()


def test_without_the_mask_earlier_outputs_move():
    found = causal(window=2, layers=1)
    assert min(row.before_bare for row in found.rows[1:]) > 0.01


def test_a_decoder_without_the_mask_would_fail():
    """The check can fail: the run without the mask is what it would find."""
    found = causal()
    assert np.tril(found.moved[1], -1).max() > 0.01
