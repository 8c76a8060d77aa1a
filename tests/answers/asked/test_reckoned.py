"""Answers that need the numbers of the question alone."""

import pytest

from glassformer.answers.asked import ask
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (
            "BERT was trained with batch size 256 and sequence length 512 for 1,000,000 steps. How many tokens did it see?",
            256 * 512 * 10**6,
        ),
        ("How many tokens are in a batch of 256 sequences of 512 tokens?", 256 * 512),
        ("How many of the 100 entries of a causal mask for a sequence of length 10 are masked out?", 45),
        ("How many entries of a causal mask are not masked for 5 tokens?", 15),
        (
            "If q and k have independent components with mean 0 and variance 1, what is the variance of their"
            " dot product for d_k = 64?",
            64,
        ),
        (
            "If q and k have independent components with mean 0 and variance 1, what is the standard deviation of their dot "
            "product for d_k = 64?",
            8,
        ),
    ],
)
def test_the_number_follows_from_those_of_the_question(question, value):
    assert ask(question).value == value


@pytest.mark.parametrize(
    "question",
    [
        "How many tokens does BERT see in 1,000,000 steps with batch size 256 and sequence length 128 for 90% of the steps?",
        "How many tokens does it see in 1000 steps with batch size 8 on 4 GPUs and sequence length 128?",
        "How many scores are masked by a causal mask with 8 heads and 10 tokens?",
        "What is the variance of the dot product after dividing by sqrt(d_k) if components have zero mean and"
        " unit variance and d_k = 64?",
    ],
)
def test_anything_else_that_is_said_is_not_passed_over(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(
    "question",
    [
        "BERT was trained for 1,000,000 steps with batch size 256 and sequence length 512. How many tokens per step?",
        "Trained for 1,000 steps with batch size 256 and sequence length 512: how many tokens in each batch?",
    ],
)
def test_the_tokens_of_one_step_are_not_those_of_all(question):
    assert ask(question).value == 256 * 512


@pytest.mark.parametrize(
    "question",
    [
        "How many tokens per sequence are processed with 1,000 steps, batch size 256 and sequence length 512?",
        "How many positions are masked for query 4 in a causal mask of length 16?",
        "How many positions are masked for query 4 in a causal mask?",
        "How many entries of a causal mask are masked for two sequences of length 10?",
        "With scaling, what is the variance of the dot product of q and k with d_k = 64 and unit variance?",
        "q and k have zero mean and variance two, d_k = 64: what is the variance of the dot product?",
        "What is the variance of each component of q before the dot product if d_k = 64 with mean 0 and variance 1?",
        "What is the variance of the attention scores with d_k = 64 if q and k have zero mean and unit variance?",
    ],
)
def test_a_part_or_another_spread_is_not_reckoned(question):
    with pytest.raises(GlassformerError):
        ask(question)
