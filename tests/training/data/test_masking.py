"""Masking: 15% of the tokens, 80/10/10 of them, and each row's masks a function of (seed, epoch, id) alone."""

import numpy as np
import pytest

from glassformer.training.data.masking import IGNORE, Masking

MASKING = Masking(4, np.arange(5, 1000))


@pytest.fixture(scope="module")
def text():
    rng = np.random.default_rng(0)
    tokens = rng.integers(5, 1000, (2000, 62))
    tokens[:, 0], tokens[:, -1] = 2, 3
    maskable = np.ones_like(tokens, dtype=bool)
    maskable[:, [0, -1]] = False
    return tokens, maskable


def test_the_shares_are_those_of_the_paper(text):
    tokens, maskable = (np.tile(array, (5, 1)) for array in text)
    seen, labels = MASKING.apply(tokens, maskable, np.arange(10_000), 0, 0)
    asked = labels != IGNORE
    assert (asked.sum(axis=1) == 9).all()  # 15% of 60, exactly
    assert not asked[~maskable].any()
    assert (labels[asked] == tokens[asked]).all()
    assert (seen[~asked] == tokens[~asked]).all()
    hidden, kept = (seen[asked] == 4).mean(), (seen[asked] == tokens[asked]).mean()
    assert abs(hidden - 0.8) < 0.006
    assert abs(kept - 0.1) < 0.006
    other = seen[asked & (seen != 4) & (seen != tokens)]
    assert abs(len(other) / asked.sum() - 0.1) < 0.006
    assert other.min() >= 5 and other.max() < 1000 and len(np.unique(other)) > 600


def test_every_position_is_masked_equally_often(text):
    tokens, maskable = text
    counts = sum((MASKING.apply(tokens, maskable, np.arange(2000), 0, epoch)[1] != IGNORE).sum(axis=0) for epoch in range(5))
    assert abs(counts[1:-1] / 10_000 - 0.15).max() < 0.02


def test_masks_depend_on_seed_epoch_and_id_and_on_nothing_else(text):
    tokens, maskable = text
    ids = np.arange(2000)
    seen, labels = MASKING.apply(tokens, maskable, ids, 1, 2)
    some = np.array([1500, 3, 77])
    wider = np.pad(tokens[some], ((0, 0), (0, 9)))
    alone, alone_labels = MASKING.apply(wider, np.pad(maskable[some], ((0, 0), (0, 9))), some, 1, 2)
    assert (alone[:, :62] == seen[some]).all()
    assert (alone_labels[:, :62] == labels[some]).all()
    assert (alone_labels[:, 62:] == IGNORE).all()
    for other in ((2, 2), (1, 3)):
        assert ((MASKING.apply(tokens, maskable, ids, *other)[1] != IGNORE) != (labels != IGNORE)).any(axis=1).mean() > 0.99


def test_short_texts_have_one_masked_token_and_empty_ones_none():
    assert MASKING.asked(np.array([0, 1, 2, 3, 9, 10, 17, 60, 100])).tolist() == [0, 1, 1, 1, 1, 2, 3, 9, 15]
    tokens = np.array([[2, 7, 3]])
    _, labels = MASKING.apply(tokens, np.array([[False, True, False]]), np.array([0]), 0, 0)
    assert labels.tolist() == [[IGNORE, 7, IGNORE]]
