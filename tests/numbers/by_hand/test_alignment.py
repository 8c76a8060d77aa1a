"""Alignments, and the sides of their matrices."""

import numpy as np
import pytest

from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.program.formatter import TextFormatter

RNG = np.random.default_rng(3)
X, M = RNG.integers(-2, 3, (2, 3)), RNG.integers(-2, 3, (4, 2))
W_Q, W_K, W_V = RNG.integers(-2, 3, (3, 2)), RNG.integers(-2, 3, (2, 2)), RNG.integers(-2, 3, (2, 5))


def worked(**given):
    return solve(
        parse_problem({name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in given.items()})
    )


def rule(solution, name: str) -> str:
    step = next(step for step in solution.steps if step.name == name)
    return step.rule(TextFormatter(solution.problem.convention))


def test_matrices_may_stand_on_either_side_in_either_convention():
    usual = worked(X=X, memory=M, W_Q=W_Q, W_K=W_K, W_V=W_V)
    left = worked(X=X, memory=M, W_Q=W_Q.T, W_K=W_K.T, W_V=W_V.T, apply="W x")
    columns = worked(X=X.T, memory=M.T, W_Q=W_Q.T, W_K=W_K.T, W_V=W_V.T, convention="columns")
    right = worked(X=X.T, memory=M.T, W_Q=W_Q, W_K=W_K, W_V=W_V, convention="columns", apply="x W")
    for other in (left, columns, right):
        np.testing.assert_allclose(other.run["output"], usual.run["output"])
    assert [rule(s, "q") for s in (usual, left, columns, right)] == ["q = x W_Q", "q = x W_Qᵀ", "q = W_Q x", "q = W_Qᵀ x"]


def test_a_described_matrix_means_the_same_on_either_side():
    one = worked(X=[[1, 2, 3], [4, 5, 6]], W_Q={"pick": [1, 3]}, W_K={"pick": [2, 3]}, W_V="identity")
    two = worked(X=[[1, 4], [2, 5], [3, 6]], W_Q={"pick": [1, 3]}, W_K={"pick": [2, 3]}, W_V="identity", convention="columns")
    np.testing.assert_allclose(one.run["output"], two.run["output"])


def test_the_general_form_reads_the_same_in_both_conventions():
    W = RNG.integers(-2, 3, (3, 2))
    rows = worked(Q=X, K=M, alignment="general", W=W)
    columns = worked(Q=X.T, K=M.T, alignment="general", W=W, convention="columns")
    np.testing.assert_allclose(rows.run["scores"], X @ W @ M.T)
    np.testing.assert_allclose(columns.values["scores"], (X @ W @ M.T).T)


@pytest.mark.parametrize("convention", ["rows", "columns"])
def test_the_additive_form_has_its_matrices_on_the_left_in_both_conventions(convention):
    W_1, W_2, v = RNG.integers(-2, 3, (3, 3)), RNG.integers(-2, 3, (3, 2)), np.array([1, -1, 2])
    q, k = (X, M) if convention == "rows" else (X.T, M.T)
    expected = np.array([[v @ np.tanh(W_1 @ one + W_2 @ other) for other in M] for one in X])
    ways = [
        {"W_1": W_1, "W_2": W_2, "v": v},
        {"W_a": W_1, "U_a": W_2, "v_a": v},
        {"W_q": W_1, "W_k": W_2, "w_v": v},
        {"W": np.hstack([W_1, W_2]), "v_a": v},
        {"W_1": W_1.T, "W_2": W_2.T, "v": v, "apply": "x W"},
    ]
    for way in ways:
        solution = worked(Q=q, K=k, alignment="additive", convention=convention, **way)
        np.testing.assert_allclose(solution.run["scores"], expected, err_msg=str(list(way)))


def test_a_value_matrix_and_the_vector_of_the_alignment_are_distinguished():
    solution = worked(q=[1, 0], K=[[1, 0], [0, 1]], V=[[5], [7]], v=[1, 2], alignment="bahdanau")
    np.testing.assert_allclose(solution.values["scores"], np.tanh([[2, 0], [1, 1]]) @ [1, 2])
    assert solution.values["v"] == [[5], [7]]


def test_only_the_scaled_dot_product_is_scaled_by_default():
    def scores(**choice):
        return np.array(worked(Q=X, K=X, **choice).values["scores"])

    dot = X @ X.T
    np.testing.assert_allclose(scores(), dot / np.sqrt(3))
    np.testing.assert_allclose(scores(alignment="dot"), dot)
    np.testing.assert_allclose(scores(alignment="dot", scale="d_k"), dot / np.sqrt(3))
    np.testing.assert_allclose(scores(scale="none"), dot)
    np.testing.assert_allclose(scores(scale=0.5), dot / 0.5)
    np.testing.assert_allclose(scores(d_k=64), dot / 8)


def test_scale_by_d_model_takes_the_width_of_x():
    solution = worked(X=X, memory=M, W_Q=W_Q, W_K=W_K, W_V=W_V, scale="d_model")
    np.testing.assert_allclose(solution.run["scores"], (X @ W_Q) @ (M @ W_K).T / np.sqrt(3))
    assert rule(solution, "scores") == "scores = dot / √d_model"


def test_a_d_k_that_is_not_the_width_shown_is_noted():
    assert worked(Q=X, K=X, d_k=64).notes[0] == "d_k = 64 as given, although the queries shown have 3 numbers."


@pytest.mark.parametrize(("scaled", "divisor"), [(False, 1), (True, np.sqrt(2))])
def test_scaled_may_be_given_in_one_word(scaled, divisor):
    q, k = np.array([[1, 0], [2, 1]]), np.array([[1, 1], [0, 2]])
    assert np.allclose(worked(Q=q, K=k, V=k, scaled=scaled).values["scores"], q @ k.T / divisor)
