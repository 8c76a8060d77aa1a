"""Encoders compared: one with another, or with itself after a size was changed."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request

BASE, LARGE, DISTILLED, ROBERTA, ALBERT = 109_482_240, 335_141_888, 66_362_880, 124_645_632, 11_683_584

VERSUS = {
    "How many more parameters does BERT-large have than BERT-base?": LARGE - BASE,
    "How many times larger is BERT-large than BERT-base?": LARGE / BASE,
    "What is the ratio of parameters between BERT-large and BERT-base?": LARGE / BASE,
    "How many fewer parameters does DistilBERT have compared to BERT-base?": BASE - DISTILLED,
    "By what percentage is DistilBERT smaller than BERT-base?": 1 - DISTILLED / BASE,
    "By what percentage does DistilBERT reduce the number of parameters of BERT-base?": 1 - DISTILLED / BASE,
    "How many times fewer parameters does ALBERT-base have than BERT-base?": BASE / ALBERT,
    "How much larger is RoBERTa-base than BERT-base in terms of parameters?": ROBERTA - BASE,
    "How many more layers does BERT-large have than BERT-base?": 12,
    "What's the difference in hidden size between BERT-large and BERT-base?": 256,
}
CHANGED = {
    "If the sequence length doubles, by what factor does the attention cost grow?": 4,
    "If you double the sequence length, how much more memory does the attention matrix need?": 4,
    "If we triple the input length, how many times larger does the attention matrix get?": 9,
    "How much does the attention matrix grow if the sequence length is halved?": 1 / 4,
    "What happens to the memory of the attention scores when sequence length increases from 512 to 4096?": 64,
    "What happens to the number of parameters in multi-head attention when you double the number of heads (d_model fixed)?": 1,
    "Does the number of parameters depend on the sequence length?": 1,
    "When doubling d_model (and d_ff), by what factor do the FFN weights grow, ignoring biases?": 4,
    "If the number of layers is doubled, how does the number of encoder parameters change?": 2,
}


@pytest.mark.parametrize(("question", "value"), [*VERSUS.items(), *CHANGED.items()])
def test_comparisons_need_no_spec(question, value):
    assert ask(question).value == pytest.approx(value, rel=1e-12)
    assert str(ask(question))


def test_a_change_of_a_given_encoder_is_exact():
    asked = request("layer", d_model=512, heads=8, t=512)
    n, d = 512, 512
    before, after = (8 * m * d * d + 4 * m * m * d for m in (n, 2 * n))
    found = ask("How do the FLOPs of attention scale if we double the sequence length?", asked)
    assert found.value == pytest.approx(after / before)
    assert [other.value for other in found.others] == [4]


def test_the_length_of_a_comparison_is_that_of_both():
    long, short = (ask(f"How many times more FLOPs does BERT-large need than BERT-base for {t} tokens?").value for t in (512, 16))
    assert long != short
    each = [ask("flops", request(name, t=512)).value for name in ("bert-large", "bert-base")]
    assert long == pytest.approx(each[0] / each[1])


def test_a_family_does_not_say_which():
    with pytest.raises(GlassformerError, match="leaves open which encoder"):
        ask("How many more parameters does BERT have than DistilBERT?")


def test_how_a_family_compares_is_told_of_its_base_model_and_accuses_nobody():
    question = "By what percentage is DistilBERT smaller than BERT?"
    assert ask(question).value == pytest.approx(1 - DISTILLED / BASE)
    assert check(question, None, "40%").right
    with pytest.raises(GlassformerError, match="leaves open which encoder"):
        check(question, None, "80%")


@pytest.mark.parametrize(
    ("question", "factor"),
    [
        ("If the number of layers is doubled, by how much does the parameter count of BERT-base increase?", 1.7768790993),
        ("By what factor do the parameters of BERT-base grow if the vocabulary doubles?", 1.2141068360),
        ("If the hidden size of BERT-base is doubled, by what factor do the weights of the FFN grow without biases?", 4),
        ("By what factor does the attention matrix of BERT-base grow if the sequence length goes from 64 to 256?", 16),
        ("If you increase the sequence length from 100 tokens to 500 tokens (a 5x increase), how "
            "much more memory is required for "
            "the attention matrix?", 25),
        ("What happens to the number of parameters in multi-head attention if we double the number of heads but keep d_model "
            "constant?", 1),
    ],
)  # fmt: skip
def test_a_change_is_that_of_the_encoder_which_is_named(question, factor):
    assert ask(question).value == pytest.approx(factor)


@pytest.mark.parametrize(
    "question",
    [
        "If the number of heads doubles with d_k fixed, by what factor do the attention parameters grow?",
        "If d_model doubles while d_ff stays fixed, by what factor do the parameters of the layer grow?",
        "By what factor does the attention matrix grow if the sequence length doubles with twice the heads?",
        "If you increase the sequence length from 100 tokens to 500 tokens (a 10x increase), how "
        "much does the attention matrix grow?",
        "If the batch size doubles, by what factor does the memory grow?",
    ],
)
def test_a_change_of_something_else_besides_is_refused(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(
    ("question", "claim", "verdict"),
    [
        ("How many times larger is BERT-large than BERT-base?", "3", "convention"),
        ("How many times larger is BERT-large than BERT-base?", "3.06", "right"),
        ("How many times larger is BERT-large than BERT-base?", "2", "wrong"),
        ("By what percentage is DistilBERT smaller than BERT-base?", "40%", "right"),
        ("By what percentage is DistilBERT smaller than BERT-base?", "39%", "right"),
        ("By what percentage is DistilBERT smaller than BERT-base?", "60%", "wrong"),
        ("If the sequence length doubles, by what factor does the attention cost grow?", "2", "wrong"),
    ],
)
def test_claims_about_comparisons(question, claim, verdict):
    assert check(question, None, claim).verdict == verdict


def test_taking_attention_for_linear_is_named():
    found = check("If you double the sequence length, how much more memory does the attention matrix need?", None, "2")
    assert [finding.codes for finding in found.findings] == [("linear_instead_of_quadratic",)]


def test_a_factor_without_biases_is_a_convention():
    asked = request("layer", d_model=512, heads=8)
    found = check("By what factor do the parameters of the FFN grow if d_model doubles?", asked, "4")
    assert (found.verdict, found.convention) == ("convention", "without biases")
