"""Sentences around a question say sizes; where they say something else, they are not dropped."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.questions.premises import without_premises
from glassformer.spec import GlassformerError


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


# A clause before the question that narrows it: nothing of it is passed over, whatever its words are.
NARROWED = """
With a causal mask, how many attention scores are computed in one head of BERT-base for 128 tokens?
During generation, how many FLOPs does BERT-base need for 128 tokens?
With SGD, how much memory does training BERT-base need?
Besides the embeddings, how many parameters does BERT-base have?
Outside the encoder, how many parameters does BERT-base have?
Other than W_O, how many parameters does BERT-base have?
If W_O is dropped, how many parameters does BERT-base have?
Per epoch, how many FLOPs does BERT-base need for 128 tokens?
Per example in a batch of 32, how many FLOPs does BERT-base need for 128 tokens?
On average, how many parameters does BERT-base have?
In the multilingual version, how many parameters does BERT-base have?
In ALBERT, how many parameters does BERT-base have?
If BERT-base had as many layers as BERT-large, how many parameters would it have?
In 2 heads, how many parameters does multi-head attention with d_model=512 and 8 heads have?
""".strip().splitlines()


@pytest.mark.parametrize("question", NARROWED)
def test_a_clause_that_narrows_a_question_is_never_passed_over(question):
    with pytest.raises(GlassformerError):
        ask(question)
