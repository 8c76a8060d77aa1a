"""Convention: rows and columns agree; the row formula on column data attends between features."""

import numpy as np
import pytest

from glassformer.numbers.experiments.convention import convention


@pytest.mark.parametrize("fields", [{}, {"heads": 12}, {"d_model": 64, "heads": 4, "d_k": 8}, {"scale": "none", "d_model": 32}])
def test_columns_are_rows_transposed(fields):
    for row in convention(**fields).rows:
        assert row.difference <= 1e-12
        if row.name not in ("scores", "weights"):
            assert row.column_shape == row.row_shape[::-1]


def test_the_mix_up_gives_768_by_768_weights_instead_of_6_by_6():
    found = convention()
    assert found.right.shape == (6, 6)
    assert found.mixed.shape == (768, 768)
    assert found.mixed_output == (768, 6)
    assert found.mixed_moved > 0.01
    np.testing.assert_allclose(found.mixed.sum(axis=-1), 1)


def test_with_twelve_heads_the_mixed_up_weights_have_the_head_width():
    assert convention(heads=12).mixed.shape == (64, 64)
