"""Masks in all notations: one stated polarity, and rows without visible keys."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import parse_problem, solve

GIVEN = {"Q": [[2, 0], [0, 2], [1, 1]], "K": [[0, 2], [2, 0], [1, 1]], "V": [[2, 1], [0, 2], [1, 1]]}
CAUSAL = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def worked(**mask):
    return solve(parse_problem({**GIVEN, **mask}))


def test_the_causal_mask_can_be_written_in_many_ways():
    expected = worked(mask="causal").values["weights"]
    minus = [[0.0 if cell else float("-inf") for cell in row] for row in CAUSAL]
    large = [[0 if cell else -1e9 for cell in row] for row in CAUSAL]
    hidden = [[1 - cell for cell in row] for row in CAUSAL]
    truth = [[bool(cell) for cell in row] for row in CAUSAL]
    ways = [{"causal": True}, {"mask": CAUSAL}, {"mask": truth}, {"mask": minus}, {"mask": large}, {"mask": {"hide": hidden}}]
    ways += [{"mask": {"attend": CAUSAL}}, {"mask": {"add": minus}}, {"kind": "masked self-attention"}]
    for way in ways:
        np.testing.assert_allclose(worked(**way).values["weights"], expected, atol=1e-12)


def test_padding_hides_a_key_from_every_query():
    weights = np.array(worked(padding=[1, 1, 0]).values["weights"])
    assert (weights[:, 2] == 0).all()
    np.testing.assert_allclose(weights.sum(1), 1)


def test_masks_combine():
    weights = np.array(worked(mask="causal", padding=[0, 1, 1]).values["weights"])
    assert weights.tolist()[0] == [0, 0, 0]
    assert (weights[:, 0] == 0).all()
    both = worked(mask=[[0, -1, 0], [0, 0, 0], [0, 0, -2]], causal=True)
    assert [step.name for step in both.program.steps] == ["dot", "scores", "masked", "masked_too", "weights", "output"]


def test_a_row_that_is_masked_throughout_is_zeros_and_said():
    solution = worked(mask=[[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert solution.values["output"][1] == [0, 0]
    assert solution.notes == ("Row 2 is masked entirely, so its weights are all 0.",)


@pytest.mark.parametrize("distribution", ["softmax", "sparsemax", "sigmoid", "hardmax"])
def test_a_masked_key_has_no_weight_under_any_distribution(distribution):
    weights = np.array(worked(mask="causal", distribution=distribution).values["weights"])
    assert (np.triu(weights, 1) == 0).all()


def test_one_query_takes_its_row_of_the_mask():
    every = worked(mask="causal").values
    for number in (1, 2, 3):
        one = worked(mask="causal", query=number).values
        np.testing.assert_allclose(one["output"], every["output"][number - 1])
        np.testing.assert_allclose(worked(mask=CAUSAL, query=number).values["weights"], every["weights"][number - 1])


def test_a_mask_that_is_neither_is_refused():
    with pytest.raises(GlassformerError, match="padding must hold only 0 and 1"):
        worked(padding=[0, 0, -5])
    with pytest.raises(GlassformerError, match="mask must hold only 0 and 1 to attend"):
        worked(mask={"attend": [0, 2, 1]})
