"""The parts around attention: lookups, positions, residual sums, pre- and post-norm."""

import numpy as np

from glassformer.numbers.by_hand import parse_problem, solve

X = np.array([[1.0, 0, 2], [0, 3, 1]])
IDENTITY = {"W_Q": "identity", "W_K": "identity", "W_V": "identity"}


def worked(**given):
    return solve(parse_problem({"X": X.tolist(), **given}))


def softmax(z):
    powers = np.exp(z)
    return powers / powers.sum(-1, keepdims=True)


def normal(x):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


def attended(x):
    return softmax(x @ x.T / np.sqrt(3)) @ x


def test_residual_and_norm_can_be_switched_on_for_attention():
    np.testing.assert_allclose(worked(**IDENTITY, residual=True).values["output"], X + attended(X))
    np.testing.assert_allclose(worked(**IDENTITY, residual=True, norm=True).values["output"], normal(X + attended(X)))
    np.testing.assert_allclose(worked(**IDENTITY, norm="post").values["norm_1"], normal(attended(X)))


def test_pre_norm_normalises_the_input_and_not_the_output():
    W_1, W_2 = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0, 1], [0, 1, 1]])
    values = worked(kind="encoder layer", **IDENTITY, norm="pre", W_1=W_1.tolist(), W_2=W_2.tolist()).values
    middle = X + attended(normal(X))
    np.testing.assert_allclose(values["sum_1"], middle)
    np.testing.assert_allclose(values["output"], middle + np.maximum(normal(middle) @ W_1, 0) @ W_2)


def test_one_query_goes_through_the_whole_layer():
    given = {
        "kind": "encoder layer",
        **IDENTITY,
        "ffn": {"W_1": np.eye(3).tolist(), "W_2": np.eye(3).tolist()},
        "gamma": 2,
        "beta": 1,
    }
    every, one = worked(**given).values, worked(**given, query=2).values
    np.testing.assert_allclose(one["output"], every["output"][1])
    np.testing.assert_allclose(one["norm_1"], every["norm_1"][1])


def test_a_sentence_may_hold_a_token_twice():
    table = {"tom": [1, 0], "été": [0, 1]}
    solution = solve(parse_problem({"kind": "attention", "X": table, "tokens": "tom été tom"}))
    assert solution.values["x"] == [[1, 0], [0, 1], [1, 0]]
    assert solution.values["output"][0] == solution.values["output"][2]
    assert solution.labels["t"] == ("tom", "été", "tom")


def test_positions_are_added_before_attention():
    solution = solve(parse_problem({"kind": "attention", "X": [[1, 0], [1, 0]], "positions": "sinusoidal"}))
    np.testing.assert_allclose(solution.values["x"], [[1, 1], [1 + np.sin(1), np.cos(1)]])
    given = solve(parse_problem({"kind": "attention", "X": [[1, 0], [1, 0]], "P": [[0, 1], [2, 0]]}))
    assert given.values["x"] == [[1, 1], [3, 0]]


def test_each_norm_has_its_own_gamma_and_beta():
    given = {"kind": "encoder layer", **IDENTITY, "ffn": {"W_1": np.eye(3).tolist(), "W_2": np.eye(3).tolist()}}
    values = worked(**given, norm_1={"gamma": [1, 2, 3]}, beta_2=[0, 0, 5]).values
    np.testing.assert_allclose(values["norm_1"], np.array(values["normalised_1"]) * [1, 2, 3])
    np.testing.assert_allclose(values["norm_2"], np.array(values["normalised_2"]) + np.array([0, 0, 5]))


def test_rms_norm_in_a_layer():
    values = worked(**IDENTITY, residual=True, norm="post", norm_kind="rms").values
    total = X + attended(X)
    np.testing.assert_allclose(values["output"], total / np.sqrt((total**2).mean(-1, keepdims=True)))
