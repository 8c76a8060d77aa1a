"""Answers to questions with numbers of their own, against numbers worked out here."""

import math

import pytest

from glassformer.answers.judging import check
from glassformer.answers.quantities import Numbers, ask
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
    with pytest.raises(GlassformerError, match="not what comes out here"):
        check(question, None, "[0.66, 0.25, 0.09]")
    with pytest.raises(GlassformerError, match="not what comes out here"):
        check(question, None, "[0.66, 0.24]")


def test_another_convention_excuses_a_claim():
    found = check("What is LayerNorm of [1, 2, 3, 4]?", None, "[-1.16, -0.39, 0.39, 1.16]")
    assert found.verdict == "convention"
    assert "n − 1" in found.convention


def test_the_last_of_several_things_is_no_ground_to_accuse():
    both = "Compute the scaled attention weights and the output for q = [1, 0], keys [1, 0], [0, 1] and values [1, 1], [2, 2]."
    assert ask(both).reading == "partial"
    with pytest.raises(GlassformerError):
        check(both, None, "[0.67, 0.33]")
