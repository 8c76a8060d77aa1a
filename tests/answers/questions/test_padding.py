"""Questions about padding: the lengths, the length that all get, and what of it is asked."""

import pytest

from glassformer.answers.questions.padding import padding
from glassformer.answers.questions.rephrasing import plainly

BATCH = "A batch of sentences of 5, 9 and 7 tokens is padded to the longest. "


def read(text: str) -> tuple[str | None, dict[str, int]] | None:
    found = padding(plainly(text), text)
    return None if found is None else (found.target, dict(found.given))


@pytest.mark.parametrize(
    ("asks", "target"),
    [
        ("How many padding tokens are there?", "padding tokens"),
        ("How many [PAD] symbols does it contain?", "padding tokens"),
        ("What share is wasted?", "share of padding"),
        ("What percentage of the positions is padding?", "share of padding"),
        ("What fraction of the tokens is real?", "share of real tokens"),
        ("How many attention scores are computed for nothing?", "scores for nothing"),
        ("What fraction of the attention scores is wasted?", "share of scores for nothing"),
        ("How many tokens does the batch contain after padding?", "all positions"),
        ("What is the shape of input_ids?", "shape of the batch"),
    ],
)
def test_what_is_asked(asks: str, target: str) -> None:
    assert read(BATCH + asks) == (target, {"sentence 1": 5, "sentence 2": 9, "sentence 3": 7, "to": 9})


@pytest.mark.parametrize(
    "text",
    [
        "Sequence lengths in a batch are [5, 9, 7]. If every sequence is padded to 16 tokens, how many padding tokens are added?",
        "Three documents with 5, 9 and 7 words are padded to a maximum length of 16: how many pad tokens are needed?",
        "How many padding tokens are added when padding sentences of 5, 9 and 7 tokens to length 16?",
    ],
)
def test_a_length_that_is_said_is_the_length(text: str) -> None:
    assert read(text) == ("padding tokens", {"sentence 1": 5, "sentence 2": 9, "sentence 3": 7, "to": 16})


@pytest.mark.parametrize(
    "text",
    [
        BATCH + "How many padding tokens does each sentence get?",
        BATCH + "How many padding tokens per sentence on average?",
        BATCH + "How many padding tokens does the shortest sentence need?",
        BATCH + "What is the size of the batch?",
        BATCH + "In 12 layers, how many attention scores are wasted?",
        "A batch of 4 sentences of 5, 9 and 7 tokens is padded to the longest. How many padding tokens are there?",
        "Sentences of 5, 9, 7 and 3 tokens are put in two batches and padded to the longest. How many padding tokens are there?",
        "Sentences of 5, 9 and 7 tokens are padded to a multiple of 8. How many padding tokens are there?",
        "Sentences of 5, 9 and 7 tokens are padded to 8 tokens. How many padding tokens are there?",  # one is cut
    ],
)
def test_another_question_is_not_read_as_this_one(text: str) -> None:
    assert read(text) is None
