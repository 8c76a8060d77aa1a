"""A bound is right where the truth lies on its side."""

import pytest

from glassformer.answers.judging import check_sentence


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("BERT-base has more than 100 million parameters.", True),
        ("BERT-base has over 110 million parameters.", True),  # loosely: 109,482,240
        ("BERT-base has under 110 million parameters.", True),
        ("BERT-large has fewer than 250M parameters.", False),
        ("BERT-base has at least 12 layers.", True),
        ("BERT-base has at most 12 layers.", True),
        ("BERT-base has more than 12 layers.", False),
        ("RoBERTa-large has over 500 million parameters.", False),
    ],
)
def test_a_bound_is_judged_by_its_side(sentence, right):
    (found,) = check_sentence(sentence)
    assert found.right == right
    assert not found.findings
    assert str(found)
