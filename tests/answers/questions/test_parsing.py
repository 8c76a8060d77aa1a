"""One way to ask, in the words people use."""

import pytest

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
