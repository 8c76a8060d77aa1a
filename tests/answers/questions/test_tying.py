"""Tied weights in prose: what tying saves, what a tied head adds, and what is asked of neither."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check, check_sentence
from glassformer.spec import GlassformerError

SHARED = "With hidden size 256 and a vocabulary of 8000, the MLM decoder shares its matrix with the embeddings. "
HEAD = 256 * 256 + 256 + 2 * 256 + 8000  # a dense layer, a norm, the bias of the output


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (SHARED + "How many parameters does tying save?", 256 * 8000),
        (SHARED + "How many parameters does the head add?", HEAD),
        ("The MLM decoder of BERT-base shares its matrix with the embeddings: how many parameters does the head add?", 622_650),
        (
            "The output layer of a masked language model with vocabulary size 32000 and hidden size 640 shares its weights with "
            "the input embedding. How many parameters are saved by this weight tying?",
            32000 * 640,
        ),
        (
            "In a BERT-style model (hidden size 512, vocabulary 16000) the output projection of the "
            "MLM head is tied to the token "
            "embeddings. How many parameters does this save compared with an untied projection?",
            512 * 16000,
        ),
    ],
)
def test_in_prose(question: str, value: int) -> None:
    assert ask(question).value == value


def test_what_is_not_shared_is_not_what_is_saved() -> None:
    with pytest.raises(GlassformerError):
        ask(SHARED + "How many extra parameters does it have?")


def test_a_tied_head_may_be_a_bias_alone_unless_a_model_is_named() -> None:
    assert check(SHARED + "How many parameters does the head add?", None, "8000").verdict == "convention"
    named = "The MLM decoder of BERT-base shares its matrix with the embeddings: how many parameters does the head add?"
    assert not check(named, None, "30522").right


@pytest.mark.parametrize(("number", "right"), [("20,480,000", True), ("40,960,000", False)])
def test_claims(number: str, right: bool) -> None:
    sentence = f"With a vocabulary of 32000 and hidden size 640, weight tying saves {number} parameters."
    assert [found.right for found in check_sentence(sentence)] == [right]
