"""The figures of a classifier, against scikit-learn and against numbers worked by hand."""

import numpy as np
import pytest

from glassformer.encoding.scores import calibration, confusion_of, macro_f1, most_confident_mistakes, wilson

metrics = pytest.importorskip("sklearn.metrics")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(3)
    true = rng.integers(0, 4, 300)
    logits = rng.normal(size=(300, 4)) + 1.5 * np.eye(4)[true]
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return probabilities, true


def test_confusions_and_macro_f1_are_scikit_learns(case):
    probabilities, true = case
    said = probabilities.argmax(1)
    found = confusion_of(true, said, 4)
    assert np.array_equal(found, metrics.confusion_matrix(true, said))
    assert macro_f1(found).value == pytest.approx(metrics.f1_score(true, said, average="macro"))


def test_a_class_that_does_not_occur_is_left_out_of_macro_f1():
    true, said = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    assert macro_f1(confusion_of(true, said, 3)).value == pytest.approx(metrics.f1_score(true, said, average="macro"))


def test_the_bootstrap_interval_is_that_of_drawn_rows(case):
    probabilities, true = case
    said, rng = probabilities.argmax(1), np.random.default_rng(1)
    drawn = [rng.integers(0, len(true), len(true)) for _ in range(400)]
    wanted = np.quantile([metrics.f1_score(true[rows], said[rows], average="macro") for rows in drawn], [0.025, 0.975])
    found = macro_f1(confusion_of(true, said, 4))
    assert (found.low, found.high) == pytest.approx(tuple(wanted), abs=0.015)


def test_the_wilson_interval_of_8_in_10():
    assert wilson(8, 10) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert wilson(10, 10).high == 1.0
    assert wilson(0, 10).low == 0.0


def test_log_loss_is_scikit_learns_and_brier_the_sum_of_squares(case):
    probabilities, true = case
    found = calibration(probabilities, true)
    assert found.log_loss == pytest.approx(metrics.log_loss(true, probabilities))
    assert found.brier == pytest.approx(((probabilities - np.eye(4)[true]) ** 2).sum() / len(true))


def test_the_calibration_error_by_hand():
    probabilities = np.array([[0.95, 0.05], [0.95, 0.05], [0.65, 0.35], [0.35, 0.65]])
    found = calibration(probabilities, np.array([0, 1, 0, 1]))  # 0.95 is right in 1 of 2, 0.65 in 2 of 2
    assert found.error == pytest.approx(0.5 * 0.45 + 0.5 * 0.35)
    assert [one["rows"] for one in found.bins] == [2, 2]


def test_the_worst_mistakes_are_the_most_confident_wrong_rows():
    probabilities = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8], [0.99, 0.01]])
    assert most_confident_mistakes(probabilities, np.array([1, 1, 1, 0]), 10) == [1, 0]
    assert most_confident_mistakes(probabilities, np.array([1, 1, 1, 0]), 1) == [1]
