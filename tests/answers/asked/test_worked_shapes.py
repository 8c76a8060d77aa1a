"""Answers about matrices that a question gives by their shapes."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.answers.questions.given_shapes import given_shapes
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("X is a matrix of shape 6x3 and W_q has shape 3x2. What is the shape of Q = X W_q?", (6, 2)),
        ("Let Q be of size 5 x 64 and K of size 7 x 64. What are the dimensions of QK^T?", (5, 7)),
        ("Assume X is 6x512 and W_Q is 512x64. What is the shape of Q?", (6, 64)),
        ("Q, K and V have shape (10, 64). What is the shape of the attention output?", (10, 64)),
        (
            r"Given $Q \in \mathbb{R}^{10 \times 64}$, $K \in \mathbb{R}^{9 \times 64}$ and $V \in \mathbb{R}^{9 \times 32}$, "
            r"what is the shape of softmax(QK^T / \sqrt{d_k}) V?",
            (10, 32),
        ),
        ("How many entries does QK^T have if Q is 5x64 and K is 7x64?", 35),
        ("How many multiplications are needed to compute QK^T when Q and K are both 128 x 64 matrices?", 128 * 128 * 64),
        ("How many FLOPs does it take to multiply a 512x768 matrix by a 768x3072 matrix?", 2 * 512 * 768 * 3072),
        ("W_Q, W_K and W_V are of size 512 x 64 each. How many parameters are in these three matrices?", 3 * 512 * 64),
    ],
)
def test_the_formula_is_followed(question, value):
    assert ask(question).value == value


def test_a_product_that_does_not_fit_is_named_with_the_command_that_shows_why():
    with pytest.raises(GlassformerError, match=r"Q K\^T does not fit these shapes; see glassformer algebra"):
        ask("If Q is 10x64 and K is 12x32, what is the shape of QK^T?")


@pytest.mark.parametrize(
    "question",
    [
        "Q has shape (2, 4, 8) and K has shape (2, 4, 8). What is the shape of QK^T?",
        "Two heads: Q is 4x8, K is 4x8. What is the shape of QK^T?",
        "W_Q and W_K are of size 512 x 64. How many parameters does the attention layer have?",
        "Q is 4x8 and K is 4x8. What is the rank of QK^T?",
        "X is 10x512 and W_Q is 512x64. How many parameters are in these matrices in total?",
    ],
)
def test_anything_else_that_is_said_makes_it_another_question(question):
    assert given_shapes(question) is None


def test_a_claim_about_such_a_shape_is_judged():
    question = "Let Q be of size 5 x 64 and K of size 7 x 64. What are the dimensions of QK^T?"
    assert check(question, None, "5 x 7").verdict == "right"
    assert check(question, None, "64 x 64").verdict == "wrong"
    with pytest.raises(GlassformerError, match="asks for a shape"):
        check(question, None, "35")
