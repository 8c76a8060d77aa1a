"""Sentences about padding: right, wrong, or no claim of this kind."""

import pytest

from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.padding_claims import padding_claims


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("For a batch of 4 sentences with 6, 10, 8 and 4 tokens padded to the longest, 12 tokens are padding.", True),
        ("For a batch of 4 sentences with 6, 10, 8 and 4 tokens padded to the longest, 28 tokens are padding.", False),
        ("A batch of sentences with 6, 10, 8 and 4 tokens, padded to the longest, has 12 padding tokens.", True),
        ("A batch of three sentences with 8, 12 and 16 tokens needs 12 padding tokens when padded to the longest.", True),
        ("Padding sentences of 20, 30 and 50 tokens to 64 tokens means that 92 tokens are padding.", True),
        ("Padding sentences of 20, 30 and 50 tokens to 64 tokens means that 100 tokens are padding.", False),
        ("If sentences of 10, 20 and 30 tokens are padded to the longest, 33% of the positions are padding.", True),
        ("If sentences of 10, 20 and 30 tokens are padded to the longest, 50% of the positions are padding.", False),
    ],
)
def test_judged(sentence: str, right: bool) -> None:
    assert [found.right for found in check_sentence(sentence)] == [right]


@pytest.mark.parametrize(
    "sentence",
    [
        "Padding tokens are masked out.",
        "With 8 heads, 12 tokens are padding.",
        "Sentences of 5, 9 and 7 tokens are put in two batches padded to the longest, so 3 tokens are padding.",
    ],
)
def test_no_claim_of_this_kind(sentence: str) -> None:
    assert padding_claims(sentence) == []
