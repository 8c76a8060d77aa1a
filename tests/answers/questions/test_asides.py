"""What is said beside a question is left out where nothing can hang on it, and nowhere else."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.answers.questions.asides import FIRST_OF_SEVERAL, changes_nothing, readings
from glassformer.spec import GlassformerError

UNDERSTOOD = {
    "A café's chatbot runs an encoder of width d_model = 320 with 5 heads. How wide is each head, and why so narrow?": 64,
    "With $h = 6$ heads and $d_{\\text{model}} = 384$, what's the per-head key dimension? Explain.": 64,
    "If a sequence has length $T = 9$, then for one attention head, how many attention scores are in the full score matrix?": 81,
    "For a 20K token context (say, a thesis), how many attention scores must be computed per head?": 400_000_000,
    "For `dModel=256`, `dFf=1000`: how many parameters does the FFN have? (Count W1, b1, W2, b2.)": 513_256,
    "Exercise 7. If d_model=144 and n_heads=12, what is d_k (the dimension per head)?": 12,
    "Suppose that the projection matrices have no bias. d_model = 96. How many parameters does self-attention have?": 36_864,
    "A ViT uses 8×8 patches on a 64×64 image. How many patches is that in total?": 64,
    "How many parameters are in the multi-head attention block, including Q, K, V projections, the output projection and all "
    "bias terms, for number of heads h = 4 and model dimension d = 64?": 16_640,
    "How many parameters does ALBERT-base have without parameter sharing?": 89_650_176,
}


@pytest.mark.parametrize("question", UNDERSTOOD)
def test_a_question_is_understood_among_words_that_change_nothing(question):
    assert ask(question).value == UNDERSTOOD[question]


# Each says something before the question, or in a bracket, that would change the answer.
CHANGED = """
A model with d_model=512 uses grouped-query attention with 2 KV heads. How many parameters does the attention have?
A layer has a hidden size of 512 and uses multi-query attention. How many parameters does the attention have?
A model uses linear attention with d_model=512. What is the complexity of its attention?
The attention uses biases, the FFN does not. d_model=512, d_ff=2048. How many parameters does one layer have?
A decoder block has masked self-attention and cross-attention with d_model=512. How many parameters does it have?
Our variant removes the pooler. How many parameters does BERT-base have?
The first two layers are frozen, d_model=512, 6 layers. How many parameters does the encoder train?
A 224x224 image is cut with 16x16 patches and a stride of 8. How many patches are there?
The sequence has 100 tokens and attention is restricted to a window of 10. How many attention scores per head?
A Transformer has d_model=512, h=8, 6 encoder and 6 decoder layers and a vocabulary of 37000. How many parameters does it have?
We fine-tune BERT-base with LoRA of rank 8 on W_Q and W_V. How many parameters are trained?
How many more parameters does the FFN (with SwiGLU) have than a standard one for d_model=512 and d_ff=2048?
How many layers does the Transformer decoder have?
""".strip().splitlines()


@pytest.mark.parametrize("question", CHANGED)
def test_what_would_change_the_answer_is_never_left_out(question):
    with pytest.raises(GlassformerError) as refused:
        ask(question)
    assert "\n" not in str(refused.value)


def test_of_several_questions_the_first_is_answered_and_that_is_said():
    found = ask("A model has d_model = 320 and h = 5 heads. What is d_k per head, and what is √d_k?")
    assert (found.value, found.reading) == (64, "partial")
    assert found.convention.startswith(FIRST_OF_SEVERAL)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many layers (transformer blocks) are in BERT-base and BERT-large?", 12),
        (
            "If d_model = 96, num_heads = 4 and sequence length = 9, what is the head dimension and per-head score matrix shape?",
            24,
        ),
        ("What fraction of the transformer's parameters are in the FFN?", 2 / 3),
    ],
)
def test_a_part_of_what_is_asked_confirms_and_never_accuses(question, value):
    found = ask(question)
    assert (found.value, found.reading) == (pytest.approx(value), "partial")
    assert check(question, None, str(found.value)).right
    with pytest.raises(GlassformerError, match="several things at once"):
        check(question, None, "77")


@pytest.mark.parametrize(
    "question",
    [
        "How many layers do BERT-base and BERT-large have in total?",
        "How many layers do BERT-base and BERT-large have together?",
        "How many parameters do BERT-base and RoBERTa-base share?",
        "What fraction of the transformer's parameters are in the embeddings?",
    ],
)
def test_several_encoders_at_once_are_not_one(question):
    with pytest.raises(GlassformerError):
        ask(question)


def test_an_answer_to_the_second_question_is_not_called_wrong():
    question = "A model has d_model = 320 and h = 5 heads. What is d_k per head, and what is √d_k?"
    assert check(question, None, "64").right
    with pytest.raises(GlassformerError, match="several things at once"):
        check(question, None, "8")


@pytest.mark.parametrize("words", ["like most models", "W_1, b_1 and W_2", "two sub-layers", "one per query-key pair"])
def test_such_words_change_nothing(words):
    assert changes_nothing(words)


@pytest.mark.parametrize(
    "words", ["no bias", "3 of them", "per layer", "without W_O", "seven heads", "tied", "in fp16", "decoder"]
)
def test_such_words_may_change_an_answer(words):
    assert not changes_nothing(words)


def test_the_question_as_it_stands_is_read_first():
    question = "What is d_k (the head size) for d_model=64 and 4 heads, and why?"
    assert next(readings(question)) == (question, "")
