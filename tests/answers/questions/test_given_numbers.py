"""Questions that give numbers of their own: read as a problem, or not at all."""

import pytest

from glassformer.answers.questions.given_numbers import given_numbers
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "document", "asked"),
    [
        ("Compute softmax([2, 1, 0.1]).", {"kind": "softmax", "x": [2, 1, 0.1]}, "output"),
        ("Q5. What is the softmax of the logits [1, 2]?", {"kind": "softmax", "x": [1, 2]}, "output"),
        ("Apply softmax with temperature 2 to the scores [1, 3].", {"kind": "softmax", "x": [1, 3], "temperature": 2}, "output"),
        (
            "Let q = [1, 0], k_1 = [1, 1] and k_2 = [0, 1]. Find the scaled dot-product attention weights.",
            {"kind": "attention", "q": [1, 0], "k": [[1, 1], [0, 1]]},
            "weights",
        ),
        (
            "Given Q = [[1, 0], [0, 1]] and K = [[1, 1], [0, 1]], what is QK^T?",
            {"kind": "attention", "q": [[1, 0], [0, 1]], "k": [[1, 1], [0, 1]], "scale": "none"},
            "dot",
        ),
        (
            "Given attention weights [0.5, 0.5] and values [2, 4] and [6, 0], what is the output?",
            {"kind": "attention", "weights": [0.5, 0.5], "v": [[2, 4], [6, 0]]},
            "output",
        ),
        (
            "Consider raw attention scores of [4, 2] with d_k = 4. Compute the attention weights.",
            {"kind": "attention", "dot": [4, 2], "d_k": 4},
            "weights",
        ),
        (
            "Apply layer normalization to x = (2, 4, 6) with eps = 1e-5, gamma = 1 and beta = 0.",
            {"kind": "layer_norm", "x": [2, 4, 6], "eps": 1e-5},
            "output",
        ),
        ("What is the variance of [1, 2, 3] in layer norm?", {"kind": "layer_norm", "x": [1, 2, 3]}, "variance"),
        ("What is ReLU([-1, 2])?", {"kind": "relu", "x": [-1, 2]}, "output"),
        ("Compute the positional encoding at position 1 for d_model = 4.", {"position": 1, "d_model": 4}, "pe"),
        (
            "The dot product of a query and a key is 16 and d_k = 64. What is the scaled score?",
            {"kind": "attention", "dot": [16.0], "d_k": 64},
            "scores",
        ),
    ],
)
def test_a_problem_is_read(question, document, asked):
    found = given_numbers(question)
    assert found is not None
    assert (found.document, found.asked) == (document, asked)


@pytest.mark.parametrize(
    "question",
    [
        "What is the second largest attention weight for scores [1, 2, 3]?",
        "Compute attention weights for scores [1, 2, 3] where the last token is padding.",
        "What is the log softmax of [1, 2]?",
        "softmax([1, 2, 3])[0]",
        "softmax([1, 2, 3] / 2)",
        "softmax([[1, 2], [3, 4]]) along dim 0",
        "LayerNorm of [1, 2, 3] with gamma = 2",
        "Apply LayerNorm to [2, 4] then ReLU.",
        "Let q = [1, 0], k_2 = [1, 1] and k_1 = [0, 1]. Find the scaled attention weights.",
        "Given Q = [[1, 2], [3, 4]]^T and K = [[1, 0], [0, 1]], what is QK^T?",
        "What is the positional encoding at position 2 with d_model = 4 and base 100?",
        "What is the positional encoding at position 2 with d_model = 512?",
        "Let X = [[1, 0], [0, 1]] and W_Q = [[1, 2], [3, 4]]. Compute Q.",
        "What is the shape of [1, 2, 3]?",
    ],
)
def test_anything_else_that_is_said_makes_it_another_question(question):
    assert given_numbers(question) is None


def test_whether_scores_are_scaled_is_never_guessed():
    vectors = "Let q = [1, 0], k_1 = [1, 1] and k_2 = [0, 1]. Compute the attention weights"
    with pytest.raises(GlassformerError, match="leaves open whether the scores are divided by √d_k"):
        given_numbers(f"{vectors}.")
    without = given_numbers(f"{vectors} without scaling.")
    assert without is not None
    assert without.document["scale"] == "none"


def test_two_things_asked_are_told_apart():
    found = given_numbers(
        "Compute the scaled attention weights and the output for q = [1, 0], keys [1, 0], [0, 1], values [1], [2]."
    )
    assert found is None or found.also
    found = given_numbers(
        "Compute the scaled attention weights and the output for q = [1, 0], keys [1, 0], [0, 1] and values [1, 1], [2, 2]."
    )
    assert found is not None
    assert (found.asked, found.also) == ("output", True)
