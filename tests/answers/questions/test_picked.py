"""One number out of a result: which one is meant, and where that cannot be told."""

import math

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check, check_sentence
from glassformer.answers.questions.given_numbers import given_numbers
from glassformer.answers.questions.picked import with_brackets
from glassformer.spec import GlassformerError


def softmax(*scores: float) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Scores 2, 1, 0: what weight does the first key get?", softmax(2, 1, 0)[0]),
        ("What is the probability of the second class with logits 1, 3?", softmax(1, 3)[1]),
        ("A query has attention scores of 3, 1 and 1 (already scaled). What weight does the last "
            "key receive?", softmax(3, 1, 1)[2]),
        ("A sentiment classifier outputs the logits [1.5, -0.5]. What probability does it assign to the first class?",
            softmax(1.5, -0.5)[0]),
        ("What is the second component of softmax([1, 2, 3])?", softmax(1, 2, 3)[1]),
        ("With dot products [8, 0] and d_k = 16, what weight does the first key get?", softmax(2, 0)[0]),
        ("Apply layer normalization to the vector [2, 4, 6, 8]. What is the first component?", -3 / math.sqrt(5)),
        ("q = [2, 2, 2, 2], k = [1, 3, 0, 1]. What is q·k divided by the square root of d_k?", 5),
        ("What is the attention score for q = [3, 1, 2, 2] and k = [1, 1, 2, 2], scaled by sqrt(d_k)?", 6),
    ],
)  # fmt: skip
def test_the_number_that_is_meant(question: str, value: float) -> None:
    assert ask(question).value == pytest.approx(value)


@pytest.mark.parametrize(
    "question",
    [
        "Scores 2, 1, 0 with the first key masked: what weight does the second key get?",
        "Given scores 2 and 1, what is the log probability of the first key?",
        "What attention weight does the first token pay to the second token given scores [1, 2]?",
        "Logits 1 and 3: what is the probability of the second class with a sigmoid?",
        "What are the attention weights for the first token with scores [1, 2]?",
    ],
)
def test_another_question_is_not_read_as_this_one(question: str) -> None:
    assert given_numbers(question) is None


def test_there_is_no_fourth_of_three() -> None:
    with pytest.raises(Exception, match="is not understood"):
        ask("What weight does the fourth key get with scores 2, 1, 0?")


def test_brackets_go_around_scores_and_around_nothing_else() -> None:
    assert with_brackets("logits of 1, 2 and 3") == "logits of [1, 2, 3]"
    assert with_brackets("attention scores for 8 and 16 heads") == "attention scores for 8 and 16 heads"


@pytest.mark.parametrize(
    ("question", "claim", "code"),
    [
        ("With dot products [8, 0] and d_k = 16, what weight does the first key get?", f"{softmax(8, 0)[0]:.4f}", "no_scaling"),
        (
            "With dot products [8, 0] and d_k = 16, what weight does the first key get?",
            f"{softmax(0.5, 0)[0]:.4f}",
            "divided_by_dk",
        ),
    ],
)
def test_the_mistake_behind_one_number(question: str, claim: str, code: str) -> None:
    found = check(question, None, claim)
    assert not found.right
    assert [finding.codes for finding in found.findings] == [(code,)]


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("The softmax of the scores [1, 0] gives the first key a weight of about 0.73.", True),
        ("The softmax of the scores [1, 0] gives the first key a weight of about 0.27.", False),
        ("With logits 2 and 0, the probability of the second class is 0.12.", True),
        ("With logits 2 and 0, the probability of the second class is 0.27.", False),
        ("Given scores 2, 1 and 0, the first key gets a weight of 0.67.", True),
        ("Softmax of the logits 0 and 0 gives each class a probability of 0.5.", True),
        ("Softmax of the logits 0 and 0 gives each class a probability of 1.", False),
        ("Softmax of the logits 0 and 1 gives the first class a probability of 0.5.", False),
    ],
)
def test_claims(sentence: str, right: bool) -> None:
    assert [found.right for found in check_sentence(sentence)] == [right]


def test_the_letter_of_an_option_whose_numbers_are_no_scores() -> None:
    question = "Given scores [2, 2, 2], what is the attention weight of each token after softmax? A) 2/3 B) 1/3 C) 1 D) 0.5"
    assert check(question, None, "B").right
    assert not check(question, None, "D").right


@pytest.mark.parametrize("scores", ["2, 1, x", "3, 2, 1, x", "2, 1 and z", "2, 1, ..."])
def test_a_list_that_goes_on_with_what_is_no_number_is_not_cut_short(scores):
    with pytest.raises(GlassformerError, match="not understood"):
        ask(f"Scores are {scores}. What weight does the first key get after softmax?")
