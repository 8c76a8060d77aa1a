"""If no mistake matches, the consequences of the claimed numbers are stated, and nothing else."""

import numpy as np
import pytest

from glassformer.answers.problems import check_worked

FLYING = {"Q": [0, 1], "K": [[1, 1], [0, -1]], "V": [[1, 1], [-1, -1]], "memory_tokens": ["flying", "arrows"]}
THREE = {"Q": [1, 2], "K": [[1, 1], [0, -1], [2, 0]], "V": [[1, 1], [-1, -1], [0, 3]]}


def notes(problem, name, claim):
    judged = check_worked(problem, {name: claim}).judged[0]
    assert (judged.verdict, judged.findings) == ("wrong", ())
    return " | ".join(judged.notes)


@pytest.mark.parametrize(
    ("problem", "name", "claim", "said"),
    [
        (FLYING, "weights", "[0.6225, 0.3775]", "imply a score gap of 0.5 between flying and arrows instead of 1.4142"),
        (FLYING, "weights", "[0.62, 0.42]", "the weights sum to 1.04, not to 1"),
        (FLYING, "weights", "[1.31, -0.31]", "weights are never negative"),
        (FLYING, "output", "[1.317, 1.317]", "1.317 lies outside the range of the values (−1 to 1)"),
        (FLYING, "output", "[0.3174, 0.3174]", "implies weights of 0.6587 on flying and 0.3413 on arrows"),
        (FLYING, "output", "[0.3173, 0.2319]", "no two weights that sum to one give this output"),
        (THREE, "weights", "[0.4312, 0.1923, 0.3765]", "imply a score gap of 0.808"),
        (
            {"kind": "layer_norm", "x": [1, 2, 4, 1]},
            "output",
            "[0.3, 0.9, 1.2, -0.1]",
            "mean 0 and variance 1; this one has 0.575 and",
        ),
        ({"kind": "positions", "entries": [2, 1], "d_model": 4}, "pe", "1.317", "sines and cosines lie between −1 and 1"),
    ],
)
def test_consequences_are_stated(problem, name, claim, said):
    assert said in notes(problem, name, claim)


def test_a_common_factor_of_the_scores_is_seen():
    """Weights of scores times 0.7: no known mistake, but a factor."""
    powers = np.exp(0.7 * np.array([3, -2, 2]) / 2**0.5)
    assert "as if every score had been multiplied by 0.7" in notes(THREE, "weights", np.round(powers / powers.sum(), 5).tolist())


def test_a_row_that_matches_no_token_is_reported():
    assert "this may be for one token or one head, but none has these numbers" in notes(
        {**THREE, "Q": [[1, 2], [2, 1]]}, "weights", "[0.31, 0.33, 0.36]"
    )


def test_a_nearly_right_claim_is_reported():
    assert "the error is at most 0.5% of the largest number" in notes(FLYING, "output", "[0.6057, 0.6059]")
