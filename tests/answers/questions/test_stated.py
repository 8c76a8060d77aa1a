"""What a question states itself is held against the spec, or fills in the length and the batch that the spec leaves open."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.answers.questions.stated import take_stated
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request_from_words


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("with d_model = 512, h = 8 and d_ff = 2048", {"d_model": "512", "heads": "8", "d_ff": "2048"}),
        ("with h=8 heads", {"heads": "8"}),
        ("for a batch of 4 sequences of 64 tokens", {"batch": "4", "t": "64"}),
        ("if the input has 256 tokens and the batch size is 8", {"batch": "8", "t": "256"}),
        ("a 224×224 image with 14×14 patches", {"image": "224", "patch": "14"}),
        ("with 9 labels", {"classes": "9"}),
        ("at length 256", {"t": "256"}),
        ("the vocabulary size is 30,522", {"vocab": "30522"}),
        ("sinusoidal position encodings", {"position": "sinusoidal"}),
        ("head dimension", {}),
        ("shape of q", {}),
    ],
)
def test_sizes_are_found(text, stated):
    assert dict(take_stated(text)[0]) == stated


def test_the_length_and_the_batch_of_a_question_are_used_where_the_spec_leaves_them_open():
    question = "If the input has 256 tokens and the batch size is 8, how many attention scores does one layer compute?"
    assert ask(question, request_from_words(("bert-base",))).value == 8 * 12 * 256 * 256


def test_the_letters_of_a_claim_mean_what_the_question_states():
    found = check(
        "How many attention scores does one head compute for 256 tokens?", request_from_words(("bert-base",)), "n² = 65,536"
    )
    assert found.verdict == "right"


@pytest.mark.parametrize(
    ("question", "spec", "message"),
    [
        ("How many parameters would it have with 16 heads?", "bert-base", "states heads=16, and this encoder has heads=12"),
        ("FLOPs of the ffn for 64 tokens", "bert-base t=128", "states t=64, and this encoder has t=128. Write t=64."),
        ("params of the head for 3 classes", "bert-base", "states classes=3, and this encoder has no classes"),
        ("How many parameters do sinusoidal positional encodings add?", "bert-base", "has position=learned"),
        ("How many parameters does the tied MLM head add?", "bert-base head=mlm tie=false", "states tie=True"),
        ("How many patches does a 384x384 image give?", "vit-b16", "states image=384"),
    ],
)
def test_another_size_than_the_spec_has_is_refused(question, spec, message):
    with pytest.raises(GlassformerError, match=message):
        ask(question, request_from_words(spec.split()))
