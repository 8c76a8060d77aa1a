"""Turns of phrase of course sheets and model cards mean what the plain words do."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check_sentence
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the size of last_hidden_state when 16 sentences padded to 40 tokens are fed into"
            " bert-base-uncased?", (16, 40, 768)),
        ("We feed a batch of 64 sentences, each padded to 50 tokens, into a Transformer encoder with d_model ="
            " 256. What is the output shape?",
            (64, 50, 256)),
        ("If the input to a self-attention layer has shape (32, 128, 512) and we use 8 heads, what is the shape"
            " of the attention weights?",
            (32, 8, 128, 128)),
        ("What is the shape of the logits returned by BertForMaskedLM for an input of shape (8, 128)?", (8, 128, 30522)),
        ("What is the shape of the logits of a BertForSequenceClassification model with num_labels=3 and a"
            " batch size of 16?", (16, 3)),
        ("What shape does nn.Linear(512, 2048) produce for an input of shape (8, 100, 512)?", (8, 100, 2048)),
        ("What is the shape of the weight matrix of nn.Linear(512, 2048)?", (512, 2048)),
        ("For a sentence with 12 tokens, how many rows and columns does the self-attention matrix have?", (12, 12)),
        ("After concatenating the outputs of 12 heads of dimension 64, what is the size of the resulting vector"
            " for each token?", 768),
        ("What is the memory footprint, in GB, of BERT-large when loaded in float32?", 335_141_888 * 4),
        ("How much GPU memory do the weights, gradients and Adam states of a 110M parameter model require in"
            " fp32?", 110_000_000 * 16),
        ("What is the size in MB of a float32 embedding matrix with 30,522 rows and 768 columns?", 30522 * 768 * 4),
        ("How many parameters does a vocabulary of 50,000 tokens with 300-dimensional embeddings need?", 15_000_000),
        ("How many parameters would be added if we fine-tune BERT-large on a 5-class classification task with a"
            " single linear layer?", 5125),
        ("How large is the NSP head of BERT-base in terms of parameters?", 2 * 768 + 2),
        ("How many parameters does the MLM head of BERT-base have if the decoder weights are tied to the word"
            " embeddings?", 622_650),
        ("How many parameters are in the embedding layer of BERT-base, i.e. token, segment and position embeddings?", 23_835_648),
        ("By how many parameters does BERT-large exceed BERT-base?", 335_141_888 - 109_482_240),
        ("If you double the number of heads while keeping d_model fixed at 512, how does the number of"
            " parameters in the attention change?", 1),
        ("In grouped-query attention with 32 query heads and 8 key-value heads, how many query heads share one"
            " key-value head?", 4),
        ("A ViT processes 32x32 CIFAR images with 4x4 patches. How long is the token sequence with the CLS token?", 65),
        ("What is the scaling factor 1/sqrt(d_k) when d_k = 64?", 0.125),
        ("What is the scaling factor when d_k = 64?", 8),
        ("When Q has shape (batch, heads, seq, d_k) = (2, 8, 10, 64), what is the shape of the attention"
            " scores?", (2, 8, 10, 10)),
        ("How many attention scores in total does BERT-base compute for 128 tokens?", 12 * 12 * 128 * 128),
        ("How many attention scores does one layer of BERT-base compute for 128 tokens in total?", 12 * 128 * 128),
        ("The [CLS] vector of BERT-large has how many dimensions?", 1024),
    ],
)  # fmt: skip
def test_the_question_is_understood(question, value):
    assert ask(question).value == value


@pytest.mark.parametrize(
    "question",
    [
        "How many parameters are added if BERT-base is fine-tuned for 3-class classification with a linear"
        " layer and a hidden layer?",
        "How much memory do the activations of a 110M parameter model require?",
        "How many parameters does BertForMaskedLM have?",
        "How many additional parameters are needed to fine-tune BERT-base with an output layer for each of 3"
        " tasks with 2 classes?",
        "How much memory does BERT-base need with a batch of 32?",
        "Given x of shape (seq, batch, d_model) = (10, 4, 64), what is the shape of the attention weights with 8 heads?",
        "When Q has shape (batch, seq, heads, d_k) = (2, 10, 8, 64), what is the shape of the attention scores?",
    ],
)
def test_what_would_change_the_answer_is_not_passed_over(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("The vocabulary of bert-base-cased contains 28,996 WordPiece tokens.", True),
        ("The vocabulary of bert-base-cased contains 30,522 WordPiece tokens.", False),
        ("For an input sequence of 512 tokens, each attention head of BERT-base computes a 512 x 512 attention matrix.", True),
        ("For an input sequence of 512 tokens, each attention head of BERT-base computes a 768 x 768 attention matrix.", False),
    ],
)
def test_the_claim_is_understood(sentence, right):
    assert all(one.right for one in check_sentence(sentence)) == right
