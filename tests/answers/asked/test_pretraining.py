"""BERT's masked tokens and the special tokens around a text."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check

ASKED = {
    "What percentage of tokens is masked in BERT's masked language modeling?": 0.15,
    "In BERT MLM, what percentage of the selected tokens are replaced with [MASK]?": 0.8,
    "In BERT's MLM, what fraction of the chosen tokens is replaced by a random token?": 0.1,
    "Of all tokens, what percentage is replaced by [MASK] in BERT pre-training?": 0.12,
    "In BERT's MLM, if 100 tokens are in the sequence, how many are selected for prediction?": 15,
    "Of 1000 tokens, how many are replaced by [MASK] in BERT pretraining?": 120,
    "How many special tokens does BERT add to a single sentence?": 2,
    "How many special tokens are added for a sentence pair in BERT?": 3,
    "How many tokens does BERT see for a sentence pair of 11 and 7 word pieces?": 21,
    "How many input tokens does BERT get for one sentence of 11 tokens with [CLS] and [SEP]?": 13,
}


@pytest.mark.parametrize(("question", "value"), list(ASKED.items())[:6])
def test_what_becomes_of_tokens(question, value):
    assert ask(question).value == pytest.approx(value)


@pytest.mark.parametrize(("question", "value"), list(ASKED.items())[6:])
def test_special_tokens(question, value):
    assert ask(question).value == value


@pytest.mark.parametrize(("claim", "right"), [("77", True), ("76", True), ("76.8", True), ("61", False), ("512", False)])
def test_a_share_of_a_length_is_rounded_as_people_do(claim, right):
    question = "How many tokens are masked in a sequence of 512 tokens in BERT pretraining (15%)?"
    assert check(question, None, claim).right is right
