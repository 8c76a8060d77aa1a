"""Correlations and F1 scores, against SciPy and scikit-learn."""

import math

import numpy as np
import pytest

from glassformer.training.figures import Several, pearson, ranks, spearman

DRAW = np.random.default_rng(0)
SAID, TRUE = DRAW.normal(size=60), DRAW.integers(0, 6, size=60).astype(float)  # ratings have many equal values


def test_equal_values_share_the_mean_of_their_ranks():
    assert ranks(np.array([10.0, 30.0, 10.0, 20.0])).tolist() == [1.5, 4.0, 1.5, 3.0]


def test_correlations_are_scipys():
    stats = pytest.importorskip("scipy.stats")
    assert pearson(SAID, TRUE) == pytest.approx(stats.pearsonr(SAID, TRUE).statistic, abs=1e-12)
    assert spearman(SAID, TRUE) == pytest.approx(stats.spearmanr(SAID, TRUE).statistic, abs=1e-12)


@pytest.mark.parametrize("said", [np.ones(5), np.array([1.0])], ids=["constant", "one"])
def test_without_differences_there_is_no_correlation(said):
    assert math.isnan(pearson(said, np.arange(len(said), dtype=float)))


def test_f1_of_several_classes_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    said, true = DRAW.random((40, 5)) < 0.3, DRAW.random((40, 5)) < 0.3
    found = Several.of(said, true)
    assert found.micro_f1() == pytest.approx(metrics.f1_score(true, said, average="micro"))
    assert found.macro_f1() == pytest.approx(metrics.f1_score(true, said, average="macro"))


def test_a_class_that_never_occurs_is_left_out_of_the_mean():
    said, true = np.array([[True, False]] * 3), np.array([[True, False]] * 3)
    assert Several.of(said, true).macro_f1() == 1.0
    assert math.isnan(Several.of(said[:, 1:], true[:, 1:]).macro_f1())
