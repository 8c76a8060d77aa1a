"""One way to ask, in the words people use."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.questions import parse_question
from glassformer.spec import GlassformerError

ASKED = [
    ("params", ("params", None, False, False)),
    ("number of parameters?", ("params", None, False, False)),
    ("params of W_O in one layer", ("params", "W_O", True, False)),
    ("params of Wq per head", ("params", "W_Q", False, True)),
    ("parameters of the embeddings", ("params", "embeddings", False, False)),
    ("shape of weights", ("shape", "attention.weights", False, False)),
    ("shape of the attention matrix", ("shape", "attention.weights", False, False)),
    ("elements of head output", ("elements", "attention.mix", False, True)),
    ("dimensions of queries in one head", ("shape", "attention.q", False, True)),
    ("flops", ("flops", None, False, False)),
    ("multiply-adds", ("macs", None, False, False)),
    ("patches", ("patches", None, False, False)),
    ("d_k", ("width", "d_k", False, False)),
]


@pytest.mark.parametrize(("text", "wanted"), ASKED)
def test_questions(text, wanted):
    found = parse_question(text)
    assert (found.kind, found.target, found.one_layer, found.one_head) == wanted


@pytest.mark.parametrize(
    ("text", "message"), [("", "what is asked?"), ("parms", "Did you mean 'params'"), ("x" * 700, "what is asked?")]
)
def test_what_is_no_question_is_refused(text, message):
    with pytest.raises(GlassformerError) as refusal:
        parse_question(text)
    assert message in str(refusal.value)


# What stands beside the thing that is asked for must not be taken for it.
BESIDE = """
How many parameters does BERT-base have with a pooler?
How many parameters does BERT-base have with an MLM head?
How many parameters does BERT-base have with RMSNorm?
With a KV cache, how many parameters does BERT-base have?
How many layers does BERT-base have in fp16?
How many parameters does BERT-base have if Q and K share a projection?
How many FLOPs does BERT-base need for 128 tokens if keys and queries share weights?
How many parameters does the FFN have for d_model=512 and d_ff=2048 without the class token?
How many parameters does one layer of BERT-base have without the biases of the attention?
How many parameters do two BERT-base encoder layers have?
How many parameters does multi-head attention with d_model=512 and 8 heads have in 2 heads?
How many layers does the original Transformer have in the encoder and decoder combined?
By how many parameters does BERT-base grow if the number of layers is increased by 2?
How much memory does BERT-base need in fp16 if d_model is halved?
How many patches does a 224x112 image give with 16x16 patches?
How many layers does BERT-base have per head?
""".strip().splitlines()


@pytest.mark.parametrize("question", BESIDE)
def test_what_is_said_besides_is_carried_or_refused(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many bytes does the W_Q matrix of BERT-base take in float16?", 2 * 768 * 768),
        ("How many parameters does W_Q have in all layers of BERT-base?", 12 * 768 * 768),
        ("What is the hidden size of BERT-large per layer?", 1024),
        ("What is the input dimension of W_2 in BERT-base?", 3072),
        ("What is the output dimension of W_2 in BERT-base?", 768),
        ("If the sequence length is reduced by a factor of 4, by what factor does the attention matrix shrink?", 0.0625),
    ],
)
def test_a_near_miss_is_not_taken_for_the_quantity(question, value):
    assert ask(question).value == value


def test_that_all_layers_are_counted_is_said():
    assert "all 12 layers together" in ask("How many parameters do the query projections of BERT-base have?").convention
