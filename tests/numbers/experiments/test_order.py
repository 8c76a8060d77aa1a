"""Order: equivariant without positions, and two equal words differ only by their positions."""

import numpy as np
import pytest

from glassformer.numbers.experiments.order import POSITIONS, order


def test_the_five_kinds_are_tried_none_first():
    assert POSITIONS == ("none", "learned", "sinusoidal", "rotary", "relative")
    assert [row.position for row in order().rows] == list(POSITIONS)


def test_without_positions_outputs_permute_with_the_tokens_to_1e_12():
    bare = order().rows[0]
    assert bare.moved <= 1e-12
    assert bare.mean <= 1e-12
    assert bare.in_place > 0.1  # equivariant, so not invariant


def test_the_two_ete_get_one_vector_without_positions_and_two_with_them():
    bare, *placed = order().rows
    second, last = 2, 5
    np.testing.assert_allclose(bare.outputs[second], bare.outputs[last], rtol=0, atol=1e-12)
    for row in placed:
        assert np.abs(row.outputs[second] - row.outputs[last]).max() == row.twins > 0.01


def test_another_sentence_and_another_encoder():
    found = order(text="the cat saw the dog and the bird", d_model=24, heads=3, norm="pre", activation="swiglu")
    assert found.holds
    assert found.twin == "the"
    assert sorted(found.permuted) == sorted(found.words)
    assert found.permuted != found.words


@pytest.mark.parametrize("fields", [{"attend": "causal"}, {"window": 2}])
def test_a_mask_by_position_breaks_the_claim(fields):
    found = order(**fields)
    assert found.rows[0].moved > 0.01
    assert not found.holds
