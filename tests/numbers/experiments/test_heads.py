"""Heads: the count stays, the output does not, and h heads are h full-width heads with zeros outside their block."""

import pytest

from glassformer.numbers.experiments.heads import heads


def test_the_count_is_the_same_for_every_number_of_heads():
    found = heads(d_model=64)
    assert [row.heads for row in found.rows] == [1, 2, 4, 8, 16, 32]
    assert {row.parameters for row in found.rows} == {4 * 64 * 64 + 4 * 64}


def test_the_output_changes_with_the_number_of_heads():
    first, *others = heads().rows
    assert first.moved == 0
    assert all(row.moved > 0.01 for row in others)


@pytest.mark.parametrize("fields", [{}, {"scale": "none"}, {"scale": "d_model"}, {"biases": "none"}, {"d_model": 15}])
def test_the_scores_add_up_and_the_blocks_are_the_heads(fields):
    for row in heads(**fields).rows:
        assert row.scores <= 1e-12
        assert row.blocks <= 1e-12


def test_every_head_has_weights_of_its_own():
    for row in heads().rows:
        assert row.weights.shape == (row.heads, 6, 6)
        assert abs(row.weights.sum(axis=-1) - 1).max() <= 1e-12
