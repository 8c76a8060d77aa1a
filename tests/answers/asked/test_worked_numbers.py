"""Answers to questions with numbers of their own, against numbers worked out here."""

import math

import pytest

from glassformer.answers.asked import Numbers, ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError


def softmax(*scores):
    exponents = [math.exp(score) for score in scores]
    return [exponent / sum(exponents) for exponent in exponents]


@pytest.mark.parametrize(
    ("question", "due"),
    [
        ("Compute softmax([2, 1, 0.1]).", softmax(2, 1, 0.1)),
        ("Compute the softmax of the logits [1, 2, 3] with temperature 2.", softmax(0.5, 1, 1.5)),
        ("Let q = [1, 0], k1 = [1, 1], k2 = [0, 1]. Compute the scaled attention weights.", softmax(1 / math.sqrt(2), 0)),
        ("Let q = [1, 0], k1 = [1, 1], k2 = [0, 1]. Compute the attention weights without scaling.", softmax(1, 0)),
        ("Raw attention scores are [4, 2, 0] and d_k = 4. What are the attention weights?", softmax(2, 1, 0)),
        ("Given attention weights [0.2, 0.8] and values [1, 0] and [0, 1], what is the output?", [0.2, 0.8]),
        ("What is LayerNorm of [1, 2, 3, 4]?", [(x - 2.5) / math.sqrt(1.25) for x in (1, 2, 3, 4)]),
        ("What is RMSNorm of [3, 4]?", [x / math.sqrt(12.5) for x in (3, 4)]),
        (
            "What is the positional encoding at position 1 for d_model = 4?",
            [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        ),
    ],
)
def test_the_numbers_are_those_worked_out_here(question, due):
    value = ask(question).value
    assert isinstance(value, Numbers)
    assert list(value) == pytest.approx(due)


def test_one_number_is_a_number():
    assert ask("What is the dot product of q = (1, 2, 3) and k = (4, 5, 6)?").value == 32
    assert ask("The dot product of a query and a key is 16 and d_k = 64. What is the scaled score?").value == 2


def test_rows_stay_rows():
    answer = ask("Given Q = [[1, 0], [0, 1]] and K = [[1, 1], [0, 1]], what is QK^T?")
    assert answer.to_dict()["value"] == [[1, 0], [1, 1]]


def test_the_page_shows_the_way_and_no_sum():
    text = str(ask("Let q = [1, 0], k1 = [1, 1], k2 = [0, 1]. Compute the scaled attention weights."))
    assert "[0.6698, 0.3302]" in text
    assert "scores divided by √d_k" in text
    assert "sum =" not in text


def test_numbers_that_do_not_fit_are_one_line():
    with pytest.raises(GlassformerError) as refused:
        ask("Given attention weights [0.2, 0.3, 0.5] and values [1, 0] and [0, 1], what is the output?")
    assert "do not fit" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_claim_is_judged_at_its_own_precision():
    question = "Compute softmax([2, 1, 0.1])."
    assert check(question, None, "[0.66, 0.24, 0.10]").verdict == "right"
    near, short = check(question, None, "[0.66, 0.25, 0.09]"), check(question, None, "[0.66, 0.24]")
    assert (near.verdict, near.notes) == ("wrong", ("near what comes out: rounded on the way, it seems",))
    assert (short.verdict, short.notes) == ("wrong", ("no known mistake gives these numbers",))


def test_a_variance_divided_by_n_minus_1_is_a_mistake_with_a_name():
    found = check("What is LayerNorm of [1, 2, 3, 4]?", None, "[-1.16, -0.39, 0.39, 1.16]")
    assert (found.verdict, [finding.codes for finding in found.findings]) == ("wrong", [("layernorm_variance",)])


def test_the_last_of_several_things_is_no_ground_to_accuse():
    both = "Compute the scaled attention weights and the output for q = [1, 0], keys [1, 0], [0, 1] and values [1, 1], [2, 2]."
    assert ask(both).reading == "partial"
    with pytest.raises(GlassformerError):
        check(both, None, "[0.67, 0.33]")


@pytest.mark.parametrize(
    ("question", "due"),
    [
        (
            "Given Q = [[1], [2]] and K = [[1], [2]], what are the attention weights without scaling?",
            [softmax(1, 2), softmax(2, 4)],
        ),
        ("What are the attention weights without scaling for Q = K = V = [[1, 0], [0, 2]]?", [softmax(1, 0), softmax(0, 4)]),
        ("What is softmax(QK^T/√16) for Q = [[1, 2]] and K = [[3, 4], [1, 0]]?", [softmax(11 / 4, 1 / 4)]),
        (
            "What are the attention weights for the scores [[1, 2], [3, 5]] over the keys for each query?",
            [softmax(1, 2), softmax(3, 5)],
        ),
        ("What are the attention weights of the scores [[1, 2], [3, 5]] with a causal mask?", [[1, 0], softmax(3, 5)]),
    ],
)
def test_rows_are_tokens_and_a_number_under_the_root_counts(question, due):
    assert [list(row) for row in ask(question).value] == [pytest.approx(row) for row in due]


def test_a_column_is_one_vector_where_no_matrix_is_named():
    assert list(ask("What is the softmax of [[1], [2]]?").value) == pytest.approx(softmax(1, 2))


def test_scaled_dot_products_are_not_scaled_again():
    assert list(ask("The scaled dot products are [1, 2]. What are the attention weights?").value) == pytest.approx(softmax(1, 2))


@pytest.mark.parametrize(
    "question",
    [
        "softmax of [1, 2] with temperature 0",
        "What is the softmax of the softmax of [1, 2]?",
        "tanh of tanh of [1, 2]",
        "RMSNorm of the LayerNorm of [1, 2, 4]",
        "LayerNorm and RMSNorm of [1, 2, 4]",
        "relu and gelu of [-1, 2]",
        "What is the mean of the LayerNorm of [1, 2, 3]?",
        "What is the variance of the layer-normalized vector [1, 2, 3]?",
        "What is the standard deviation of the LayerNorm output for x = [1, 2, 3]?",
        "What are the mean and the LayerNorm output of [1, 2, 3]?",
        "scores scaled by two for q = [1, 2] and k = [3, 4]",
        "positional encoding at position 1 and position 2 for d_model = 4",
        "What is the dot product between the positional encoding at position 1 and position 2 for d_model = 4?",
        "What are the cosine features of the positional encoding at position 3 for d_model = 4?",
        "The scaled dot product is 16 with d_k = 64. What is the unscaled dot product?",
        "What are the attention weights for Q = K = V = [[1, 0], [0, 1]]?",
        "What are the attention weights for the values [1, 2]?",
        "The scaled dot products are [1, 2] with d_k = 4. What are the attention weights?",
        "softmax(QK^T/√4) for q = [1, 2] and keys [3, 4] and [1, 0] with d_k = 2",
        "softmax of the scores [[1, 2], [3, 4]] over the queries",
        "LayerNorm of X = [[1, 2], [3, 5]] over the tokens",
        "LayerNorm of X = [[1, 2], [3, 5]] across each feature",
        "What is the softmax of [1, 2, 3] at position two?",
        "Attention weights of the scores [[1, 2, 3], [3, 4, 5]] with a causal mask",
        "q = [1, 0], keys [1, 0], [0, 1] and [1, 1], with a causal mask: scaled attention weights",
        "weights [[0.5, 0.5], [1, 0]] and values [[1, 2], [3, 4]] with a causal mask: output",
        "weighted average of the values [[1, 2], [3, 4]] with weights [1, 3]",
        "softmax of [1,000, 2,000]",
    ],
)
def test_a_word_that_turns_the_question_is_not_passed_over(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the layer normalization (LayerNorm) of the vector [1, 2, 3]?",
        "What is the mean used in LayerNorm of [1, 2, 3]?",
        "Apply ReLU to [-1, 2]. What is the output of the ReLU?",
        "weighted average of the values [[1, 2], [3, 4]] with weights [1/3, 2/3]",
        "softmax of [[100,200], [300,400]]",
        "LayerNorm of X = [[1, 2], [3, 5]] for each token",
        "q = [1, 0], keys [1, 0] and [0, 1]: attention weights for each key, scaled",
        "What is the sine and cosine positional encoding at position 3 for d_model = 4?",
    ],
)
def test_what_says_the_same_is_still_answered(question):
    assert ask(question).reading == "whole"


def test_a_variance_that_the_question_names_is_due():
    assert check("LayerNorm of [1, 2, 3] with unbiased variance", None, "[-1, 0, 1]").verdict == "right"
    found = check("LayerNorm of [1, 2, 3] with unbiased variance", None, "[-1.2247, 0, 1.2247]")
    assert [finding.codes for finding in found.findings] == [("layernorm_variance",)]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is ReLU(-3)?", 0),
        ("Compute the GELU of 1.", 0.8413447),
        ("What is tanh(0.5)?", 0.4621172),
        ("SiLU at 2", 1.7615942),
    ],
)
def test_a_function_of_one_number_is_worked_out(question, value):
    assert ask(question).value == pytest.approx(value)


def test_gelu_has_two_formulas():
    assert check("What is GELU(1)?", None, "0.8412").verdict == "convention"
    assert check("What is GELU([1, 2])?", None, "[0.8412, 1.9546]").verdict == "convention"
    assert check("What is GELU(1)?", None, "0.85").verdict == "wrong"


def test_a_number_beside_an_activation_is_not_its_input():
    with pytest.raises(GlassformerError):
        ask("What is the GELU of 1 plus 1?")
