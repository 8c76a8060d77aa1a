"""The chance of an accidental fit: few digits prove little, and dense candidates fit by accident."""

import numpy as np
import pytest

from glassformer.answers.mistakes.chance import Evidence


def evidence(values, unit, right, *, whole=False):
    values = np.array(values, dtype=float)
    return Evidence(values, np.full(values.shape, unit), np.array(right, dtype=float), whole)


def test_more_digits_make_a_chance_match_less_likely():
    candidates = [np.array(one) for one in ([0.5, 0.25, 0.25], [0.4, 0.35, 0.25], [0.6, 0.3, 0.1])]
    chances = [evidence([0.5, 0.25, 0.25], unit, [0.8, 0.1, 0.1]).expected_hits(candidates) for unit in (0.1, 0.01, 0.001)]
    assert chances == sorted(chances, reverse=True) and chances[0] > 10 * chances[2] > 0


def test_numbers_that_follow_from_others_count_once():
    assert evidence([0.6225, 0.3775], 1e-4, [0.8044, 0.1956]).freedom == 1  # they sum to one
    assert evidence([0.245, 0.245], 1e-3, [0.6089, 0.6089]).freedom == 1  # they are alike
    assert evidence([-1.2, 1.2, 0.5], 0.1, [-1.5, 1.5, 0.1]).freedom == 2  # alike but for the sign


def test_only_different_candidates_around_the_claim_are_counted():
    claim = evidence([100.0], 0.0, [50.0], whole=True)
    near, far, same = np.array([90.0]), np.array([500.0]), np.array([90.0])
    assert claim.expected_hits([near]) == claim.expected_hits([near, same, far]) == pytest.approx(1 / 201)


def test_random_claims_match_about_as_often_as_expected():
    random = np.random.default_rng(0)
    candidates = [np.array([float(one)]) for one in random.integers(0, 10_000, size=60)]
    values = {float(one[0]) for one in candidates}
    claims = [float(one) for one in random.integers(3_000, 7_000, size=4_000)]
    expected = sum(evidence([claim], 0.0, [1.0], whole=True).expected_hits(candidates) for claim in claims)
    hits = sum(claim in values for claim in claims)
    assert hits / 2 < expected < 2 * hits


def test_infinity_in_masked_scores_is_ignored():
    claim = evidence([0.5, -1e300], 0.1, [0.7, -np.inf])
    assert claim.freedom == 1
    assert claim.expected_hits([np.array([0.4, -np.inf]), np.array([np.nan, 0.0])]) > 0
