"""Sentences around a question say sizes; where they say something else, they are not dropped."""

import pytest

from glassformer.answers.questions.premises import without_premises


@pytest.mark.parametrize(
    ("text", "stated", "question"),
    [
        ("a model has hidden size 768 and 12 heads. what is d_k", {"d_model": "768", "heads": "12"}, "what is d_k"),
        ("consider an encoder with 6 layers and 8 heads. what is d_k", {"layers": "6", "heads": "8"}, "what is d_k"),
        ("what is d_k. the model has 8 heads", {"heads": "8"}, "what is d_k"),
        ("bert-base has 128 input tokens. what is the shape of q", {"t": "128"}, "what is the shape of q of bert-base"),
        ("what is d_k", {}, "what is d_k"),
        ("attention with d_model=512: how many parameters", {"d_model": "512"}, "how many parameters of attention"),
    ],
)
def test_a_scene_is_set(text, stated, question):
    found, rest = without_premises(text)
    assert dict(found) == stated
    assert rest == question


@pytest.mark.parametrize("text", ["a decoder has 12 heads. what is d_k", "my cat has 9 lives. what is d_k"])
def test_what_is_more_than_a_scene_stays(text):
    stated, rest = without_premises(text)
    assert stated == ()
    assert ("decoder" in rest) or ("cat" in rest)
