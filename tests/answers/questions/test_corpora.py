"""Steps and passes over a corpus, and attention between two sequences: the numbers of the question are all that is needed."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "due"),
    [
        ("A corpus of 3.2 billion tokens is used for 10 epochs with batches of 256 sequences of 512 tokens each. How many "
            "optimizer "
            "steps is that?", 244_141),
        ("How many steps are 3 epochs over a corpus of 1 million tokens with batches of 1,024 tokens?", 2_930),
        ("A corpus of 3.3 billion tokens is used with 1,000,000 steps and a batch of 256 sequences of 512 tokens. How many "
            "epochs is "
            "that?", pytest.approx(256 * 512 * 10**6 / 3.3e9)),
        ("How many entries of a 7-by-7 attention matrix are zeroed out by a causal mask?", 21),
        ("What is the size of the attention weights for 4 target tokens and 9 source tokens?", (4, 9)),
    ],
)  # fmt: skip
def test_the_numbers_of_the_question_are_enough(question, due):
    assert ask(question).value == due


@pytest.mark.parametrize(
    "question",
    [
        "How many steps does one epoch over a dataset of 10,000 sentences take with a batch size of 32 sequences of 128 tokens?",
        "What is the shape of the attention matrix for 5 queries and 7 keys with batch size 2 and 8 heads?",
        "How many steps are 3 epochs over a corpus of 1 million tokens with batches of 1,024 tokens on 8 GPUs?",
    ],
)
def test_what_says_more_is_refused(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize("claim", ["20x12", "12x12", "20x20"])
def test_queries_and_keys_that_change_places_are_named(claim):
    question = "What is the shape of the attention matrix for 12 decoder queries attending to 20 encoder positions?"
    assert [finding.codes for finding in check(question, None, claim).findings] == [("queries_keys_transposed",)]
    assert check(question, None, "12x20").right
