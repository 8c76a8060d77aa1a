"""Explanation: equal outputs, other attention."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.explanation import _row_elsewhere, explanation


@pytest.mark.parametrize("fields", [{}, {"heads": 1, "d_v": 2}, {"heads": 4, "d_model": 64}, {"biases": "none"}])
def test_a_second_model_has_the_same_outputs_and_attends_elsewhere(fields):
    found = explanation(**fields)
    assert found.holds
    before, after = found.weights
    np.testing.assert_allclose(after.sum(axis=-1), 1, rtol=1e-9)
    assert (after > 0).all()
    assert found.moved == pytest.approx(float((np.abs(after - before).sum(axis=-1) / 2).mean()))
    assert found.changed == int((before.argmax(-1) != after.argmax(-1)).sum()) > 0


def test_rows_of_the_table_are_those_of_the_first_head():
    found = explanation(heads=1)
    for place, row in enumerate(found.rows):
        first = found.weights[0, 0, place]
        assert row.most == found.words[int(first.argmax())]
        assert row.weight == first.max()
        assert row.weight_there == found.weights[1, 0, place, int(first.argmax())]


def test_a_changed_row_mixes_the_values_to_the_same_vector_with_less_on_its_first_choice():
    rng = np.random.default_rng(3)
    row, values = rng.dirichlet(np.ones(9)), rng.normal(size=(9, 3))
    kept = np.concatenate([values, np.ones((9, 1))], axis=1).T
    changed = _row_elsewhere(row, kept)
    np.testing.assert_allclose(kept @ changed, kept @ row, atol=1e-12)
    assert changed.min() > 0
    assert changed[row.argmax()] < row.max()


def test_a_row_without_freedom_stays():
    """Five weights that mix values of four features are determined: nothing else gives the same mix."""
    rng = np.random.default_rng(4)
    row, kept = rng.dirichlet(np.ones(5)), np.concatenate([rng.normal(size=(4, 5)), np.ones((1, 5))])
    np.testing.assert_allclose(_row_elsewhere(row, kept), row, atol=1e-9)


def test_the_second_model_is_another_function():
    """Its matrices are no copy: the same input in another order gives other outputs (checked in the experiment, too)."""
    assert explanation(seed=5).other > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "too few words"}, "3 words leave no freedom"),
        ({"d_v": 16}, "12 words leave no freedom"),
        ({"d_model": 8}, "12 words are more than d_model=8"),
        ({"d_k": 4}, "d_k=4 cannot be set here"),
    ],
)
def test_where_the_claim_does_not_apply_it_is_refused_in_one_line(options, message):
    with pytest.raises(GlassformerError) as error:
        explanation(**options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
