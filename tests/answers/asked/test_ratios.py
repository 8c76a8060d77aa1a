"""Answers that compare: shares, ratios, differences, and the length at which two costs are equal."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request_from_words

D, F = 768, 3072
ATTENTION, FFN, LAYER, BERT = 4 * (D * D + D), 2 * D * F + F + D, 7_087_872, 109_482_240


def value(question, spec="bert-base"):
    return ask(question, request_from_words(spec.split())).value


def judged(question, claim, spec="bert-base"):
    return check(question, request_from_words(spec.split()), claim)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What fraction of BERT's parameters are in the embeddings?", 23_837_184 / BERT),
        ("What fraction of the parameters of an encoder layer belongs to the FFN?", FFN / LAYER),
        ("What proportion of a layer's parameters is in the self-attention?", ATTENTION / LAYER),
        ("How many times more parameters does the FFN have than the attention in one layer?", FFN / ATTENTION),
        ("Ratio of FFN parameters to attention parameters in one layer without biases", 2),
        ("What is the ratio of d_ff to d_model?", 4),
        ("How many more parameters does the FFN have than the attention in one layer?", FFN - ATTENTION),
    ],
)
def test_parameters_compared(question, expected):
    assert value(question) == pytest.approx(expected, rel=1e-12)


def test_costs_compared():
    n = 128
    attention, ffn = 8 * n * D * D + 4 * n * n * D, 4 * n * D * F
    assert value("What percentage of the FLOPs of one layer are spent in the FFN?", "bert-base t=128") == ffn / (attention + ffn)
    assert value("ratio of FFN FLOPs to attention FLOPs in one layer", "bert-base t=128") == ffn / attention


@pytest.mark.parametrize("claim", ["21.8", "0.218", "22%", "about 22 percent"])
def test_a_percentage_may_be_claimed_as_a_fraction(claim):
    assert judged("What percentage of the parameters are in the embeddings?", claim).verdict == "right"


def test_a_share_is_also_judged_without_biases_and_norms():
    found = judged("What fraction of the parameters of one layer are in the attention?", "1/3")
    assert (found.verdict, found.convention) == ("convention", "without biases, norms")
    assert judged("What fraction of the parameters of one layer are in the attention?", "one third").right
    assert not judged("What fraction of the parameters of one layer are in the attention?", "2/3").right


def test_a_ratio_upside_down_is_named():
    found = judged("Ratio of FFN to attention parameters in one layer", "1/2")
    assert (found.verdict, [finding.codes for finding in found.findings]) == ("wrong", [("ratio_reversed",)])


def test_the_length_at_which_attention_costs_as_much_as_the_feed_forward_block():
    assert value("At what sequence length does the attention cost as much as the FFN?") == F - 2 * D
    assert value("At what context length do the quadratic attention FLOPs exceed the FFN FLOPs?") == F
    assert value("At which n do the attention scores cost the same as the feed-forward network?") == 2 * F
    with pytest.raises(GlassformerError, match="never cost the same"):
        value("At what sequence length does the FFN cost as much as the qkv projections?")
    with pytest.raises(GlassformerError, match="length is free"):
        value("At what sequence length does the attention cost as much as the FFN?", "vit-b16")


@pytest.mark.parametrize(
    "question",
    [
        "ratio of FFN parameters",
        "How many times larger is BERT-large than BERT-base in parameters?",
        "difference between BERT and RoBERTa parameters",
        "What fraction of tokens are masked?",
        "share of flops in the softmax",
        "how many more heads than layers",
    ],
)
def test_what_cannot_be_compared_is_refused(question):
    with pytest.raises(GlassformerError):
        value(question)


def test_tying_saves_the_output_matrix():
    for tie in ("tie=true", "tie=false"):
        asked = request_from_words(("bert-base", "head=mlm", tie))
        assert ask("difference between tied and untied", asked).value == 30_522 * 768
    with pytest.raises(GlassformerError, match="head=none has no output matrix over the vocabulary"):
        ask("How many parameters are saved by tying?", request_from_words(("bert-base",)))
