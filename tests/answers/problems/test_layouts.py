"""A claim fits a value at its own precision, in the layouts that people use, and nowhere else."""

import numpy as np
import pytest

from glassformer.answers.problems.figures import read_figures
from glassformer.answers.problems.layouts import readings, recovered
from glassformer.answers.problems.work import Work
from glassformer.numbers.by_hand import parse_problem, solve


@pytest.mark.parametrize(
    ("claim", "value", "fit"),
    [
        ("0.62", 0.6249, "exact"),
        ("0.62", 0.625, "exact"),  # a 5 may be rounded either way
        ("0.62", 0.6251, "truncated"),
        ("0.62", 0.6299, "truncated"),
        ("0.62", 0.6301, None),
        ("0.62", 0.6149, None),  # rounded up from below
        ("0.620", 0.6191, "truncated"),  # three decimals: off by one in either direction
        ("0.620", 0.6189, None),
        ("-0.3", -0.36, "truncated"),
        ("-0.3", 0.3, None),
        ("2", 2.0000000001, "exact"),
        ("2", 2.01, None),
        ("1/3", 1 / 3, "exact"),
        ("1/3", 0.3334, None),
        ("-1e9", -np.inf, "exact"),
        ("0", -np.inf, None),
        ("0.5", np.nan, None),
    ],
)
def test_half_a_unit_of_the_last_digit(claim, value, fit):
    assert read_figures(claim).fitted(np.array(value)) == fit


def test_axes_of_length_one_do_not_matter_but_others_do():
    assert read_figures("[[0.5], [0.25]]").fitted(np.array([0.5, 0.25])) == "exact"
    assert read_figures("[0.5, 0.25]").fitted(np.array([[0.5, 0.25]])) == "exact"
    assert read_figures("[0.5, 0.25]").fitted(np.array([[0.5, 0.25], [0.5, 0.25]])) is None


def test_only_large_whole_numbers_have_a_tolerance():
    assert read_figures("[1, 0]").near_whole(np.array([0.98, 0.02]))
    assert not read_figures("[1, 0]").near_whole(np.array([0.8, 0.2]))
    assert read_figures("[12, 8]").near_whole(np.array([12.4, 7.7]), large=0.5)
    assert not read_figures("[12, 8]").near_whole(np.array([12.4, 7.7]))
    assert not read_figures("[1.0, 0.0]").near_whole(np.array([0.98, 0.02]))


@pytest.fixture
def work():
    problem = parse_problem({"Q": [[2, 0], [0, 2]], "K": [[0, 2], [2, 0], [1, 1]], "V": [[2, 1], [0, 2], [1, 1]]})
    return Work.of(solve(problem), problem)


def test_the_layouts_of_a_matrix_are_itself_its_transpose_and_its_rows(work):
    found = readings(work, "weights", {"t": ("a", "b")})
    assert [reading.layout for reading in found] == ["", "transposed, tokens as columns", "the row of a", "the row of b"]
    assert [reading.value.shape for reading in found] == [(2, 3), (3, 2), (3,), (3,)]


def test_claimed_numbers_are_placed_in_their_tensor(work):
    value = np.array([[0.1, 0.7, 0.2], [0.6, 0.1, 0.3]])
    as_written = recovered(value, work, "weights")
    transposed = recovered(value.T, work, "weights")
    assert np.array_equal(as_written, value) and np.array_equal(transposed, value)
    row = recovered(np.array([0.6, 0.1, 0.3]), work, "weights", (1,))
    assert row[1].tolist() == [0.6, 0.1, 0.3] and row[0].tolist() == work.values["weights"][0].tolist()
    assert recovered(np.array([0.6, 0.1]), work, "weights") is None
