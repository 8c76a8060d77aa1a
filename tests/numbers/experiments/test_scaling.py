"""Scaling: the spread of scores is √d_k, and without the division the softmax saturates."""

import math
from itertools import pairwise

import numpy as np

from glassformer.numbers.experiments.scaling import WIDTHS, entropy, gradient_size, scaling


def test_scores_spread_like_the_root_of_d_k_and_scaled_ones_like_one():
    found = scaling()
    assert [row.d_k for row in found.rows] == list(WIDTHS)
    for row in found.rows:
        assert 0.8 < row.bare.scores / math.sqrt(row.d_k) < 1.25
        assert math.isclose(row.scaled.scores, row.bare.scores / math.sqrt(row.d_k), rel_tol=1e-9)


def test_without_scaling_entropy_and_gradient_go_to_nothing():
    rows = scaling().rows
    assert all(later.bare.entropy < row.bare.entropy for row, later in pairwise(rows))
    assert rows[-1].bare.gradient < 0.001 < 0.1 < rows[-1].scaled.gradient
    assert max(row.scaled.entropy for row in rows) - min(row.scaled.entropy for row in rows) < 0.2


def test_entropy_of_the_extremes():
    np.testing.assert_allclose(entropy(np.array([[0.25] * 4, [1, 0, 0, 0]])), [2, 0])


def test_the_gradient_is_the_norm_of_the_jacobian():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
    jacobians = [np.diag(row) - np.outer(row, row) for row in weights]
    np.testing.assert_allclose(gradient_size(weights), [np.linalg.norm(jacobian) for jacobian in jacobians])
    assert gradient_size(np.array([1.0, 0, 0])) == 0


def test_the_jacobian_is_that_of_the_softmax():
    scores, step = np.random.default_rng(1).normal(size=4), 1e-6
    softmax = lambda x: np.exp(x) / np.exp(x).sum()  # noqa: E731
    numeric = [(softmax(scores + step * row) - softmax(scores - step * row)) / (2 * step) for row in np.eye(4)]
    assert math.isclose(float(np.linalg.norm(numeric)), float(gradient_size(softmax(scores))), rel_tol=1e-7)
