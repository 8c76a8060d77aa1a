"""Norm: four steps with known means and variances, and two ways along the depth."""

import numpy as np
import pytest

from glassformer.numbers.experiments.norm import norm


def test_the_four_steps_compute_the_norm():
    entering, centred, normalised, scaled = norm().steps
    assert abs(entering.mean) > 0.1
    np.testing.assert_allclose(centred.values, entering.values - entering.values.mean(axis=-1, keepdims=True))
    np.testing.assert_allclose(normalised.values.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(normalised.values.var(axis=-1), 1, atol=1e-5)
    assert not np.allclose(scaled.values, normalised.values)


@pytest.mark.parametrize("fields", [{}, {"layers": 6}, {"layers": 12, "activation": "gelu"}, {"d_model": 16}, {"t": 3}])
def test_post_keeps_the_variance_and_pre_lets_it_grow(fields):
    found = norm(**fields)
    assert found.holds
    assert all(0.5 < row.post < 2 for row in found.depth)
    assert found.depth[-1].pre > 1.5 * found.depth[0].pre
    assert 0.5 < found.final < 2


def test_every_layer_of_the_depth_is_there():
    assert [row.layer for row in norm().depth] == list(range(1, 25))
