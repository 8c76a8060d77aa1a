"""Random numbers that are a pure function of their keys."""

import numpy as np

from glassformer.training.data.chance import below, bits, shuffled, uniform


def test_splitmix64_gives_the_published_numbers():
    # The first outputs of SplitMix64 from state 0, as in the reference implementation by Vigna.
    from glassformer.training.data.chance import GOLDEN, _mixed

    states = np.arange(3, dtype=np.uint64) * GOLDEN
    assert [hex(number) for number in _mixed(states).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_the_numbers_are_fixed_for_ever():
    assert bits(0, "order", 0, np.arange(3)).tolist() == bits(0, "order", 0, np.arange(5)).tolist()[:3]
    assert shuffled(8, 0, "order", 0).tolist() == [2, 5, 7, 0, 6, 3, 4, 1]


def test_seed_purpose_and_keys_all_matter():
    base = bits(0, "order", 1, np.arange(100))
    for other in (bits(1, "order", 1, np.arange(100)), bits(0, "masked", 1, np.arange(100)), bits(0, "order", 2, np.arange(100))):
        assert not (base == other).any()


def test_keys_broadcast():
    grid = bits(3, "masked", 0, np.arange(4)[:, None], np.arange(5)[None])
    assert grid.shape == (4, 5)
    assert grid[2, 3] == bits(3, "masked", 0, 2, 3)[0]
    assert len(np.unique(grid)) == 20


def test_uniform_numbers_are_uniform():
    numbers = uniform(7, "fate", np.arange(200_000))
    assert numbers.min() >= 0 and numbers.max() < 1
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 45  # chi-squared with 19 degrees of freedom: 1 in 1000
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.01


def test_whole_numbers_stay_below_the_limit():
    numbers = below(7, 1, "other", np.arange(70_000))
    assert set(numbers.tolist()) == set(range(7))
    assert abs(np.bincount(numbers) - 10_000).max() < 500


def test_a_shuffle_is_a_permutation_and_moves_things():
    order = shuffled(1000, 5, "order", 0)
    assert sorted(order.tolist()) == list(range(1000))
    assert (order == np.arange(1000)).sum() < 10
