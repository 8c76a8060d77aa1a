"""Padding: nothing at the real tokens under the mask, exactly."""

import pytest

from glassformer.numbers.experiments.padding import PAD, padding


@pytest.mark.parametrize("fields", [{}, {"position": "relative"}, {"position": "rotary"}, {"norm": "pre", "activation": "geglu"}])
def test_under_the_mask_the_content_of_padding_changes_exactly_nothing(fields):
    found = padding(**fields)
    padded, content, *_ = found.rows
    assert content.real == 0.0
    assert padded.real <= 1e-12
    assert found.weight_masked == 0.0
    assert content.padding is not None
    assert content.padding > 0.01  # the padding's own vectors do change: nobody may read them


def test_without_the_mask_padding_moves_the_real_tokens():
    found = padding()
    assert all(row.real > 0.01 for row in found.rows[2:])
    assert found.weight_bare > 0.05
    assert (found.by_token[1] > 0).all()


def test_a_query_without_visible_keys_gets_zeros():
    assert padding().no_keys == 0.0


def test_the_real_tokens_come_first():
    found = padding(text="one two three")
    assert found.words == ("one", "two", "three", PAD, PAD, PAD)
    assert found.real == 3
