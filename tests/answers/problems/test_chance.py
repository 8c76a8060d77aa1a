"""Few digits tell little: accident is reckoned with before a mistake is named."""

import numpy as np
import pytest

from glassformer.answers.problems import check_worked


@pytest.mark.parametrize("digits", [2, 3, 4])
def test_noise_is_given_no_cause(digits):
    random = np.random.default_rng(digits)
    problem = {"Q": [[2, 0], [0, 2], [1, 3]], "K": [[0, 2], [2, 0], [1, -1]], "V": [[2, 1], [0, 2], [1, 1]], "d_model": 8}
    for _ in range(25):
        weights = random.dirichlet([2, 2, 2], size=3)
        for name, claim in (("weights", weights), ("output", weights @ np.array(problem["V"]))):
            found = check_worked(problem, {name: [[f"{number:.{digits}f}" for number in row] for row in claim]}).judged[0]
            assert (found.verdict, found.findings) == ("wrong", ())
