"""Vectors that a known mistake gives are called by it; what none gives is wrong without a name."""

import pytest

from glassformer.answers.judging import check, check_sentence
from glassformer.spec import GlassformerError

KEYS = "q = (1, 3) and the keys (2, 0), (0, 1), (1, 1)"


@pytest.mark.parametrize(
    ("question", "claim", "code"),
    [
        (f"Compute the scaled dot-product attention weights for {KEYS}.", "[0.0900, 0.2447, 0.6652]", "no_scaling"),
        ("LayerNorm of (1, 1, 4, 6) without gain and bias?", "(-0.4444, -0.4444, 0.2222, 0.6667)", "layernorm_variance"),
        ("Compute softmax([1, 2, 3]).", "[0.167, 0.333, 0.5]", "exp_missing"),
        ("What is RMSNorm of [3, 4]?", "[-1, 1]", "layernorm_for_rmsnorm"),
        ("What is the scaled attention score of a head whose d_k is 16 in a model of width 64, if q·k = 24?", "3", "sqrt_dmodel"),
        (
            "What is the scaled attention score of a head whose d_k is 16 in a model of width 64, if q·k = 24?",
            "1.5",
            "divided_by_dk",
        ),
    ],
)
def test_the_mistake_behind_the_numbers_is_named(question, claim, code):
    found = check(question, None, claim)
    assert found.verdict == "wrong"
    assert [finding.codes for finding in found.findings] == [(code,)]


def test_numbers_that_nothing_explains_are_wrong_without_a_mistake():
    for question, claim in (
        ("LayerNorm of (3, 5, 10)", "(-0.81, -0.53, 1.17)"),
        ("LayerNorm of [2, 4, 9]", "[0.4, 0.8, 1.8]"),  # two mistakes at once would give it, and so would chance
    ):
        found = check(question, None, claim)
        assert (found.verdict, found.findings) == ("wrong", ())
        assert found.notes == ("no known mistake gives these numbers",)


def test_a_sentence_may_say_what_comes_out():
    for sentence, verdict in (
        ("softmax([1, 2, 3]) = [0.09, 0.24, 0.67]", "right"),
        ("LayerNorm of [1, 2, 3, 4] is [-1.34, -0.45, 0.45, 1.34].", "right"),
        ("If the scores are [1, 2, 3], the weights after softmax are [0.09, 0.24, 0.67].", "right"),
        ("softmax([0, 0]) = [1, 1]", "wrong"),
        ("A student computes softmax([2, 0]) as [1, 0]. Is this right?", "wrong"),
    ):
        (found,) = check_sentence(sentence)
        assert found.verdict == verdict, sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "softmax([1, 2, 3]) is not [0.09, 0.24, 0.67]",
        "softmax([1, 2]) = softmax([3, 4]) = [0.27, 0.73]",
        "log softmax([0, 0]) = [-0.69, -0.69]",
        "After masking the last key, softmax([1, 2, 3]) = [0.27, 0.73, 0]",
        "softmax([1, 2])[0] = 0.27",
        "The sum of softmax([1, 2, 3]) is 1",
    ],
)
def test_a_sentence_that_says_more_is_refused(sentence):
    with pytest.raises(GlassformerError):
        check_sentence(sentence)


def test_the_right_numbers_stay_right():
    assert check(f"Compute the scaled dot-product attention weights for {KEYS}.", None, "[0.1400, 0.2840, 0.5760]").right


def test_an_operation_may_turn_one_vector_into_another():
    (found,) = check_sentence("Softmax turns [1, 1] into [0.5, 0.5].")
    assert found.verdict == "right"


def test_a_whole_and_a_part_of_it_are_two_claims():
    for sentence, verdicts in (
        ("BERT-base has 110 million parameters, of which 23.8 million are in the embeddings.", ["right", "right"]),
        ("BERT-base has 110M parameters, and 85M of them are in the layers.", ["right", "right"]),
        ("BERT-base has 110M parameters, of which 30 million are in the embeddings.", ["wrong", "right"]),
    ):
        found = check_sentence(sentence)
        assert [one.verdict for one in found] == verdicts
    part, _ = check_sentence("BERT-base has 110M parameters, of which 30 million are in the embeddings.")
    assert part.notes == ("no known mistake gives this number",)
