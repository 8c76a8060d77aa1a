"""What another command answers is sent there, in one line."""

import pytest

from glassformer.answers.questions import parse_question
from glassformer.answers.shapes.check import check_formula
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("If Q is 10x64 and K is 10x64, what is the shape of QK^T?", "glassformer algebra 'Q K^T' Q=10x64 K=10x64"),
        ("Given Q of shape (4, 8) and K of shape (6, 8), what's the shape of QK^T?", "algebra 'Q K^T' Q=4x8 K=6x8"),
        ("Assume X is 6x512 and W_Q is 512x64. What is the shape of Q?", "glassformer algebra 'X W_Q' X=6x512 W_Q=512x64"),
        ("Compute softmax of [2, 1, 0.1]", "glassformer work"),
        ("Why do we scale the dot products?", "glassformer experiment scaling"),
        ("What is the purpose of positional encodings?", "glassformer experiment order"),
        ("Why was the encoder invented?", "quantities are asked for"),
        ("True or False: BERT-base has 110 million parameters.", "glassformer check"),
    ],
)
def test_the_other_command_is_named(question, command):
    with pytest.raises(GlassformerError) as refused:
        parse_question(question)
    assert command in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_command_answers_it():
    assert check_formula("Q K^T", ["Q=4x8", "K=6x8"])["Q K^T"] == (4, 6)
    assert check_formula("X W_Q", ["X=6x512", "W_Q=512x64"])["X W_Q"] == (6, 64)
