"""Few digits tell little: accident is reckoned with before a mistake is named."""

import numpy as np
import pytest

from glassformer.answers.problems import check_worked
from glassformer.answers.problems.chance import chance, freedom
from glassformer.answers.problems.figures import read_figures


def test_more_digits_leave_less_to_chance():
    truth = np.array([0.8, 0.1, 0.1])
    candidates = [np.array([0.5, 0.25, 0.25]), np.array([0.4, 0.35, 0.25]), np.array([0.6, 0.3, 0.1])]
    chances = [
        chance(read_figures(text), truth, candidates)
        for text in ("[0.5, 0.3, 0.2]", "[0.50, 0.25, 0.25]", "[0.500, 0.250, 0.250]")
    ]
    assert chances == sorted(chances, reverse=True)


def test_numbers_that_are_tied_count_once():
    assert freedom(read_figures("[0.6225, 0.3775]"), np.array([0.8044, 0.1956])) == 1  # they sum to one
    assert freedom(read_figures("[0.245, 0.245]"), np.array([0.6089, 0.6089])) == 1  # they are alike
    assert freedom(read_figures("[-1.2, 1.2, 0.5]"), np.array([-1.5, 1.5, 0.1])) == 2  # alike but for the sign


@pytest.mark.parametrize("digits", [2, 3, 4])
def test_noise_is_given_no_cause(digits):
    random = np.random.default_rng(digits)
    problem = {"Q": [[2, 0], [0, 2], [1, 3]], "K": [[0, 2], [2, 0], [1, -1]], "V": [[2, 1], [0, 2], [1, 1]], "d_model": 8}
    for _ in range(25):
        weights = random.dirichlet([2, 2, 2], size=3)
        for name, claim in (("weights", weights), ("output", weights @ np.array(problem["V"]))):
            found = check_worked(problem, {name: [[f"{number:.{digits}f}" for number in row] for row in claim]}).judged[0]
            assert (found.verdict, found.findings) == ("wrong", ())
