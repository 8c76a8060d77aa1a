"""Exercises as books and courses set them, each from a short file, against answers worked out on their own."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from glassformer.numbers.by_hand import load_problem, parse_problem, solve

EXAMPLES = Path(__file__).parents[3] / "examples"
PAGE = EXAMPLES.parent / "docs" / "by-hand.md"

Q, K, V = np.array([[2.0, 0], [0, 2], [1, 1]]), np.array([[0.0, 2], [2, 0], [1, 1]]), np.array([[2.0, 1], [0, 2], [1, 1]])
QKV = "Q = [[2, 0], [0, 2], [1, 1]]\nK = [[0, 2], [2, 0], [1, 1]]\nV = [[2, 1], [0, 2], [1, 1]]\n"


def worked(text: str):
    return solve(parse_problem(tomllib.loads(text), "exercise.toml")).values


def softmax(z, axis=-1):
    powers = np.exp(z - z.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def layer_norm(x, ddof=0):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True, ddof=ddof)


# Text of the problem, the quantity, the answer to the digits of the book.
PUBLISHED_STYLE = [
    # One word attends to two, from vectors and from embeddings whose coordinates are picked.
    ("q = [0, 1]\n[k]\na = [1, 1]\nb = [0, -1]\n[v]\na = [1, 1]\nb = [-1, -1]", "scores", [0.7071, -0.7071]),
    ("q = [0, 1]\n[k]\na = [1, 1]\nb = [0, -1]\n[v]\na = [1, 1]\nb = [-1, -1]", "weights", [0.8044, 0.1956]),
    ("q = [0, 1]\n[k]\na = [1, 1]\nb = [0, -1]\n[v]\na = [1, 1]\nb = [-1, -1]", "output", [0.6089, 0.6089]),
    # Three tokens of width four, projected to three; unscaled.
    (
        'x_1 = [1, 0, 1, 0]\nx_2 = [0, 2, 0, 2]\nx_3 = [1, 1, 1, 1]\nscale = "none"\n'
        "WQ = [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]\nWK = [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]\n"
        "WV = [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]",
        "dot",
        [[2, 4, 4], [4, 16, 12], [4, 12, 10]],
    ),
    (
        'x_1 = [1, 0, 1, 0]\nx_2 = [0, 2, 0, 2]\nx_3 = [1, 1, 1, 1]\nscale = "none"\nquery = 1\n'
        "WQ = [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]\nWK = [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]\n"
        "WV = [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]",
        "output",
        [1.9366, 6.6831, 1.5951],
    ),
    # Only the products are given, and a d_k that the drawing does not show.
    ("dot = [112, 96]\nd_k = 64", "scores", [14, 12]),
    ("dot = [112, 96]\nd_k = 64", "weights", [0.8808, 0.1192]),
    # Four words, square integer matrices.
    (
        "words = 'a b c d'\nX = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]\n"
        "W_Q = [[2, 0, 2], [2, 0, 0], [2, 1, 2]]\nW_K = [[2, 2, 2], [0, 2, 1], [0, 1, 1]]\n"
        "W_V = [[1, 1, 0], [0, 1, 1], [0, 0, 0]]",
        "output",
        [[0.9852, 1.7417, 0.7565], [0.9097, 1.4097, 0.5], [0.9985, 1.7585, 0.76], [0.9956, 1.9041, 0.9085]],
    ),
    # The same three queries and keys under every way of scaling, aligning, masking and sharing out.
    (QKV, "output", [[0.2775, 1.7679], [1.7225, 1.0454], [1.0, 1.3333]]),
    (QKV + 'scale = "none"', "output", [[0.1491, 1.8668], [1.8509, 1.0159], [1.0, 1.3333]]),
    (QKV + 'scale = "d_model"\nd_model = 4', "output", [[0.4248, 1.6652], [1.5752, 1.09], [1.0, 1.3333]]),
    (QKV + "scale = 2", "weights", [[0.09, 0.6652, 0.2447], [0.6652, 0.09, 0.2447], [0.3333, 0.3333, 0.3333]]),
    (QKV + 'mask = "causal"', "weights", [[1, 0, 0], [0.9442, 0.0558, 0], [0.3333, 0.3333, 0.3333]]),
    (QKV + 'distribution = "hardmax"', "output", [[0, 2], [2, 1], [2, 1]]),
    (QKV, "dot", [[0, 4, 2], [4, 0, 2], [2, 2, 2]]),
    # Softmax alone, with a temperature, with a mask.
    ("softmax = [2.0, 1.0, 0.1]", "output", [0.6590, 0.2424, 0.0986]),
    ("softmax = [1, 2, 3, 4, 1, 2, 3]", "output", [0.0236, 0.0643, 0.1747, 0.4748, 0.0236, 0.0643, 0.1747]),
    ("softmax = [2, 1, 0.1]\ntemperature = 0.5", "output", [0.8638, 0.1169, 0.0193]),
    ("softmax = [1000, 1001, 1002]", "output", [0.0900, 0.2447, 0.6652]),
    ("x = [1, 2, 3]\nkind = 'masked softmax'\nmask = [1, 1, 0]", "output", [0.2689, 0.7311, 0]),
    ("sparsemax = [1.5, 1, 0.1]", "output", [0.75, 0.25, 0]),
    # Norms.
    ("layer_norm = [1, 2, 3, 4]", "output", [-1.3416, -0.4472, 0.4472, 1.3416]),
    ("layer_norm = [1, 2, 3, 4]\nvariance = 'unbiased'", "output", [-1.1619, -0.3873, 0.3873, 1.1619]),
    ('layer_norm = [2, "7/3", "4/3", 1]', "output", [0.6325, 1.2649, -0.6325, -1.2649]),
    ('layer_norm = [2, "7/3", "4/3", 1]\nunbiased = true', "output", [0.5477, 1.0954, -0.5477, -1.0954]),
    ("x = [1, 1, 1, 1]\nkind = 'add & norm'\nsublayer = [1, '4/3', '1/3', 0]", "output", [0.6325, 1.2649, -0.6325, -1.2649]),
    ("layer_norm = [[1, 2, 3], [3, 6, 9]]", "output", [[-1.2247, 0, 1.2247], [-1.2247, 0, 1.2247]]),
    ('rms_norm = [2, "7/3", "4/3", 1]', "output", [1.1442, 1.3348, 0.7628, 0.5721]),
    ("x = [1, 2, 3, 4]\ngamma = 2\nbeta = [0, 0, 1, 1]", "output", [-2.6833, -0.8944, 1.8944, 3.6833]),
    # Positions.
    ("entries = [[2, 1]]\nd_model = 4", "pe", [-0.4161]),
    ("position = 3\nd_model = 4\nbase = 100", "pe", [0.1411, -0.9900, 0.2955, 0.9553]),
    ("positions = 2\nd_model = 6", "pe", [[0, 1, 0, 1, 0, 1], [0.8415, 0.5403, 0.0464, 0.9989, 0.0022, 1.0]]),
    ("kind = 'positions'\nX = [[0.5, 0.5], [1, 0]]", "output", [[0.5, 1.5], [1.8415, 0.5403]]),
    ("kind = 'rope'\nx = [1, 0]\nposition = 1", "output", [0.5403, 0.8415]),
    # The feed-forward block, activations, linear maps, products.
    ("x = [1, -1]\nW1 = [[1, 2], [3, 4]]\nb1 = [0, 3]\nW2 = [[1], [2]]\nb2 = [1]", "output", [3]),
    ("gelu = [1, 0, -1, 2]", "output", [0.8413, 0, -0.1587, 1.9545]),
    ("gelu_tanh = [1, -1]", "output", [0.8412, -0.1588]),
    ("x = [1, 2]\nW = [[1, 0], [0, 1]]\nb = [1, 1]\nactivation = 'softmax'", "output", [0.2689, 0.7311]),
    ("A = [[1, 2], [3, 4]]\nB = [[5, 6], [7, 8]]", "output", [[19, 22], [43, 50]]),
    ("A = [1, 2, 3]\nB = [4, 5, 6]", "output", 32),
    # Begun in the middle.
    ("weights = [0.25, 0.75]\nV = [[4, 0], [0, 4]]", "output", [1, 3]),
    ("scores = [[1, 1], [0, 0]]\nV = [[2], [4]]", "output", [[3], [3]]),
]


@pytest.mark.parametrize(("text", "name", "answer"), PUBLISHED_STYLE)
def test_an_exercise_comes_out_to_the_digits_of_the_book(text, name, answer):
    np.testing.assert_allclose(worked(text)[name], answer, atol=5.1e-5)


def test_the_embeddings_of_flying_and_arrows_give_other_values_than_the_vectors():
    values = solve(load_problem(EXAMPLES / "flying.toml")).values
    assert (values["q"], values["k"], values["v"]) == ([0, 1], [[1, 1], [0, -1]], [[1, 0], [-1, 1]])
    np.testing.assert_allclose(values["output"], [0.6089, 0.1956], atol=5e-5)


def test_two_heads_with_an_output_projection():
    given = tomllib.loads((EXAMPLES / "multi-head.toml").read_text(encoding="utf-8"))
    X, W_Q, W_K, W_V, W_O = (np.array(given[name], float) for name in ("X", "W_Q", "W_K", "W_V", "W_O"))
    heads, weights = [], []
    for part in (slice(0, 2), slice(2, 4)):
        q, k, v = X @ W_Q[:, part], X @ W_K[:, part], X @ W_V[:, part]
        weights.append(softmax(q @ k.T / np.sqrt(2)))
        heads.append(weights[-1] @ v)
    values = solve(load_problem(EXAMPLES / "multi-head.toml")).values
    np.testing.assert_allclose(values["weights"], weights, atol=1e-12)
    np.testing.assert_allclose(values["heads"], heads, atol=1e-12)
    np.testing.assert_allclose(values["concat"], np.hstack(heads), atol=1e-12)
    np.testing.assert_allclose(values["output"], np.hstack(heads) @ W_O, atol=1e-12)


def test_cross_attention_of_two_queries_and_three_keys_with_padding():
    given = tomllib.loads((EXAMPLES / "cross-attention.toml").read_text(encoding="utf-8"))
    X, memory = (np.array(list(given[name].values()), float) for name in ("X", "memory"))
    W_Q, W_K, W_V = (np.array(given[name], float) for name in ("W_Q", "W_K", "W_V"))
    scores = X @ W_Q @ (memory @ W_K).T / np.sqrt(2)
    weights = softmax(np.where([True, True, False], scores, -np.inf))
    values = solve(load_problem(EXAMPLES / "cross-attention.toml")).values
    np.testing.assert_allclose(values["scores"], scores, atol=1e-12)
    np.testing.assert_allclose(values["output"], weights @ (memory @ W_V), atol=1e-12)


def test_additive_attention():
    given = tomllib.loads((EXAMPLES / "additive.toml").read_text(encoding="utf-8"))
    q, memory, W_1, W_2, v = (np.array(given[name], float) for name in ("q", "memory", "W_1", "W_2", "v_a"))
    scores = np.array([v @ np.tanh(W_1 @ q + W_2 @ k) for k in memory])
    values = solve(load_problem(EXAMPLES / "additive.toml")).values
    np.testing.assert_allclose(values["scores"], scores, atol=1e-12)
    np.testing.assert_allclose(values["output"], softmax(scores) @ memory, atol=1e-12)


def test_a_whole_encoder_layer():
    given = tomllib.loads((EXAMPLES / "encoder-layer.toml").read_text(encoding="utf-8"))
    X, W_Q, W_K, W_O = (np.array(given[name], float) for name in ("X", "W_Q", "W_K", "W_O"))
    ffn = {name: np.array(value, float) for name, value in given["ffn"].items()}
    norm = {name: np.array(value, float) for name, value in given["norm_2"].items()}
    attention = softmax(X @ W_Q @ (X @ W_K).T / np.sqrt(2)) @ X[:, :2] @ W_O
    first = layer_norm(X + attention)
    fed = np.maximum(first @ ffn["W_1"] + ffn["b_1"], 0) @ ffn["W_2"]
    second = layer_norm(first + fed) * norm["gamma"] + norm["beta"]
    values = solve(load_problem(EXAMPLES / "encoder-layer.toml")).values
    for name, expected in (("attention", attention), ("norm_1", first), ("ffn", fed), ("norm_2", second), ("output", second)):
        np.testing.assert_allclose(values[name], expected, atol=1e-12)


def test_general_alignment_and_cosine():
    W = np.array([[1.0, 2], [3, 4]])
    values = worked(QKV + 'alignment = "general"\nW = [[1, 2], [3, 4]]')
    np.testing.assert_allclose(values["scores"], Q @ W @ K.T, atol=1e-12)
    lengths = np.linalg.norm(Q, axis=1)[:, None] * np.linalg.norm(K, axis=1)
    values = worked(QKV + 'alignment = "cosine"')
    np.testing.assert_allclose(values["scores"], Q @ K.T / lengths, atol=1e-12)


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    scores = np.array([0.3, 1.1, 0.9, -0.4])
    weights = np.array(worked("sparsemax = [0.3, 1.1, 0.9, -0.4]")["output"])
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    grid = [np.array([a, b, c, 20 - a - b - c]) / 20 for a in range(21) for b in range(21 - a) for c in range(21 - a - b)]
    nearest = min(grid, key=lambda point: float(((point - scores) ** 2).sum()))
    assert ((weights - scores) ** 2).sum() <= ((nearest - scores) ** 2).sum()
    np.testing.assert_allclose(weights, nearest, atol=0.05)


def test_sigmoid_weights_need_not_sum_to_one():
    values = worked(QKV + 'distribution = "sigmoid"')
    np.testing.assert_allclose(values["weights"], 1 / (1 + np.exp(-Q @ K.T / np.sqrt(2))), atol=1e-12)


def test_columns_are_the_rows_transposed():
    rng = np.random.default_rng(5)
    X, W_Q, W_K, W_V, W_O = (rng.normal(size=size).round(2) for size in ((3, 4), (4, 4), (4, 4), (4, 6), (6, 4)))
    rows = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    choices = {"heads": 2, "mask": "causal", "kind": "encoder layer"}
    by_rows = solve(parse_problem({name: value.tolist() for name, value in rows.items()} | choices)).values
    columns = {name: value.T.tolist() for name, value in rows.items()} | {"convention": "columns"} | choices
    by_columns = solve(parse_problem(columns)).values
    assert set(by_rows) == set(by_columns)
    for name, value in by_rows.items():
        turned = np.array(value) if np.ndim(value) < 2 else np.swapaxes(np.array(value), -1, -2)
        np.testing.assert_allclose(by_columns[name], turned, atol=1e-12, err_msg=name)


def test_a_gated_block_multiplies_two_projections():
    x, W_1, W_3, W_2 = (
        np.array([1.0, 2]),
        np.array([[1.0, 0], [1, 1]]),
        np.array([[2.0, 1], [0, 1]]),
        np.array([[1.0, 1], [0, 2]]),
    )
    document = {"kind": "ffn", "activation": "swiglu", "x": x.tolist()}
    document |= {"W_1": W_1.tolist(), "W_2": W_2.tolist(), "W_3": W_3.tolist()}
    hidden = x @ W_1
    expected = (hidden / (1 + np.exp(-hidden)) * (x @ W_3)) @ W_2
    np.testing.assert_allclose(solve(parse_problem(document)).values["output"], expected, atol=1e-12)


SHOWN = sorted(set(re.findall(r"work examples/([\w.-]+)", PAGE.read_text(encoding="utf-8"))) - {"misfit.toml"})


@pytest.mark.parametrize("name", SHOWN)
def test_every_example_of_the_docs_works(name):
    solution = solve(load_problem(EXAMPLES / name))
    assert np.isfinite(np.array(solution.values["output"], float)).all()
